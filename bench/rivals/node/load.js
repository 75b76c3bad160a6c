// The shape of a load program in JavaScript: arguments, workers (promises), records, and the talk
// with the driver. The same as bench/load.h, whose records it writes.
'use strict';
const fs = require('fs');
const readline = require('readline');

const PROCESS_STRIDE = 100000;

const now = () => process.hrtime.bigint(); // CLOCK_MONOTONIC
const sleep = (us) => new Promise((done) => setTimeout(done, us / 1000));

function parse() {
  const given = Object.fromEntries(process.argv.slice(2).map((word) => word.split(/=(.*)/s)));
  const number = (name, otherwise) => Number(given[name] ?? otherwise);
  const [host, port] = given.address.split(':');
  return {
    host,
    port: Number(port),
    lib: given.lib,
    oneKey: given.keys === 'one',
    log: given.log ?? '/dev/null',
    process: number('process', 0),
    threads: number('threads', 1),
    pairs: number('pairs', 1000),
    seconds: number('seconds', 10),
    ttlMs: number('ttl_ms', 30000),
    holdUs: number('hold_us', 0),
    thinkUs: number('think_us', 0),
  };
}

async function work(load, acquire, index, deadline) {
  const key = load.oneKey ? 'bench:one' : `bench:${load.process}:${index}`;
  const worker = BigInt(load.process * PROCESS_STRIDE + index);
  const records = [];
  for (let n = 0; n < load.pairs; n++) {
    const asked = now();
    if (asked >= deadline) break;
    const release = await acquire(key);
    const granted = now();
    if (load.holdUs) await sleep(load.holdUs);
    const releasing = now();
    await release();
    records.push(worker, asked, granted, releasing, now());
    if (load.thinkUs) await sleep(load.thinkUs);
  }
  return records;
}

// acquire(key) resolves, as soon as the key is held, to the function that releases it.
async function run(load, acquire) {
  await (await acquire(`bench:warm-up:${load.process}`))();
  const input = readline.createInterface({ input: process.stdin });
  const ended = new Promise((done) => input.once('close', done));
  console.log('ready');
  const begin = BigInt(await new Promise((done) => input.once('line', done)));
  await sleep(Math.max(0, Number(begin - now()) / 1000));
  const deadline = now() + BigInt(Math.round(load.seconds * 1e9));
  const workers = Array.from({ length: load.threads }, (_, index) => work(load, acquire, index, deadline));
  const records = (await Promise.all(workers)).flat();
  fs.writeFileSync(load.log, Buffer.from(BigInt64Array.from(records).buffer));
  console.log('done');
  await ended;
}

module.exports = { parse, run };
