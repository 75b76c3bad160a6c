// redlock for Node over ioredis, for bench/run.py: lib=redlock (4) or redlock5 (5, a beta).
// NODE_PATH leads to the packages.
'use strict';
const Redis = require('ioredis');
const { parse, run } = require('./load.js');

const load = parse();
const library = require(load.lib);
const Redlock = library.default ?? library;
const client = new Redis({ host: load.host, port: load.port });
const locks = new Redlock([client]);
locks.on('error', () => {}); // version 5 tells each try that finds the key taken

// Ten tries, and it gives up, which is no reason to.
async function acquire(key) {
  for (;;) {
    try {
      const lock = await (locks.lock ? locks.lock(key, load.ttlMs) : locks.acquire([key], load.ttlMs));
      return () => (lock.unlock ? lock.unlock() : lock.release());
    } catch (error) {
      if (!['LockError', 'ExecutionError'].includes(error.name)) throw error;
    }
  }
}

run(load, acquire).then(() => client.disconnect());
