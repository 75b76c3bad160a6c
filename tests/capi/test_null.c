/* NULL wherever a pointer goes: an answer, never a crash. */
#include "fixture.h"

static void freeing_nothing_does_nothing(void **state) {
  (void)state;
  lockc_error_free(NULL);
  lockc_client_close(NULL);
  lockc_lock_free(NULL);
  lockc_queue_close(NULL);
  lockc_text_free(NULL);
  lockc_fence_free(NULL);
  lockc_record_free(NULL);
  lockc_queue_cancel(NULL, 1);
}

static void accessors_of_nothing_answer(void **state) {
  (void)state;
  assert_int_equal(lockc_error_status(NULL), LOCKC_OK);
  assert_non_null(lockc_error_message(NULL));
  assert_int_equal(lockc_lock_token(NULL), 0);
  assert_int_equal(lockc_lock_remaining_ms(NULL), 0);
  assert_int_equal(lockc_lock_lost_reason(NULL), LOCKC_LOST_NOT);
  assert_true(lockc_queue_fd(NULL) < 0);
  (void)lockc_lock_owner(NULL);
  (void)lockc_text_data(NULL);
  assert_int_equal(lockc_fence_token(NULL), 0);
  size_t size = 1;
  assert_non_null(lockc_record_value(NULL, &size));
  assert_int_equal(size, 0);
  assert_int_equal(lockc_record_version(NULL), 0);
  assert_int_equal(lockc_record_token(NULL), 0);
}

static void missing_client_is_invalid(void **state) {
  (void)state;
  lockc_lock *lock = (lockc_lock *)-1;
  lockc_queue *queue = (lockc_queue *)-1;
  lockc_text *text = (lockc_text *)-1;
  lockc_record *record = (lockc_record *)-1;
  uint64_t version = 1;
  lockc_error *err = NULL;
  assert_status(lockc_client_connect(NULL, 10, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "client");
  assert_status(lockc_client_acquire(&lock, NULL, "k", 1, NULL, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "client");
  assert_null(lock);
  assert_status(lockc_queue_open(&queue, NULL, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "client");
  assert_null(queue);
  assert_status(lockc_client_inspect(&text, NULL, "k", 1, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "client");
  assert_null(text);
  assert_status(lockc_client_read(&record, NULL, "k", 1, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "client");
  assert_null(record);
  assert_status(lockc_client_write(&version, NULL, "k", 1, "", 0, NULL, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "client");
  assert_int_equal(version, 0);
}

static void missing_fence_is_invalid(void **state) {
  (void)state;
  assert_status(lockc_fence_check(NULL, 1), LOCKC_E_INVALID);
}

static void missing_output_is_invalid(void **state) {
  struct rig *rig = *state;
  lockc_error *err = NULL;
  assert_status(lockc_client_open(NULL, rig->url, NULL, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "out");
  assert_status(lockc_client_acquire(NULL, rig->client, "k", 1, NULL, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "out");
  assert_status(lockc_queue_open(NULL, rig->client, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "out");
  assert_status(lockc_client_inspect(NULL, rig->client, "k", 1, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "out");
  assert_status(lockc_client_read(NULL, rig->client, "k", 1, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "out");
  assert_status(lockc_fence_new(NULL, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "out");
}

static void missing_key_is_invalid(void **state) {
  struct rig *rig = *state;
  lockc_lock *lock = NULL;
  lockc_text *text = NULL;
  lockc_record *record = NULL;
  lockc_error *err = NULL;
  lockc_queue *queue = open_queue(rig->client);
  assert_status(lockc_client_acquire(&lock, rig->client, NULL, 3, NULL, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "key");
  assert_status(lockc_client_acquire(&lock, rig->client, NULL, 0, NULL, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "key");
  assert_status(lockc_client_inspect(&text, rig->client, NULL, 3, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "key");
  assert_status(lockc_client_read(&record, rig->client, NULL, 3, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "key");
  assert_status(lockc_client_write(NULL, rig->client, NULL, 3, "", 0, NULL, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "key");
  assert_status(lockc_queue_acquire(queue, 1, NULL, NULL, 3, NULL, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "key");
  assert_no_completion(queue, 0);
  lockc_queue_close(queue);
}

static void missing_lock_is_invalid(void **state) {
  struct rig *rig = *state;
  lockc_error *err = NULL;
  lockc_queue *queue = open_queue(rig->client);
  assert_status(lockc_lock_extend(NULL, 1000, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "lock");
  assert_status(lockc_lock_release(NULL, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "lock");
  assert_status(lockc_lock_release_nowait(NULL, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "lock");
  assert_status(lockc_queue_extend(queue, 1, NULL, 1000, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "lock");
  assert_status(lockc_queue_release(queue, 1, NULL, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "lock");
  assert_no_completion(queue, 0);
  lockc_queue_close(queue);
}

static void missing_queue_is_invalid(void **state) {
  struct rig *rig = *state;
  lockc_error *err = NULL;
  lockc_completion completion;
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  assert_status(lockc_queue_acquire(NULL, 1, NULL, "k", 1, NULL, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "queue");
  assert_status(lockc_queue_extend(NULL, 1, lock, 1000, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "queue");
  assert_status(lockc_queue_release(NULL, 1, lock, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "queue");
  assert_status(lockc_queue_poll(NULL, &completion, 1, 0), LOCKC_E_INVALID);
  assert_true(lockc_lock_remaining_ms(lock) > 0);
  lockc_lock_free(lock);
}

static void missing_completions_are_invalid(void **state) {
  struct rig *rig = *state;
  lockc_completion completion;
  lockc_queue *queue = open_queue(rig->client);
  assert_status(lockc_queue_poll(queue, NULL, 1, 0), LOCKC_E_INVALID);
  assert_status(lockc_queue_poll(queue, &completion, -1, 0), LOCKC_E_INVALID);
  assert_status(lockc_queue_poll(queue, &completion, 1, -2), LOCKC_E_INVALID);
  lockc_queue_close(queue);
}

static void no_error_object_is_needed(void **state) {
  struct rig *rig = *state;
  lockc_client *client = NULL;
  assert_status(lockc_client_open(&client, "nonsense", NULL, NULL), LOCKC_E_INVALID);
  assert_status(lockc_client_connect(rig->client, -1, NULL), LOCKC_E_INVALID);
  assert_status(acquire_status(rig->client, "", NULL, NULL), LOCKC_E_INVALID);
  assert_status(lockc_lock_extend(NULL, 0, NULL), LOCKC_E_INVALID);
  assert_status(lockc_lock_release(NULL, NULL), LOCKC_E_INVALID);
}

static void error_is_set_to_null_where_there_is_none(void **state) {
  struct rig *rig = *state;
  lockc_error *err = (lockc_error *)-1;
  assert_status(lockc_client_connect(rig->client, 2000, &err), LOCKC_OK);
  assert_null(err);
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  err = (lockc_error *)-1;
  assert_status(acquire_status(rig->client, rig->key, NULL, &err), LOCKC_BUSY);
  assert_null(err);
  err = (lockc_error *)-1;
  assert_status(lockc_lock_release(lock, &err), LOCKC_OK);
  assert_null(err);
  err = (lockc_error *)-1;
  assert_status(lockc_lock_release(lock, &err), LOCKC_NOT_HELD);
  assert_null(err);
  lockc_lock_free(lock);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(freeing_nothing_does_nothing),
      cmocka_unit_test(accessors_of_nothing_answer),
      cmocka_unit_test(missing_client_is_invalid),
      cmocka_unit_test(missing_fence_is_invalid),
      with_rig(missing_output_is_invalid),
      with_rig(missing_key_is_invalid),
      with_rig(missing_lock_is_invalid),
      with_rig(missing_queue_is_invalid),
      with_rig(missing_completions_are_invalid),
      with_rig(no_error_object_is_needed),
      with_rig(error_is_set_to_null_where_there_is_none),
  };
  return cmocka_run_group_tests_name("null", tests, NULL, NULL);
}
