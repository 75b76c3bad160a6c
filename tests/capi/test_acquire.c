/* Acquire and release: one grant at a time, tokens, re-entry, what it costs at the server. */
#include "fixture.h"

static void grant_is_the_owner_value_at_the_key(void **state) {
  struct rig *rig = *state;
  const lockc_acquire_options opts = options_with(5000, 0);
  lockc_lock *lock = must_acquire(rig->client, rig->key, &opts);
  char *value = raw_text(rig->raw, "GET %s", rig->key);
  assert_string_equal(value, lockc_lock_owner(lock));
  assert_memory_equal(value, "lc1:", 4);
  assert_between(raw_pttl(rig->raw, rig->key), 4000, 5000);
  assert_between(lockc_lock_remaining_ms(lock), 4000, 5000);
  free(value);
  assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
  assert_false(raw_exists(rig->raw, rig->key));
  assert_int_equal(lockc_lock_remaining_ms(lock), 0);
  assert_int_equal(lockc_lock_lost_reason(lock), LOCKC_LOST_NOT);
  lockc_lock_free(lock);
}

static void held_key_is_busy_for_the_same_client_and_for_another(void **state) {
  struct rig *rig = *state;
  lockc_client *other = open_client(rig->url, NULL);
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  assert_status(try_key(rig->client, rig->key), LOCKC_BUSY);
  assert_status(try_key(other, rig->key), LOCKC_BUSY);
  assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
  assert_status(try_key(other, rig->key), LOCKC_OK);
  lockc_lock_free(lock);
  lockc_client_close(other);
}

static void busy_answer_sets_the_output_to_null(void **state) {
  struct rig *rig = *state;
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  lockc_lock *second = (lockc_lock *)-1;
  assert_status(lockc_client_acquire(&second, rig->client, rig->key, strlen(rig->key), NULL, NULL),
                LOCKC_BUSY);
  assert_null(second);
  lockc_lock_free(lock);
}

static void plain_set_of_another_library_is_respected(void **state) {
  struct rig *rig = *state;
  raw_do(rig->raw, "SET %s somebody NX PX 300", rig->key);
  assert_status(try_key(rig->client, rig->key), LOCKC_BUSY);
  const lockc_acquire_options opts = options_with(5000, 3000);
  lockc_lock *lock = must_acquire(rig->client, rig->key, &opts);
  char *refused = raw_text(rig->raw, "SET %s somebody NX PX 300", rig->key);
  assert_null(refused);
  lockc_lock_free(lock);
}

static void tokens_increase_over_all_clients(void **state) {
  struct rig *rig = *state;
  lockc_client *other = open_client(rig->url, NULL);
  uint64_t last = 0;
  for (int i = 0; i < 100; ++i) {
    lockc_lock *lock = must_acquire(i % 3 == 0 ? other : rig->client, rig->key, NULL);
    assert_true(lockc_lock_token(lock) > last);
    last = lockc_lock_token(lock);
    assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
    assert_int_equal(lockc_lock_token(lock), last);
    lockc_lock_free(lock);
  }
  lockc_client_close(other);
}

static void owner_value_is_new_for_every_grant(void **state) {
  struct rig *rig = *state;
  lockc_lock *first = must_acquire(rig->client, rig->key, NULL);
  assert_status(lockc_lock_release(first, NULL), LOCKC_OK);
  lockc_lock *second = must_acquire(rig->client, rig->key, NULL);
  assert_string_not_equal(lockc_lock_owner(first), lockc_lock_owner(second));
  assert_status(lockc_lock_release(first, NULL), LOCKC_NOT_HELD);
  assert_true(raw_exists(rig->raw, rig->key));
  lockc_lock_free(first);
  lockc_lock_free(second);
}

static void unfenced_lock_has_no_token_and_still_excludes(void **state) {
  struct rig *rig = *state;
  const lockc_acquire_options opts = {.struct_size = sizeof opts, .flags = LOCKC_UNFENCED};
  lockc_lock *lock = must_acquire(rig->client, rig->key, &opts);
  assert_int_equal(lockc_lock_token(lock), 0);
  assert_status(try_key(rig->client, rig->key), LOCKC_BUSY);
  assert_status(acquire_status(rig->client, rig->key, &opts, NULL), LOCKC_BUSY);
  assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
  assert_false(raw_exists(rig->raw, rig->key));
  lockc_lock_free(lock);
}

static void every_key_at_the_server_expires(void **state) {
  static const char *const without_expiry =
      "local n = 0 "
      "for _, key in ipairs(redis.call('keys', '*')) do "
      "  if redis.call('pttl', key) == -1 then n = n + 1 end "
      "end "
      "return n";
  struct rig *rig = *state;
  const lockc_acquire_options waits = options_with(5000, LOCKC_WAIT_FOREVER);
  lockc_client *other = open_client(rig->url, NULL);
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  lockc_queue *queue = ask_for(other, 1, rig->key, &waits);
  assert_within(2000, raw_queue_length(rig->raw, rig->key) == 1);
  assert_int_equal(raw_integer(rig->raw, "EVAL %s 0", without_expiry), 0);
  assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
  lockc_lock *granted = take_grant(queue, 1, 2000);
  assert_int_equal(raw_integer(rig->raw, "EVAL %s 0", without_expiry), 0);
  lockc_lock_free(granted);
  lockc_lock_free(lock);
  lockc_queue_close(queue);
  lockc_client_close(other);
}

static void same_owner_enters_again_without_a_command(void **state) {
  struct rig *rig = *state;
  const lockc_acquire_options mine = {.struct_size = sizeof mine, .owner = 7};
  const lockc_acquire_options other = {.struct_size = sizeof other, .owner = 8};
  lockc_lock *outer = must_acquire(rig->client, rig->key, &mine);
  const long long before = raw_script_calls(rig->raw);
  lockc_lock *inner = must_acquire(rig->client, rig->key, &mine);
  assert_int_equal(raw_script_calls(rig->raw), before);
  assert_int_equal(lockc_lock_token(inner), lockc_lock_token(outer));
  assert_status(acquire_status(rig->client, rig->key, &other, NULL), LOCKC_BUSY);
  assert_status(try_key(rig->client, rig->key), LOCKC_BUSY);

  assert_status(lockc_lock_release(inner, NULL), LOCKC_OK);
  assert_status(lockc_lock_release(inner, NULL), LOCKC_NOT_HELD);
  assert_true(raw_exists(rig->raw, rig->key));
  assert_true(lockc_lock_remaining_ms(outer) > 0);
  assert_status(lockc_lock_release(outer, NULL), LOCKC_OK);
  assert_false(raw_exists(rig->raw, rig->key));
  lockc_lock_free(inner);
  lockc_lock_free(outer);
}

static void re_entry_may_be_left_in_any_order(void **state) {
  struct rig *rig = *state;
  const lockc_acquire_options mine = {.struct_size = sizeof mine, .owner = 7};
  lockc_lock *outer = must_acquire(rig->client, rig->key, &mine);
  lockc_lock *inner = must_acquire(rig->client, rig->key, &mine);
  assert_status(lockc_lock_release(outer, NULL), LOCKC_OK);
  assert_true(raw_exists(rig->raw, rig->key));
  assert_true(lockc_lock_remaining_ms(inner) > 0);
  lockc_lock_free(inner);
  assert_within(2000, !raw_exists(rig->raw, rig->key));
  lockc_lock_free(outer);
}

static void owner_number_is_of_one_client_only(void **state) {
  struct rig *rig = *state;
  const lockc_acquire_options mine = {.struct_size = sizeof mine, .owner = 7};
  lockc_client *other = open_client(rig->url, NULL);
  lockc_lock *lock = must_acquire(rig->client, rig->key, &mine);
  assert_status(acquire_status(other, rig->key, &mine, NULL), LOCKC_BUSY);
  lockc_lock_free(lock);
  lockc_client_close(other);
}

static void uncontended_pair_costs_two_requests(void **state) {
  enum { PAIRS = 50 };
  struct rig *rig = *state;
  const lockc_acquire_options opts = options_with(0, 1000);
  assert_status(try_key(rig->client, rig->key), LOCKC_OK); /* connects and loads the scripts */
  assert_within(2000, !raw_exists(rig->raw, rig->key));
  const long long scripts = raw_script_calls(rig->raw);
  const long long subscribes = raw_calls(rig->raw, "subscribe");
  for (int i = 0; i < PAIRS; ++i) {
    lockc_lock *lock = must_acquire(rig->client, rig->key, &opts);
    assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
    lockc_lock_free(lock);
  }
  assert_int_equal(raw_script_calls(rig->raw) - scripts, 2 * PAIRS);
  assert_int_equal(raw_calls(rig->raw, "subscribe"), subscribes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      with_rig(grant_is_the_owner_value_at_the_key),
      with_rig(held_key_is_busy_for_the_same_client_and_for_another),
      with_rig(busy_answer_sets_the_output_to_null),
      with_rig(plain_set_of_another_library_is_respected),
      with_rig(tokens_increase_over_all_clients),
      with_rig(owner_value_is_new_for_every_grant),
      with_rig(unfenced_lock_has_no_token_and_still_excludes),
      with_rig(every_key_at_the_server_expires),
      with_rig(same_owner_enters_again_without_a_command),
      with_rig(re_entry_may_be_left_in_any_order),
      with_rig(owner_number_is_of_one_client_only),
      with_rig(uncontended_pair_costs_two_requests),
  };
  return cmocka_run_group_tests_name("acquire", tests, NULL, NULL);
}
