/* What a hand-over between processes costs at best: prototypes without leases, queues of the dead,
 * or any of the care that a lock needs.
 *
 *   wait=grant  Redis keeps a queue of processes; the release script gives the lock to the next one
 * and publishes to that process alone. Inside a process, threads take turns. wait=wake   no lock:
 * two processes pass a baton by one script that publishes; whoever reads the message makes one
 * script round trip more. The raw price of a wake and an answer.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"
#include "redis.h"

static const char GRANT_ACQUIRE[] =
    "if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) "
    "return redis.call('INCR', KEYS[3]) end redis.call('RPUSH', KEYS[2], ARGV[1]) return 0";
static const char GRANT_RELEASE[] =
    "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end local next = redis.call('LPOP', "
    "KEYS[2]) "
    "if next then redis.call('SET', KEYS[1], next, 'PX', ARGV[2]) local token = redis.call('INCR', "
    "KEYS[3]) "
    "redis.call('PUBLISH', 'wake:' .. string.match(next, '^%d+'), token) "
    "else redis.call('DEL', KEYS[1]) end return 1";
static const char WAKE_CHECK[] = "return redis.call('EXISTS', KEYS[1]) + 1";
static const char WAKE_SEND[] = "return redis.call('PUBLISH', 'wake:' .. ARGV[1], '1')";

static struct {
  redisContext *subscription;
  char ttl[24];
  char acquire[41], release[41];
} setup;

struct holder {
  redisContext *connection;
  unsigned long acquires;
  char owner[64];
};

/* Threads of one process in the order they came: one of them at a time competes at the server. */
static struct {
  pthread_mutex_t mutex;
  pthread_cond_t *turn_came; /* one for each thread, so that exactly the next one wakes */
  unsigned long last, serving, threads;
} turns = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void take_turn(void) {
  pthread_mutex_lock(&turns.mutex);
  unsigned long mine = turns.last++;
  while (turns.serving != mine)
    pthread_cond_wait(&turns.turn_came[mine % turns.threads], &turns.mutex);
  pthread_mutex_unlock(&turns.mutex);
}

static void pass_turn(void) {
  pthread_mutex_lock(&turns.mutex);
  turns.serving++;
  pthread_cond_signal(&turns.turn_came[turns.serving % turns.threads]);
  pthread_mutex_unlock(&turns.mutex);
}

static bool message_came(struct worker *worker) {
  while (now_ns() < worker->load->deadline + 1000000000) {
    redisReply *message = redis_next(setup.subscription, 100);
    if (!message) continue;
    freeReplyObject(message);
    return true;
  }
  return false;
}

static bool grant_acquire(struct worker *worker) {
  struct holder *holder = worker->state;
  take_turn();
  snprintf(holder->owner, sizeof holder->owner, "%d:%d:%lu:0123456789abcdef", worker->load->process,
           worker->index, holder->acquires++);
  long long token = redis_ask(holder->connection,
                              REQUEST("EVALSHA", setup.acquire, "3", worker->key, "bench:queue",
                                      "bench:token", holder->owner, setup.ttl));
  if (token > 0 || message_came(worker)) return true;
  fail("no grant came");
}

static void grant_release(struct worker *worker) {
  struct holder *holder = worker->state;
  if (redis_ask(holder->connection,
                REQUEST("EVALSHA", setup.release, "3", worker->key, "bench:queue", "bench:token",
                        holder->owner, setup.ttl)) != 1)
    fail("%s: lost", worker->key);
  pass_turn();
}

static bool wake_acquire(struct worker *worker) {
  struct holder *holder = worker->state;
  bool first = worker->load->process == 0 && worker->count == 0;
  if (!first && !message_came(worker)) return false;
  redis_ask(holder->connection, REQUEST("EVALSHA", setup.acquire, "1", worker->key));
  return true;
}

static void wake_release(struct worker *worker) {
  struct holder *holder = worker->state;
  const char *other = worker->load->process == 0 ? "1" : "0";
  redis_ask(holder->connection, REQUEST("EVALSHA", setup.release, "1", worker->key, other));
}

int main(int argc, char **argv) {
  struct load load;
  load_open(&load, argc, argv);
  bool wake = strcmp(load_text(&load, "wait", "grant"), "wake") == 0;
  if (wake && load.threads != 1) fail("wait=wake: two processes of one thread");
  snprintf(setup.ttl, sizeof setup.ttl, "%lld", (long long)load.ttl_ms);

  struct holder *holders = calloc((size_t)load.threads, sizeof *holders);
  turns.turn_came = calloc((size_t)load.threads, sizeof *turns.turn_came);
  turns.threads = (unsigned long)load.threads;
  if (!holders || !turns.turn_came) fail("out of memory");
  for (int i = 0; i < load.threads; i++) {
    pthread_cond_init(&turns.turn_came[i], NULL);
    holders[i].connection = redis_dial(load.address);
    load.workers[i].state = &holders[i];
  }
  redis_load_script(holders[0].connection, wake ? WAKE_CHECK : GRANT_ACQUIRE, setup.acquire);
  redis_load_script(holders[0].connection, wake ? WAKE_SEND : GRANT_RELEASE, setup.release);
  setup.subscription = redis_dial(load.address);
  char channel[24];
  snprintf(channel, sizeof channel, "wake:%d", load.process);
  freeReplyObject(redisCommand(setup.subscription, "SUBSCRIBE %s", channel));

  load_begin(&load);
  load_threads(&load, wake ? &(struct target){wake_acquire, wake_release}
                           : &(struct target){grant_acquire, grant_release});
  load_end(&load);
  return 0;
}
