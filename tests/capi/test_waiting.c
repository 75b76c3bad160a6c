/* Waiting for a lock: deadlines, wake-up, order, spinning, the bound of waiters, exclusion. */
#include <pthread.h>

#include "fixture.h"

static void wait_ends_at_its_deadline_with_nothing_held(void **state) {
  struct rig *rig = *state;
  const lockc_acquire_options opts = options_with(5000, 200);
  lockc_client *other = open_client(rig->url, NULL);
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  lockc_client *const waiters[] = {rig->client, other};
  for (size_t i = 0; i < 2; ++i) {
    const int64_t start = now_ms();
    lockc_error *err = NULL;
    assert_status(acquire_status(waiters[i], rig->key, &opts, &err), LOCKC_TIMEOUT);
    assert_null(err);
    assert_between(now_ms() - start, 199, 200 + TOLERANCE_MS);
  }
  assert_within(1000, raw_queue_length(rig->raw, rig->key) == 0);
  assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
  assert_false(raw_exists(rig->raw, rig->key));
  lockc_lock_free(lock);
  lockc_client_close(other);
}

static void release_wakes_a_waiter_of_another_client_at_once(void **state) {
  struct rig *rig = *state;
  const lockc_acquire_options opts = options_with(30000, LOCKC_WAIT_FOREVER);
  lockc_client *other = open_client(rig->url, NULL);
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  lockc_queue *queue = ask_for(other, 1, rig->key, &opts);
  assert_within(2000, raw_queue_length(rig->raw, rig->key) == 1);
  assert_no_completion(queue, 0);
  const uint64_t token = lockc_lock_token(lock);
  assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
  lockc_lock *granted = take_grant(queue, 1, TOLERANCE_MS);
  assert_true(lockc_lock_token(granted) > token);
  assert_true(lockc_lock_remaining_ms(granted) > 0);
  lockc_lock_free(granted);
  lockc_lock_free(lock);
  lockc_queue_close(queue);
  lockc_client_close(other);
}

static void release_wakes_a_waiter_of_the_same_client_at_once(void **state) {
  struct rig *rig = *state;
  const lockc_acquire_options opts = options_with(0, LOCKC_WAIT_FOREVER);
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  lockc_queue *queue = ask_for(rig->client, 1, rig->key, &opts);
  assert_no_completion(queue, 20);
  const uint64_t token = lockc_lock_token(lock);
  assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
  lockc_lock *granted = take_grant(queue, 1, TOLERANCE_MS);
  assert_true(lockc_lock_token(granted) > token);
  assert_int_equal(lockc_lock_remaining_ms(lock), 0);
  assert_status(lockc_lock_release(granted, NULL), LOCKC_OK);
  assert_false(raw_exists(rig->raw, rig->key));
  lockc_lock_free(granted);
  lockc_lock_free(lock);
  lockc_queue_close(queue);
}

static void killed_holder_costs_its_ttl_and_no_more(void **state) {
  struct rig *rig = *state;
  /* What is left when a process is killed: its value at the key, and nobody who will release it. */
  raw_do(rig->raw, "SET %s lc1:AAAAAAAAAAAAAAAAAAAAAA:1:x:500:1 PX 500", rig->key);
  const lockc_acquire_options opts = options_with(5000, 5000);
  const int64_t start = now_ms();
  lockc_lock_free(must_acquire(rig->client, rig->key, &opts));
  assert_between(now_ms() - start, 400, 500 + TOLERANCE_MS);
}

static void wait_is_not_tied_to_the_ttl(void **state) {
  struct rig *rig = *state;
  lockc_client *other = open_client(rig->url, NULL);
  const lockc_acquire_options held = options_with(600, 0);
  const lockc_acquire_options waits = options_with(100, 3000);
  lockc_lock *lock = must_acquire(rig->client, rig->key, &held);
  const int64_t start = now_ms();
  lockc_lock_free(must_acquire(other, rig->key, &waits));
  assert_between(now_ms() - start, 500, 600 + TOLERANCE_MS);
  lockc_lock_free(lock);
  lockc_client_close(other);
}

static void wait_may_be_as_long_as_can_be_told(void **state) {
  struct rig *rig = *state;
  lockc_client *other = open_client(rig->url, NULL);
  lockc_client *const waiters[] = {rig->client, other};
  const int64_t longest[] = {1ll << 31, 1ll << 32, INT64_MAX};
  for (size_t i = 0; i < 2 * 3; ++i) {
    const lockc_acquire_options opts = options_with(0, longest[i / 2]);
    lockc_lock *lock = must_acquire(rig->client, rig->key, &kForever);
    lockc_queue *queue = ask_for(waiters[i % 2], 1, rig->key, &opts);
    assert_no_completion(queue, 30);
    lockc_lock_free(lock);
    lockc_lock_free(take_grant(queue, 1, 5000));
    lockc_queue_close(queue);
  }
  lockc_client_close(other);
}

static void one_try_on_a_held_key_is_one_request(void **state) {
  struct rig *rig = *state;
  lockc_client *other = open_client(rig->url, NULL);
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  assert_status(try_key(other, rig->key), LOCKC_BUSY);
  const long long scripts = raw_script_calls(rig->raw);
  assert_status(try_key(other, rig->key), LOCKC_BUSY);
  assert_int_equal(raw_script_calls(rig->raw) - scripts, 1);
  assert_int_equal(raw_queue_length(rig->raw, rig->key), 0);
  lockc_lock_free(lock);
  lockc_client_close(other);
}

static void fair_lock_is_granted_in_the_order_of_asking(void **state) {
  enum { WAITERS = 8 };
  struct rig *rig = *state;
  const lockc_acquire_options opts = {
      .struct_size = sizeof opts, .kind = LOCKC_FAIR, .wait_ms = LOCKC_WAIT_FOREVER};
  lockc_client *clients[2] = {rig->client, open_client(rig->url, NULL)};
  lockc_queue *queues[WAITERS];
  lockc_lock *lock = must_acquire(rig->client, rig->key, &opts);
  for (int i = 0; i < WAITERS; ++i) {
    queues[i] = ask_for(clients[i % 2], (uint64_t)i, rig->key, &opts);
    assert_within(2000, raw_queue_length(rig->raw, rig->key) == i + 1);
  }
  uint64_t token = lockc_lock_token(lock);
  for (int i = 0; i < WAITERS; ++i) {
    lockc_lock_free(lock);
    lock = take_grant(queues[i], (uint64_t)i, 2000);
    assert_true(lockc_lock_token(lock) > token);
    token = lockc_lock_token(lock);
    for (int k = i + 1; k < WAITERS; ++k) assert_no_completion(queues[k], 0);
  }
  lockc_lock_free(lock);
  for (int i = 0; i < WAITERS; ++i) lockc_queue_close(queues[i]);
  lockc_client_close(clients[1]);
}

static void newcomer_does_not_pass_a_fair_queue(void **state) {
  struct rig *rig = *state;
  const lockc_acquire_options fair = {
      .struct_size = sizeof fair, .kind = LOCKC_FAIR, .wait_ms = LOCKC_WAIT_FOREVER};
  lockc_client *other = open_client(rig->url, NULL);
  lockc_lock *lock = must_acquire(rig->client, rig->key, &fair);
  lockc_queue *queue = ask_for(other, 1, rig->key, &fair);
  assert_within(2000, raw_queue_length(rig->raw, rig->key) == 1);
  assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
  assert_status(try_key(rig->client, rig->key), LOCKC_BUSY);
  lockc_lock_free(take_grant(queue, 1, 2000));
  lockc_lock_free(lock);
  lockc_queue_close(queue);
  lockc_client_close(other);
}

static void spinning_waiter_gets_the_lock_without_queue_or_subscription(void **state) {
  struct rig *rig = *state;
  const lockc_acquire_options spin = {
      .struct_size = sizeof spin, .flags = LOCKC_SPIN, .wait_ms = LOCKC_WAIT_FOREVER};
  lockc_client *other = open_client(rig->url, NULL);
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  const long long subscribes = raw_calls(rig->raw, "subscribe");
  lockc_queue *queue = ask_for(other, 1, rig->key, &spin);
  assert_no_completion(queue, 50);
  assert_int_equal(raw_queue_length(rig->raw, rig->key), 0);
  assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
  lockc_lock_free(take_grant(queue, 1, 250 + TOLERANCE_MS));
  assert_int_equal(raw_calls(rig->raw, "subscribe"), subscribes);
  lockc_lock_free(lock);
  lockc_queue_close(queue);
  lockc_client_close(other);
}

static void spinning_waiter_is_busy_after_its_tries(void **state) {
  struct rig *rig = *state;
  const lockc_acquire_options spin = {.struct_size = sizeof spin,
                                      .flags = LOCKC_SPIN,
                                      .wait_ms = LOCKC_WAIT_FOREVER,
                                      .max_tries = 3};
  lockc_client *other = open_client(rig->url, NULL);
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  assert_status(try_key(other, rig->key), LOCKC_BUSY);
  const long long before = raw_script_calls(rig->raw);
  assert_status(acquire_status(other, rig->key, &spin, NULL), LOCKC_BUSY);
  assert_int_equal(raw_script_calls(rig->raw) - before, 3);
  lockc_lock_free(lock);
  lockc_client_close(other);
}

static void spinning_waiter_keeps_its_deadline(void **state) {
  struct rig *rig = *state;
  const lockc_acquire_options spin = {
      .struct_size = sizeof spin, .flags = LOCKC_SPIN, .wait_ms = 200};
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  const int64_t start = now_ms();
  assert_status(acquire_status(rig->client, rig->key, &spin, NULL), LOCKC_TIMEOUT);
  assert_between(now_ms() - start, 199, 200 + TOLERANCE_MS);
  lockc_lock_free(lock);
}

static void one_waiter_too_many_is_refused(void **state) {
  struct rig *rig = *state;
  const lockc_client_options bound = {.struct_size = sizeof bound, .max_waiters = 2};
  const lockc_acquire_options opts = options_with(0, LOCKC_WAIT_FOREVER);
  lockc_client *client = open_client(rig->url, &bound);
  lockc_lock *lock = must_acquire(client, rig->key, NULL);
  lockc_queue *first = ask_for(client, 1, rig->key, &opts);
  lockc_queue *second = ask_for(client, 2, rig->key, &opts);
  lockc_error *err = NULL;
  assert_no_completion(second, 50);
  assert_status(acquire_status(client, rig->key, &opts, &err), LOCKC_E_LIMIT);
  assert_error(err, LOCKC_E_LIMIT, "max_waiters");

  lockc_queue_cancel(first, 1);
  assert_status(next_completion(first, 2000).status, LOCKC_CANCELLED);
  const lockc_acquire_options brief = options_with(0, 50);
  assert_status(acquire_status(client, rig->key, &brief, NULL), LOCKC_TIMEOUT);
  lockc_lock_free(lock);
  lockc_lock_free(take_grant(second, 2, 2000));
  lockc_queue_close(first);
  lockc_queue_close(second);
  lockc_client_close(client);
}

enum { THREADS = 6, ROUNDS = 40 };

struct worker {
  lockc_client *client;
  const char *key;
  volatile int *shared; /* guarded by the lock under test alone */
  int32_t kind;
  int failures;
};

static void *count_up(void *argument) {
  struct worker *worker = argument;
  const lockc_acquire_options opts = {
      .struct_size = sizeof opts, .kind = worker->kind, .wait_ms = 30000};
  for (int i = 0; i < ROUNDS; ++i) {
    lockc_lock *lock = NULL;
    if (lockc_client_acquire(&lock, worker->client, worker->key, strlen(worker->key), &opts,
                             NULL) != LOCKC_OK) {
      ++worker->failures;
      continue;
    }
    const int seen = *worker->shared;
    nap_ms(seen % 2);
    *worker->shared = seen + 1;
    if (lockc_lock_release(lock, NULL) != LOCKC_OK) ++worker->failures;
    lockc_lock_free(lock);
  }
  return NULL;
}

static void exclude_each_other(struct rig *rig, int32_t kind) {
  volatile int shared = 0;
  lockc_client *clients[2] = {rig->client, open_client(rig->url, NULL)};
  struct worker workers[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    workers[i] = (struct worker){clients[i % 2], rig->key, &shared, kind, 0};
    assert_int_equal(pthread_create(&threads[i], NULL, count_up, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(threads[i], NULL);
    assert_int_equal(workers[i].failures, 0);
  }
  assert_int_equal(shared, THREADS * ROUNDS);
  lockc_client_close(clients[1]);
}

static void threads_of_two_clients_exclude_each_other(void **state) {
  exclude_each_other(*state, LOCKC_EXCLUSIVE);
}

static void threads_of_two_clients_exclude_each_other_fairly(void **state) {
  exclude_each_other(*state, LOCKC_FAIR);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      with_rig(wait_ends_at_its_deadline_with_nothing_held),
      with_rig(release_wakes_a_waiter_of_another_client_at_once),
      with_rig(release_wakes_a_waiter_of_the_same_client_at_once),
      with_rig(killed_holder_costs_its_ttl_and_no_more),
      with_rig(wait_is_not_tied_to_the_ttl),
      with_rig(wait_may_be_as_long_as_can_be_told),
      with_rig(one_try_on_a_held_key_is_one_request),
      with_rig(fair_lock_is_granted_in_the_order_of_asking),
      with_rig(newcomer_does_not_pass_a_fair_queue),
      with_rig(spinning_waiter_gets_the_lock_without_queue_or_subscription),
      with_rig(spinning_waiter_is_busy_after_its_tries),
      with_rig(spinning_waiter_keeps_its_deadline),
      with_rig(one_waiter_too_many_is_refused),
      with_rig(threads_of_two_clients_exclude_each_other),
      with_rig(threads_of_two_clients_exclude_each_other_fairly),
  };
  return cmocka_run_group_tests_name("waiting", tests, NULL, NULL);
}
