/* Connections break at random under a hundred calls at once: each call ends, nobody meets another
 * holder, nothing is left. LOCKC_SCALE=full breaks them ten thousand times. */
#include <pthread.h>
#include <stdatomic.h>

#include "fixture.h"
#include "proxy.h"

enum {
  CALLERS = 100,
  KEYS = 8,
  FAULTS = 150,
  FAULTS_OF_FULL_SCALE = 10000,
  PAUSE_MS = 5,
  REPLY_MS = 500,
  WAIT_MS = 200,
  LONGEST_CALL_MS = 10000,
};

struct storm {
  lockc_client *client;
  char keys[KEYS][80];
  atomic_int inside[KEYS]; /* holders at work */
  atomic_bool over;
  atomic_int grants;
  atomic_int collisions;
  atomic_llong longest_ms; /* of any call */
  atomic_int unexpected;   /* a status that no call may end with here; 0: none */
};

struct caller {
  struct storm *storm;
  int number;
};

static int is_expected(lockc_status status) {
  return status == LOCKC_OK || status == LOCKC_TIMEOUT || status == LOCKC_E_UNCERTAIN ||
         status == LOCKC_E_UNREACHABLE;
}

/* Notes how a call that began then has ended. */
static void note(struct storm *storm, int64_t begin, lockc_status status) {
  const long long took = now_ms() - begin;
  long long longest = atomic_load(&storm->longest_ms);
  while (took > longest && !atomic_compare_exchange_weak(&storm->longest_ms, &longest, took)) {
  }
  if (!is_expected(status)) atomic_store(&storm->unexpected, status);
}

static lockc_lock *blocking_acquire(struct storm *storm, const char *key,
                                    const lockc_acquire_options *opts) {
  lockc_lock *lock = NULL;
  const int64_t begin = now_ms();
  note(storm, begin, lockc_client_acquire(&lock, storm->client, key, strlen(key), opts, NULL));
  return lock;
}

static lockc_lock *queued_acquire(struct storm *storm, lockc_queue *queue, const char *key,
                                  const lockc_acquire_options *opts) {
  lockc_lock *lock = NULL;
  lockc_completion completion = {0};
  const int64_t begin = now_ms();
  lockc_status status = lockc_queue_acquire(queue, 1, &lock, key, strlen(key), opts, NULL);
  if (status == LOCKC_PENDING) {
    const int32_t count = lockc_queue_poll(queue, &completion, 1, 2 * LONGEST_CALL_MS);
    status = count == 1 ? completion.status : LOCKC_E_INTERNAL;
    lock = completion.lock;
    lockc_error_free(completion.error);
  }
  note(storm, begin, status);
  return lock;
}

static void work(struct storm *storm, int key, lockc_lock *lock) {
  atomic_fetch_add(&storm->grants, 1);
  if (atomic_fetch_add(&storm->inside[key], 1) != 0) atomic_fetch_add(&storm->collisions, 1);
  int64_t begin = now_ms();
  note(storm, begin, lockc_lock_extend(lock, 60000, NULL));
  atomic_fetch_sub(&storm->inside[key], 1);
  begin = now_ms();
  note(storm, begin, lockc_lock_release(lock, NULL));
}

static void *call_all_the_time(void *argument) {
  const struct caller *caller = argument;
  struct storm *storm = caller->storm;
  const lockc_acquire_options opts = options_with(0, WAIT_MS);
  lockc_queue *queue = open_queue(storm->client);
  for (int turn = caller->number; !atomic_load(&storm->over); ++turn) {
    const int key = turn % KEYS;
    lockc_lock *lock = turn % 3 == 0 ? queued_acquire(storm, queue, storm->keys[key], &opts)
                                     : blocking_acquire(storm, storm->keys[key], &opts);
    if (lock != NULL) work(storm, key, lock);
    lockc_lock_free(lock);
  }
  lockc_queue_close(queue);
  return NULL;
}

static void break_connections(struct proxy *proxy, struct raw_redis *raw, unsigned *random) {
  static const char *const ways[] = {"cut", "reset", "half_close up", "half_close down"};
  const int way = rand_r(random) % 6;
  if (way == 4) {
    raw_do(raw, "CLIENT KILL TYPE normal SKIPME yes");
  } else if (way == 5) {
    raw_do(raw, "CLIENT KILL TYPE pubsub");
  } else {
    proxy_do(proxy, ways[way]);
  }
}

static int faults(void) {
  const char *scale = getenv("LOCKC_SCALE");
  return scale != NULL && strcmp(scale, "full") == 0 ? FAULTS_OF_FULL_SCALE : FAULTS;
}

static void every_call_ends_however_connections_break(void **state) {
  struct rig *rig = *state;
  struct proxy *proxy = proxy_start(atoi(strrchr(rig->url, ':') + 1));
  const lockc_client_options short_limits = {.struct_size = sizeof short_limits,
                                             .connect_timeout_ms = REPLY_MS,
                                             .reply_timeout_ms = REPLY_MS};
  struct storm storm = {.client = open_client(proxy->url, &short_limits)};
  struct caller callers[CALLERS];
  pthread_t threads[CALLERS];
  for (int i = 0; i < KEYS; ++i) {
    snprintf(storm.keys[i], sizeof storm.keys[i], "%s:%d", rig->key, i);
  }
  for (int i = 0; i < CALLERS; ++i) {
    callers[i] = (struct caller){&storm, i};
    assert_int_equal(pthread_create(&threads[i], NULL, call_all_the_time, &callers[i]), 0);
  }
  unsigned random = 1;
  for (int i = 0; i < faults(); ++i) {
    break_connections(proxy, rig->raw, &random);
    nap_ms((int)(rand_r(&random) % (2 * PAUSE_MS)));
  }
  atomic_store(&storm.over, 1);
  for (int i = 0; i < CALLERS; ++i) pthread_join(threads[i], NULL);

  assert_status(atomic_load(&storm.unexpected), LOCKC_OK);
  assert_int_equal(atomic_load(&storm.collisions), 0);
  assert_true(atomic_load(&storm.grants) > 0);
  assert_between(atomic_load(&storm.longest_ms), 0, LONGEST_CALL_MS);
  for (int i = 0; i < KEYS; ++i) {
    assert_within(5000, !raw_exists(rig->raw, storm.keys[i]));
    assert_within(5000, try_key(storm.client, storm.keys[i]) == LOCKC_OK);
  }
  lockc_client_close(storm.client);
  proxy_stop(proxy);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      with_rig(every_call_ends_however_connections_break),
  };
  return cmocka_run_group_tests_name("storm", tests, NULL, NULL);
}
