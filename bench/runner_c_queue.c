/* lockc from C by its completion queue: one thread and very many locks.
 *
 * - work=queue: every worker acquires and releases its own key again and again, all at once.
 * - work=hold: holds one key for each worker and lets the watchdog renew them. They are held before
 *   "ready", so that what is counted from there on is renewal alone.
 * - work=held: holds them from "ready" to "done", so what memory grows by is that of the locks.
 * - work=waiting: every worker waits for one key that another client holds; the same for waiters.
 */
#include <string.h>

#include "runner_c.h"

enum { BATCH = 256 };

static lockc_client *client;
static lockc_queue *queue;

static void ask(struct worker *worker, int64_t wait_ms) {
  lockc_acquire_options options = {.struct_size = sizeof options, .wait_ms = wait_ms};
  lockc_error *error;
  worker->records[worker->count].worker = worker_id(worker);
  worker->records[worker->count].asked = now_ns();
  check(lockc_queue_acquire(queue, (uint64_t)worker->index, NULL, worker->key, strlen(worker->key),
                            &options, &error),
        error, "acquire");
}

static void give_back(struct worker *worker) {
  lockc_error *error;
  worker->records[worker->count].releasing = now_ns();
  check(lockc_queue_release(queue, (uint64_t)worker->index, worker->state, &error), error,
        "release");
  lockc_lock_free(worker->state);
}

/* Waits for completions and returns how many came. */
static int32_t poll_queue(lockc_completion *done) {
  int32_t count = lockc_queue_poll(queue, done, BATCH, 5000);
  if (count <= 0) fail("no completion came");
  for (int32_t i = 0; i < count; i++) check(done[i].status, done[i].error, "completion");
  return count;
}

static void run_pairs(struct load *load) {
  lockc_completion done[BATCH];
  int live = load->threads;
  for (int i = 0; i < load->threads; i++) ask(&load->workers[i], 10000);
  while (live) {
    int32_t count = poll_queue(done);
    for (int32_t i = 0; i < count; i++) {
      struct worker *worker = &load->workers[done[i].tag];
      struct record *record = &worker->records[worker->count];
      if (done[i].kind == LOCKC_DONE_ACQUIRE) {
        record->granted = now_ns();
        worker->state = done[i].lock;
        give_back(worker);
        continue;
      }
      record->released = now_ns();
      if (++worker->count < load->pairs && record->released < load->deadline)
        ask(worker, 10000);
      else
        live--;
    }
  }
}

/* A batch at a time: the memory of requests under way is not that of held locks. */
static void hold_all(struct load *load) {
  lockc_completion done[BATCH];
  for (int held = 0, asked = 0; held < load->threads;) {
    for (; asked < load->threads && asked < held + BATCH; asked++)
      ask(&load->workers[asked], 10000);
    int32_t count = poll_queue(done);
    for (int32_t i = 0; i < count; i++) load->workers[done[i].tag].state = done[i].lock;
    held += count;
  }
}

static void check_held(const struct load *load) {
  for (int i = 0; i < load->threads; i++)
    if (lockc_lock_remaining_ms(load->workers[i].state) <= 0)
      fail("%s: lost", load->workers[i].key);
}

/* All workers wait for a key of another client. A key that nobody wants is asked for behind them:
 * once it is granted, the client has dealt with every waiter. */
static void wait_all(struct load *load) {
  static const char marker[] = "bench:marker";
  lockc_completion done[BATCH];
  lockc_error *error;
  for (int i = 0; i < load->threads; i++) ask(&load->workers[i], LOCKC_WAIT_FOREVER);
  check(lockc_queue_acquire(queue, UINT64_MAX, NULL, marker, strlen(marker), NULL, &error), error,
        "acquire");
  poll_queue(done);
  lockc_lock_free(done[0].lock);
}

static void run_waiting(struct load *load) {
  lockc_client *other = open_client(load);
  lockc_lock *lock;
  lockc_error *error;
  const char *key = load->workers[0].key;
  check(lockc_client_acquire(&lock, other, key, strlen(key), NULL, &error), error, "acquire");
  load_begin(load);
  wait_all(load);
  load_end(load);
  lockc_lock_free(lock);
  lockc_client_close(other);
}

void run_queue(struct load *load, lockc_client *opened, const char *work) {
  lockc_error *error;
  client = opened;
  check(lockc_queue_open(&queue, client, &error), error, "queue");
  if (strcmp(work, "queue") == 0) {
    load_begin(load);
    run_pairs(load);
    load_end(load);
  } else if (strcmp(work, "hold") == 0) {
    hold_all(load);
    load_begin(load);
    sleep_ns((int64_t)(load->seconds * 1e9));
    check_held(load);
    load_end(load);
  } else if (strcmp(work, "held") == 0) {
    load_begin(load);
    hold_all(load);
    load_end(load);
  } else if (strcmp(work, "waiting") == 0) {
    run_waiting(load);
  } else {
    fail("work: threads, queue, hold, held or waiting");
  }
  lockc_queue_close(queue);
}
