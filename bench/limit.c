/* What the machine and blocking hiredis allow, with no lock library on top.
 *
 *   scripts=plain  SET NX PX, and a script that compares and deletes
 *   scripts=lockc  lockc's own scripts, named by acquire=SHA1 and release=SHA1
 *   io=blocking    every worker is a thread with a connection of its own
 *   io=pipe        one thread plays all workers over one connection, in pipelines
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"
#include "redis.h"

static const char COMPARE_AND_DELETE[] =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

enum { TOKENS_PER_GRANT = 8 }; /* lockc's default handover_max */

struct holder {
  redisContext *connection;
  unsigned long acquires;
  bool holds;
  char owner[64];
  char fence[96], queue[96], seen[96];
};

static struct {
  bool own_scripts;
  char ttl[24];
  char acquire[41], release[41];
} setup;

static struct request acquire_request(struct worker *worker) {
  struct holder *holder = worker->state;
  snprintf(holder->owner, sizeof holder->owner, "lc1:%06d0123456789abcdef:%lu:x:%s:%d",
           worker->index, ++holder->acquires, setup.ttl, TOKENS_PER_GRANT);
  if (!setup.own_scripts) return REQUEST("SET", worker->key, holder->owner, "NX", "PX", setup.ttl);
  return REQUEST("EVALSHA", setup.acquire, "4", worker->key, holder->fence, holder->queue,
                 holder->seen, holder->owner, "0", "0", "60000");
}

static struct request release_request(struct worker *worker) {
  struct holder *holder = worker->state;
  if (!setup.own_scripts) return REQUEST("EVALSHA", setup.release, "1", worker->key, holder->owner);
  return REQUEST("EVALSHA", setup.release, "4", worker->key, holder->fence, holder->queue,
                 holder->seen, holder->owner, "60000");
}

static bool acquire(struct worker *worker) {
  struct holder *holder = worker->state;
  if (redis_ask(holder->connection, acquire_request(worker)) < 1) fail("%s: not free", worker->key);
  return true;
}

static void release(struct worker *worker) {
  struct holder *holder = worker->state;
  if (redis_ask(holder->connection, release_request(worker)) != 1) fail("%s: lost", worker->key);
}

/* Takes one answer to a worker of the pipeline and says whether it has another request to send. */
static bool advance(struct worker *worker, redisReply *reply) {
  struct holder *holder = worker->state;
  struct record *record = &worker->records[worker->count];
  if (redis_number(reply) < 1) fail("%s: refused", worker->key);
  holder->holds = !holder->holds;
  if (holder->holds) {
    record->worker = worker_id(worker);
    record->granted = now_ns();
    return true;
  }
  record->released = now_ns();
  worker->count++;
  return worker->count < worker->load->pairs && record->released < worker->load->deadline;
}

static void append_next(redisContext *connection, struct worker *worker) {
  struct holder *holder = worker->state;
  struct record *record = &worker->records[worker->count];
  *(holder->holds ? &record->releasing : &record->asked) = now_ns();
  redis_append(connection, holder->holds ? release_request(worker) : acquire_request(worker));
}

static void run_pipeline(struct load *load, redisContext *connection) {
  /* Answers come in the order of the requests: a ring of the workers that wait for one. */
  struct worker **ring = calloc((size_t)load->threads, sizeof *ring);
  int first = 0, waiting = 0;
  if (!ring) fail("out of memory");
  for (int i = 0; i < load->threads; i++) {
    append_next(connection, &load->workers[i]);
    ring[waiting++] = &load->workers[i];
  }
  while (waiting) {
    int written = 0;
    while (!written)
      if (redisBufferWrite(connection, &written) != REDIS_OK) fail("redis: %s", connection->errstr);
    redisReply *reply = redis_next(connection, 1000);
    if (!reply) fail("redis: no answer");
    for (; reply; reply = waiting ? redis_next(connection, 0) : NULL) {
      struct worker *worker = ring[first];
      first = (first + 1) % load->threads;
      waiting--;
      if (!advance(worker, reply)) continue;
      append_next(connection, worker);
      ring[(first + waiting++) % load->threads] = worker;
    }
  }
  free(ring);
}

int main(int argc, char **argv) {
  struct load load;
  load_open(&load, argc, argv);
  bool pipe = strcmp(load_text(&load, "io", "blocking"), "pipe") == 0;
  setup.own_scripts = strcmp(load_text(&load, "scripts", "plain"), "lockc") == 0;
  snprintf(setup.ttl, sizeof setup.ttl, "%lld", (long long)load.ttl_ms);

  redisContext *connection = redis_dial(load.address);
  redis_load_script(connection, COMPARE_AND_DELETE, setup.release);
  if (setup.own_scripts) {
    snprintf(setup.acquire, sizeof setup.acquire, "%s", load_text(&load, "acquire", ""));
    snprintf(setup.release, sizeof setup.release, "%s", load_text(&load, "release", ""));
  }
  struct holder *holders = calloc((size_t)load.threads, sizeof *holders);
  if (!holders) fail("out of memory");
  for (int i = 0; i < load.threads; i++) {
    struct worker *worker = &load.workers[i];
    worker->state = &holders[i];
    holders[i].connection = pipe ? connection : redis_dial(load.address);
    snprintf(holders[i].fence, sizeof holders[i].fence, "lockc:{%s}:fence:%s", worker->key,
             worker->key);
    snprintf(holders[i].queue, sizeof holders[i].queue, "lockc:{%s}:queue:%s", worker->key,
             worker->key);
    snprintf(holders[i].seen, sizeof holders[i].seen, "lockc:{%s}:seen:%s", worker->key,
             worker->key);
  }
  load_begin(&load);
  if (pipe)
    run_pipeline(&load, connection);
  else
    load_threads(&load, &(struct target){acquire, release});
  load_end(&load);
  return 0;
}
