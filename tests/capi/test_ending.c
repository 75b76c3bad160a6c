/* How things end: cancelling, closing, freeing, in whatever order; nothing is left at the server.
 */
#include "fixture.h"

static void lock_may_be_freed_before_its_request_completes(void **state) {
  struct rig *rig = *state;
  lockc_queue *queue = open_queue(rig->client);
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  assert_status(lockc_queue_extend(queue, 1, lock, 60000, NULL), LOCKC_PENDING);
  assert_status(lockc_queue_release(queue, 2, lock, NULL), LOCKC_PENDING);
  lockc_lock_free(lock);
  assert_int_equal(next_completion(queue, 2000).tag, 1);
  const lockc_completion completion = next_completion(queue, 2000);
  assert_int_equal(completion.tag, 2);
  assert_status(completion.status, LOCKC_OK);
  assert_false(raw_exists(rig->raw, rig->key));
  assert_no_completion(queue, 20);
  lockc_queue_close(queue);
}

static void cancelled_wait_says_so_once_and_leaves_nothing(void **state) {
  struct rig *rig = *state;
  lockc_client *other = open_client(rig->url, NULL);
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  lockc_queue *queue = ask_for(other, 3, rig->key, &kForever);
  assert_within(2000, raw_queue_length(rig->raw, rig->key) == 1);
  lockc_queue_cancel(queue, 4); /* nobody's tag */
  assert_no_completion(queue, 20);
  lockc_queue_cancel(queue, 3);
  lockc_queue_cancel(queue, 3);
  const lockc_completion completion = next_completion(queue, 2000);
  assert_int_equal(completion.kind, LOCKC_DONE_ACQUIRE);
  assert_int_equal(completion.tag, 3);
  assert_status(completion.status, LOCKC_CANCELLED);
  assert_null(completion.lock);
  assert_no_completion(queue, 50);
  assert_within(2000, raw_queue_length(rig->raw, rig->key) == 0);
  assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
  assert_false(raw_exists(rig->raw, rig->key));
  lockc_lock_free(lock);
  lockc_queue_close(queue);
  lockc_client_close(other);
}

static void cancel_after_the_completion_does_nothing(void **state) {
  struct rig *rig = *state;
  lockc_queue *queue = ask_for(rig->client, 1, rig->key, &kForever);
  assert_int_equal(is_readable(queue, 2000), 1);
  lockc_queue_cancel(queue, 1);
  lockc_lock *lock = take_grant(queue, 1, 0);
  lockc_queue_cancel(queue, 1);
  assert_true(lockc_lock_remaining_ms(lock) > 0);
  assert_no_completion(queue, 20);
  assert_true(raw_exists(rig->raw, rig->key));
  lockc_lock_free(lock);
  lockc_queue_close(queue);
}

static void cancel_racing_with_the_grant_ends_either_way_and_leaves_nothing(void **state) {
  enum { ROUNDS = 200 };
  struct rig *rig = *state;
  lockc_client *other = open_client(rig->url, NULL);
  lockc_queue *queue = open_queue(other);
  int granted = 0;
  for (int i = 0; i < ROUNDS; ++i) {
    lockc_lock *lock = must_acquire(rig->client, rig->key, &kForever);
    assert_status(
        lockc_queue_acquire(queue, (uint64_t)i, NULL, rig->key, strlen(rig->key), &kForever, NULL),
        LOCKC_PENDING);
    if (i % 2 == 0) assert_within(2000, raw_queue_length(rig->raw, rig->key) == 1);
    lockc_lock_free(lock);
    if (i % 4 > 1) nap_ms(1);
    lockc_queue_cancel(queue, (uint64_t)i);
    const lockc_completion completion = next_completion(queue, 2000);
    assert_int_equal(completion.tag, i);
    if (completion.status == LOCKC_OK) {
      ++granted;
      lockc_lock_free(completion.lock);
    } else {
      assert_status(completion.status, LOCKC_CANCELLED);
      assert_null(completion.lock);
    }
  }
  print_message("granted %d of %d\n", granted, ROUNDS);
  assert_within(2000, !raw_exists(rig->raw, rig->key));
  assert_int_equal(raw_queue_length(rig->raw, rig->key), 0);
  lockc_queue_close(queue);
  lockc_client_close(other);
}

static void close_cancels_what_is_outstanding(void **state) {
  struct rig *rig = *state;
  lockc_client *other = open_client(rig->url, NULL);
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  lockc_queue *queue = ask_for(other, 1, rig->key, &kForever);
  assert_within(2000, raw_queue_length(rig->raw, rig->key) == 1);
  lockc_queue_close(queue);
  assert_within(2000, raw_queue_length(rig->raw, rig->key) == 0);
  assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
  assert_false(raw_exists(rig->raw, rig->key));
  lockc_lock_free(lock);
  lockc_client_close(other);
}

static void a_tag_names_one_acquire_at_a_time(void **state) {
  struct rig *rig = *state;
  lockc_client *other = open_client(rig->url, NULL);
  const lockc_acquire_options fair = {
      .struct_size = sizeof fair, .kind = LOCKC_FAIR, .wait_ms = LOCKC_WAIT_FOREVER};
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  lockc_queue *queue = ask_for(other, 7, rig->key, &fair);
  lockc_lock *now = NULL;
  assert_status(lockc_queue_acquire(queue, 7, NULL, rig->key, strlen(rig->key), &fair, NULL),
                LOCKC_E_INVALID);
  assert_status(lockc_queue_acquire(queue, 7, &now, rig->key, strlen(rig->key), &fair, NULL),
                LOCKC_E_INVALID);
  assert_within(2000, raw_queue_length(rig->raw, rig->key) == 1);
  lockc_queue_close(queue);
  assert_within(2000, raw_queue_length(rig->raw, rig->key) == 0);
  lockc_lock_free(lock);
  lockc_client_close(other);
}

static void close_releases_a_grant_that_nobody_took_out(void **state) {
  struct rig *rig = *state;
  lockc_queue *queue = ask_for(rig->client, 1, rig->key, &kForever);
  assert_int_equal(is_readable(queue, 2000), 1);
  assert_true(raw_exists(rig->raw, rig->key));
  lockc_queue_close(queue);
  assert_within(2000, !raw_exists(rig->raw, rig->key));
}

static void lock_outlives_its_queues(void **state) {
  struct rig *rig = *state;
  lockc_queue *events = open_queue(rig->client);
  lockc_acquire_options opts = kForever;
  opts.events = events;
  lockc_queue *queue = ask_for(rig->client, 1, rig->key, &opts);
  lockc_lock *lock = take_grant(queue, 1, 2000);
  lockc_queue_close(queue);
  lockc_queue_close(events);
  assert_status(lockc_lock_extend(lock, 60000, NULL), LOCKC_OK);
  raw_do(rig->raw, "DEL %s", rig->key);
  assert_status(lockc_lock_extend(lock, 60000, NULL), LOCKC_LOST);
  lockc_lock_free(lock);
}

static void closed_client_completes_what_is_outstanding(void **state) {
  struct rig *rig = *state;
  lockc_client *other = open_client(rig->url, NULL);
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  lockc_queue *queue = ask_for(other, 1, rig->key, &kForever);
  lockc_client_close(other);
  const lockc_completion completion = next_completion(queue, 2000);
  assert_status(completion.status, LOCKC_E_CLOSED);
  assert_int_equal(completion.tag, 1);
  assert_null(completion.lock);
  lockc_error_free(completion.error);
  assert_no_completion(queue, 20);
  lockc_error *err = NULL;
  assert_status(lockc_queue_acquire(queue, 2, NULL, "k", 1, NULL, &err), LOCKC_E_CLOSED);
  assert_error(err, LOCKC_E_CLOSED, "");
  lockc_queue_cancel(queue, 1);
  lockc_queue_close(queue);
  lockc_lock_free(lock);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      with_rig(lock_may_be_freed_before_its_request_completes),
      with_rig(cancelled_wait_says_so_once_and_leaves_nothing),
      with_rig(cancel_after_the_completion_does_nothing),
      with_rig(cancel_racing_with_the_grant_ends_either_way_and_leaves_nothing),
      with_rig(close_cancels_what_is_outstanding),
      with_rig(a_tag_names_one_acquire_at_a_time),
      with_rig(close_releases_a_grant_that_nobody_took_out),
      with_rig(lock_outlives_its_queues),
      with_rig(closed_client_completes_what_is_outstanding),
  };
  return cmocka_run_group_tests_name("ending", tests, NULL, NULL);
}
