/* Completion queue: each accepted request completes exactly once, whatever happens to its handles.
 */
#include <pthread.h>
#include <signal.h>

#include "fixture.h"

static void acquire_completes_once_under_its_tag(void **state) {
  struct rig *rig = *state;
  lockc_queue *queue = ask_for(rig->client, 0xdeadbeefcafe, rig->key, &kForever);
  assert_int_equal(is_readable(queue, 2000), 1);
  lockc_lock *lock = take_grant(queue, 0xdeadbeefcafe, 0);
  assert_int_equal(is_readable(queue, 0), 0);
  assert_no_completion(queue, 50);
  assert_true(raw_exists(rig->raw, rig->key));
  lockc_lock_free(lock);
  lockc_queue_close(queue);
}

static void acquire_may_be_answered_at_once(void **state) {
  struct rig *rig = *state;
  lockc_queue *queue = open_queue(rig->client);
  lockc_lock *lock = NULL;
  assert_status(lockc_client_connect(rig->client, 2000, NULL), LOCKC_OK);
  const size_t size = strlen(rig->key);
  const lockc_status first = lockc_queue_acquire(queue, 1, &lock, rig->key, size, NULL, NULL);
  if (first == LOCKC_PENDING) lock = take_grant(queue, 1, 2000);
  assert_non_null(lock);
  lockc_lock *second = (lockc_lock *)-1;
  const lockc_status busy = lockc_queue_acquire(queue, 2, &second, rig->key, size, NULL, NULL);
  assert_null(second);
  if (busy == LOCKC_PENDING) {
    assert_status(next_completion(queue, 2000).status, LOCKC_BUSY);
  } else {
    assert_status(busy, LOCKC_BUSY);
  }
  /* The quiet client above had a free connection: neither should have had to wait. */
  assert_status(first, LOCKC_OK);
  assert_status(busy, LOCKC_BUSY);
  assert_no_completion(queue, 50);
  lockc_lock_free(lock);
  lockc_queue_close(queue);
}

static void acquire_that_must_wait_is_pending_though_now_was_asked(void **state) {
  struct rig *rig = *state;
  lockc_queue *queue = open_queue(rig->client);
  lockc_lock *held = must_acquire(rig->client, rig->key, NULL);
  lockc_lock *now = (lockc_lock *)-1;
  assert_status(lockc_queue_acquire(queue, 5, &now, rig->key, strlen(rig->key), &kForever, NULL),
                LOCKC_PENDING);
  assert_null(now);
  assert_status(lockc_lock_release(held, NULL), LOCKC_OK);
  lockc_lock_free(held);
  lockc_lock_free(take_grant(queue, 5, 2000));
  lockc_queue_close(queue);
}

static void refused_request_has_no_completion(void **state) {
  struct rig *rig = *state;
  lockc_queue *queue = open_queue(rig->client);
  const lockc_acquire_options bad = options_with(1, 0);
  lockc_error *err = NULL;
  assert_status(lockc_queue_acquire(queue, 1, NULL, "k", 1, &bad, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "ttl");
  assert_status(lockc_queue_acquire(queue, 1, NULL, "", 0, NULL, NULL), LOCKC_E_INVALID);
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  assert_status(lockc_queue_extend(queue, 1, lock, 0, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "ttl");
  assert_no_completion(queue, 50);
  lockc_lock_free(lock);
  lockc_queue_close(queue);
}

static void extend_and_release_complete(void **state) {
  struct rig *rig = *state;
  lockc_queue *queue = open_queue(rig->client);
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  assert_status(lockc_queue_extend(queue, 1, lock, 90000, NULL), LOCKC_PENDING);
  lockc_completion completion = next_completion(queue, 2000);
  assert_int_equal(completion.kind, LOCKC_DONE_EXTEND);
  assert_int_equal(completion.tag, 1);
  assert_status(completion.status, LOCKC_OK);
  assert_null(completion.lock);
  assert_between(raw_pttl(rig->raw, rig->key), 80000, 90000);
  assert_status(lockc_queue_release(queue, 2, lock, NULL), LOCKC_PENDING);
  completion = next_completion(queue, 2000);
  assert_int_equal(completion.kind, LOCKC_DONE_RELEASE);
  assert_int_equal(completion.tag, 2);
  assert_status(completion.status, LOCKC_OK);
  assert_null(completion.lock);
  assert_false(raw_exists(rig->raw, rig->key));
  lockc_lock_free(lock);
  lockc_queue_close(queue);
}

/* A request may be answered where it is made or later: how it ends is the same. */
static lockc_status end_of(lockc_queue *queue, lockc_status submitted) {
  return submitted == LOCKC_PENDING ? next_completion(queue, 2000).status : submitted;
}

static void extend_and_release_of_a_released_lock_are_not_held(void **state) {
  struct rig *rig = *state;
  lockc_queue *queue = open_queue(rig->client);
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
  assert_status(end_of(queue, lockc_queue_release(queue, 1, lock, NULL)), LOCKC_NOT_HELD);
  assert_status(end_of(queue, lockc_queue_extend(queue, 2, lock, 1000, NULL)), LOCKC_NOT_HELD);
  assert_no_completion(queue, 20);
  lockc_lock_free(lock);
  lockc_queue_close(queue);
}

static void poll_hands_out_no_more_than_it_is_asked_for(void **state) {
  enum { REQUESTS = 10, CAPACITY = 3 };
  struct rig *rig = *state;
  lockc_queue *queue = open_queue(rig->client);
  lockc_completion completions[CAPACITY];
  int seen[REQUESTS] = {0};
  for (int i = 0; i < REQUESTS; ++i) {
    char key[96];
    snprintf(key, sizeof key, "%s:%d", rig->key, i);
    assert_status(lockc_queue_acquire(queue, (uint64_t)i, NULL, key, strlen(key), &kForever, NULL),
                  LOCKC_PENDING);
  }
  for (int taken = 0; taken < REQUESTS;) {
    assert_int_equal(is_readable(queue, 2000), 1);
    const int32_t count = lockc_queue_poll(queue, completions, CAPACITY, 2000);
    assert_in_range(count, 1, CAPACITY);
    for (int32_t i = 0; i < count; ++i) {
      assert_status(completions[i].status, LOCKC_OK);
      ++seen[completions[i].tag];
      lockc_lock_free(completions[i].lock);
    }
    taken += count;
  }
  for (int i = 0; i < REQUESTS; ++i) assert_int_equal(seen[i], 1);
  assert_no_completion(queue, 20);
  lockc_queue_close(queue);
}

static void poll_waits_as_long_as_it_is_told(void **state) {
  struct rig *rig = *state;
  lockc_queue *queue = open_queue(rig->client);
  lockc_completion completion;
  int64_t start = now_ms();
  assert_int_equal(lockc_queue_poll(queue, &completion, 1, 0), 0);
  assert_between(now_ms() - start, 0, TOLERANCE_MS);
  start = now_ms();
  assert_int_equal(lockc_queue_poll(queue, &completion, 1, 150), 0);
  assert_between(now_ms() - start, 149, 150 + TOLERANCE_MS);
  lockc_queue_close(queue);
}

static void note_signal(int number) { (void)number; }

static void *interrupt(void *thread) {
  nap_ms(100); /* the other thread must be in its poll by then */
  pthread_kill(*(pthread_t *)thread, SIGUSR1);
  return NULL;
}

static void poll_returns_early_when_a_signal_was_handled(void **state) {
  struct rig *rig = *state;
  const struct sigaction action = {.sa_handler = note_signal};
  struct sigaction before;
  sigaction(SIGUSR1, &action, &before);
  lockc_queue *queue = open_queue(rig->client);
  lockc_completion completion;
  pthread_t self = pthread_self();
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, interrupt, &self), 0);
  const int64_t start = now_ms();
  assert_int_equal(lockc_queue_poll(queue, &completion, 1, 10000), 0);
  assert_between(now_ms() - start, 50, 5000);
  pthread_join(thread, NULL);
  lockc_queue_close(queue);
  sigaction(SIGUSR1, &before, NULL);
}

static void every_request_completes_exactly_once(void **state) {
  enum { REQUESTS = 300, KEYS = 5 };
  struct rig *rig = *state;
  lockc_queue *queue = open_queue(rig->client);
  lockc_completion completions[16];
  static int acquired[REQUESTS];
  static int released[REQUESTS];
  int outstanding = REQUESTS;
  memset(acquired, 0, sizeof acquired);
  memset(released, 0, sizeof released);
  for (int i = 0; i < REQUESTS; ++i) {
    char key[96];
    snprintf(key, sizeof key, "%s:%d", rig->key, i % KEYS);
    assert_status(lockc_queue_acquire(queue, (uint64_t)i, NULL, key, strlen(key), &kForever, NULL),
                  LOCKC_PENDING);
    if (i % 3 == 2) lockc_queue_cancel(queue, (uint64_t)(i - 1));
  }
  while (outstanding > 0) {
    const int32_t count = lockc_queue_poll(queue, completions, 16, 10000);
    assert_true(count > 0);
    for (int32_t i = 0; i < count; ++i) {
      const lockc_completion *done = &completions[i];
      --outstanding;
      ++(done->kind == LOCKC_DONE_ACQUIRE ? acquired : released)[done->tag];
      if (done->lock == NULL) {
        if (done->kind == LOCKC_DONE_ACQUIRE) assert_status(done->status, LOCKC_CANCELLED);
        continue;
      }
      assert_status(lockc_queue_release(queue, done->tag, done->lock, NULL), LOCKC_PENDING);
      lockc_lock_free(done->lock);
      ++outstanding;
    }
  }
  assert_no_completion(queue, 50);
  for (int i = 0; i < REQUESTS; ++i) {
    assert_int_equal(acquired[i], 1);
    assert_in_range(released[i], i % 3 == 1 ? 0 : 1, 1);
  }
  lockc_queue_close(queue);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      with_rig(acquire_completes_once_under_its_tag),
      with_rig(acquire_may_be_answered_at_once),
      with_rig(acquire_that_must_wait_is_pending_though_now_was_asked),
      with_rig(refused_request_has_no_completion),
      with_rig(extend_and_release_complete),
      with_rig(extend_and_release_of_a_released_lock_are_not_held),
      with_rig(poll_hands_out_no_more_than_it_is_asked_for),
      with_rig(poll_waits_as_long_as_it_is_told),
      with_rig(poll_returns_early_when_a_signal_was_handled),
      with_rig(every_request_completes_exactly_once),
  };
  return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
