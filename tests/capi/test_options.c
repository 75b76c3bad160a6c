/* Options: older and newer structs, defaults, the ends of each range, keys. */
#include "fixture.h"

enum { MAX_KEY = 4096 };
static const int64_t kYearMs = 365LL * 24 * 3600 * 1000;

/* Today's struct as a caller of a later version would have it: longer. */
struct newer_client_options {
  lockc_client_options today;
  uint64_t later;
};
struct newer_acquire_options {
  lockc_acquire_options today;
  uint64_t later;
};

static void check_open(const lockc_client_options *opts, lockc_status expected, const char *part,
                       int line) {
  lockc_client *client = NULL;
  lockc_error *err = NULL;
  const lockc_status status = lockc_client_open(&client, suite_url(), opts, &err);
  lockc_client_close(client);
  check_status(status, expected, "lockc_client_open", __FILE__, line);
  if (expected < 0) check_error(err, expected, part, __FILE__, line);
}
#define assert_open(opts, expected, part) check_open((opts), (expected), (part), __LINE__)

static void check_acquire(struct rig *rig, const lockc_acquire_options *opts, lockc_status expected,
                          const char *part, int line) {
  lockc_error *err = NULL;
  const lockc_status status = acquire_status(rig->client, rig->key, opts, &err);
  check_status(status, expected, "lockc_client_acquire", __FILE__, line);
  if (expected < 0) check_error(err, expected, part, __FILE__, line);
  assert_within(1000, !raw_exists(rig->raw, rig->key));
}
#define assert_acquire(rig, opts, expected, part) \
  check_acquire((rig), (opts), (expected), (part), __LINE__)

static void zeroed_client_options_are_the_defaults(void **state) {
  (void)state;
  const lockc_client_options opts = {.struct_size = sizeof opts};
  assert_open(&opts, LOCKC_OK, "");
}

static void older_client_options_are_not_read_beyond_their_end(void **state) {
  (void)state;
  lockc_client_options opts;
  memset(&opts, 0xff, sizeof opts);
  opts.struct_size = offsetof(lockc_client_options, reply_timeout_ms);
  opts.connect_timeout_ms = 1000;
  assert_open(&opts, LOCKC_OK, "");
  opts.struct_size = offsetof(lockc_client_options, key_prefix);
  opts.reply_timeout_ms = 1000;
  assert_open(&opts, LOCKC_OK, "");
}

static void newer_client_options_may_ask_for_nothing_unknown(void **state) {
  (void)state;
  struct newer_client_options opts = {.today = {.struct_size = sizeof opts}};
  assert_open(&opts.today, LOCKC_OK, "");
  opts.later = 1ull << 63;
  assert_open(&opts.today, LOCKC_E_INVALID, "lockc_client_options");
}

static void client_options_without_a_size_are_invalid(void **state) {
  (void)state;
  const lockc_client_options opts = {.struct_size = 0};
  assert_open(&opts, LOCKC_E_INVALID, "struct_size");
}

static void client_options_that_end_inside_a_pointer_are_invalid(void **state) {
  (void)state;
  const lockc_client_options opts = {.struct_size = offsetof(lockc_client_options, key_prefix) + 4,
                                     .key_prefix = "app:"};
  assert_open(&opts, LOCKC_E_INVALID, "struct_size");
}

/* Whether a struct with this one member is taken; a refusal names it. */
#define assert_client_option(member, value, expected)                                    \
  do {                                                                                   \
    const lockc_client_options opts_ = {.struct_size = sizeof opts_, .member = (value)}; \
    assert_open(&opts_, (expected), #member);                                            \
  } while (0)

static void client_options_hold_to_their_ranges(void **state) {
  (void)state;
  assert_client_option(connect_timeout_ms, 1, LOCKC_OK);
  assert_client_option(connect_timeout_ms, UINT32_MAX, LOCKC_E_INVALID);
  assert_client_option(reply_timeout_ms, 1, LOCKC_OK);
  assert_client_option(reply_timeout_ms, UINT32_MAX, LOCKC_E_INVALID);
  assert_client_option(default_ttl_ms, -1, LOCKC_E_INVALID);
  assert_client_option(default_ttl_ms, 9, LOCKC_E_INVALID);
  assert_client_option(default_ttl_ms, 10, LOCKC_OK);
  assert_client_option(default_ttl_ms, kYearMs, LOCKC_OK);
  assert_client_option(default_ttl_ms, kYearMs + 1, LOCKC_E_INVALID);
  assert_client_option(default_ttl_ms, INT64_MAX, LOCKC_E_INVALID);
  assert_client_option(renew_every_ms, -1, LOCKC_E_INVALID);
  assert_client_option(renew_every_ms, 15000, LOCKC_OK);
  assert_client_option(renew_every_ms, 15001, LOCKC_E_INVALID);
  assert_client_option(fence_retention_ms, -1, LOCKC_E_INVALID);
  assert_client_option(fence_retention_ms, 60000, LOCKC_OK);
  assert_client_option(fence_retention_ms, INT64_MAX, LOCKC_E_INVALID);
  assert_client_option(renew_batch, 1, LOCKC_OK);
  assert_client_option(renew_batch, 1000, LOCKC_OK);
  assert_client_option(renew_batch, 1001, LOCKC_E_INVALID);
  assert_client_option(handover_max, 1, LOCKC_OK);
  assert_client_option(handover_max, 1000, LOCKC_OK);
  assert_client_option(handover_max, 1001, LOCKC_E_INVALID);
  assert_client_option(spin_min_ms, 1000, LOCKC_OK);     /* takes the upper end along */
  assert_client_option(spin_max_ms, 1, LOCKC_E_INVALID); /* below the lower end's default */
}

static void client_name_must_be_printable(void **state) {
  (void)state;
  char long_name[300];
  memset(long_name, 'n', sizeof long_name - 1);
  long_name[sizeof long_name - 1] = '\0';
  assert_client_option(client_name, "billing-7", LOCKC_OK);
  assert_client_option(client_name, "bill ing", LOCKC_E_INVALID);
  assert_client_option(client_name, "bill\r\ning", LOCKC_E_INVALID);
  assert_client_option(client_name, long_name, LOCKC_E_INVALID);
}

static void prefix_must_leave_room_for_a_key(void **state) {
  (void)state;
  char prefix[MAX_KEY + 1];
  memset(prefix, 'p', sizeof prefix);
  prefix[MAX_KEY] = '\0';
  assert_client_option(key_prefix, prefix, LOCKC_E_INVALID);
  assert_client_option(key_prefix, prefix + 1, LOCKC_OK);
}

static void zeroed_acquire_options_are_one_try_with_the_defaults(void **state) {
  struct rig *rig = *state;
  const lockc_acquire_options opts = {.struct_size = sizeof opts};
  lockc_lock *lock = must_acquire(rig->client, rig->key, &opts);
  assert_between(raw_pttl(rig->raw, rig->key), 25000, 30000);
  assert_between(lockc_lock_remaining_ms(lock), 25000, 30000);
  assert_true(lockc_lock_token(lock) > 0);
  assert_status(acquire_status(rig->client, rig->key, &opts, NULL), LOCKC_BUSY);
  lockc_lock_free(lock);
}

static void older_acquire_options_are_not_read_beyond_their_end(void **state) {
  struct rig *rig = *state;
  lockc_acquire_options opts;
  memset(&opts, 0xff, sizeof opts);
  opts.struct_size = offsetof(lockc_acquire_options, max_hold_ms);
  opts.flags = 0;
  opts.kind = LOCKC_EXCLUSIVE;
  opts.max_tries = 0;
  opts.ttl_ms = 5000;
  opts.wait_ms = 0;
  assert_acquire(rig, &opts, LOCKC_OK, "");
}

static void newer_acquire_options_may_ask_for_nothing_unknown(void **state) {
  struct rig *rig = *state;
  struct newer_acquire_options opts = {.today = {.struct_size = sizeof opts}};
  assert_acquire(rig, &opts.today, LOCKC_OK, "");
  opts.later = 1;
  assert_acquire(rig, &opts.today, LOCKC_E_INVALID, "lockc_acquire_options");
}

static void acquire_options_without_a_size_are_invalid(void **state) {
  struct rig *rig = *state;
  const lockc_acquire_options opts = {.struct_size = 0};
  assert_acquire(rig, &opts, LOCKC_E_INVALID, "struct_size");
}

#define assert_acquire_option(member, value, expected, part)                              \
  do {                                                                                    \
    const lockc_acquire_options opts_ = {.struct_size = sizeof opts_, .member = (value)}; \
    assert_acquire(rig, &opts_, (expected), (part));                                      \
  } while (0)

static void acquire_options_hold_to_their_ranges(void **state) {
  struct rig *rig = *state;
  assert_acquire_option(ttl_ms, -1, LOCKC_E_INVALID, "ttl");
  assert_acquire_option(ttl_ms, 9, LOCKC_E_INVALID, "ttl");
  assert_acquire_option(ttl_ms, 10, LOCKC_OK, "");
  assert_acquire_option(ttl_ms, kYearMs, LOCKC_OK, "");
  assert_acquire_option(ttl_ms, kYearMs + 1, LOCKC_E_INVALID, "ttl");
  assert_acquire_option(ttl_ms, INT64_MAX, LOCKC_E_INVALID, "ttl");
  assert_acquire_option(wait_ms, -2, LOCKC_E_INVALID, "wait");
  assert_acquire_option(wait_ms, INT64_MIN, LOCKC_E_INVALID, "wait");
  assert_acquire_option(wait_ms, LOCKC_WAIT_FOREVER, LOCKC_OK, "");
  assert_acquire_option(wait_ms, 1ll << 31, LOCKC_OK, "");
  assert_acquire_option(wait_ms, INT64_MAX, LOCKC_OK, "");
  assert_acquire_option(max_hold_ms, -1, LOCKC_E_INVALID, "max_hold");
  assert_acquire_option(max_hold_ms, INT64_MAX, LOCKC_OK, "");
  assert_acquire_option(kind, -1, LOCKC_E_INVALID, "kind");
  assert_acquire_option(kind, 2, LOCKC_E_UNSUPPORTED, "kind");
  assert_acquire_option(flags, 0x20, LOCKC_E_INVALID, "flags");
  assert_acquire_option(flags, 0x80000000u, LOCKC_E_INVALID, "flags");
  assert_acquire_option(flags, LOCKC_RENEW | LOCKC_NO_RENEW, LOCKC_E_INVALID, "LOCKC_RENEW");
  assert_acquire_option(max_tries, 3, LOCKC_E_INVALID, "max_tries"); /* without LOCKC_SPIN */
}

static void options_that_exclude_each_other_are_invalid(void **state) {
  struct rig *rig = *state;
  const lockc_acquire_options fair_spin = {
      .struct_size = sizeof fair_spin, .flags = LOCKC_SPIN, .kind = LOCKC_FAIR};
  assert_acquire(rig, &fair_spin, LOCKC_E_INVALID, "fair");
  const lockc_acquire_options unfenced_owner = {
      .struct_size = sizeof unfenced_owner, .flags = LOCKC_UNFENCED, .owner = 1};
  assert_acquire(rig, &unfenced_owner, LOCKC_E_INVALID, "owner");
}

static void events_must_go_to_a_queue_of_the_same_client(void **state) {
  struct rig *rig = *state;
  lockc_client *other = open_client(rig->url, NULL);
  lockc_queue *queue = open_queue(other);
  assert_acquire_option(events, queue, LOCKC_E_INVALID, "events");
  lockc_queue_close(queue);
  lockc_client_close(other);
}

static lockc_status try_bytes(struct rig *rig, const char *key, size_t size) {
  lockc_lock *lock = NULL;
  lockc_error *err = NULL;
  const lockc_status status = lockc_client_acquire(&lock, rig->client, key, size, NULL, &err);
  if (status == LOCKC_E_INVALID) {
    assert_error(err, status, "key");
  } else {
    assert_null(err);
    assert_int_equal(raw_integer(rig->raw, "EXISTS %b", key, size), 1);
  }
  if (lock != NULL) assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
  lockc_lock_free(lock);
  return status;
}

static void keys_are_any_bytes_within_the_limits(void **state) {
  struct rig *rig = *state;
  char longest[MAX_KEY + 1];
  memset(longest, 'k', sizeof longest);
  assert_status(try_bytes(rig, "", 0), LOCKC_E_INVALID);
  assert_status(try_bytes(rig, longest, MAX_KEY + 1), LOCKC_E_INVALID);
  assert_status(try_bytes(rig, "lockc:", 6), LOCKC_E_INVALID);
  assert_status(try_bytes(rig, "lockc:{k}:fence:k", 17), LOCKC_E_INVALID);
  assert_status(try_bytes(rig, longest, MAX_KEY), LOCKC_OK);
  assert_status(try_bytes(rig, "k", 1), LOCKC_OK);
  assert_status(try_bytes(rig, "a\0b", 3), LOCKC_OK);
  assert_status(try_bytes(rig, "\r\n$5\r\n%s ]] \"'\xff", 14), LOCKC_OK);
  assert_status(try_bytes(rig, "{}", 2), LOCKC_OK);
  assert_status(try_bytes(rig, "a}b", 3), LOCKC_OK);
  assert_status(try_bytes(rig, "}{", 2), LOCKC_OK);
  assert_status(try_bytes(rig, "{a}{b}", 6), LOCKC_OK);
}

static void prefix_is_put_before_every_key(void **state) {
  struct rig *rig = *state;
  char longest[MAX_KEY];
  memset(longest, 'k', sizeof longest);
  const lockc_client_options opts = {.struct_size = sizeof opts, .key_prefix = "lock:"};
  lockc_client *client = open_client(rig->url, &opts);
  lockc_lock *lock = must_acquire(client, rig->key, NULL);
  assert_false(raw_exists(rig->raw, rig->key));
  assert_int_equal(raw_integer(rig->raw, "EXISTS lock:%s", rig->key), 1);
  lockc_lock_free(lock);
  assert_status(lockc_client_acquire(&lock, client, longest, sizeof longest, NULL, NULL),
                LOCKC_E_INVALID);
  assert_status(lockc_client_acquire(&lock, client, longest, sizeof longest - 5, NULL, NULL),
                LOCKC_OK);
  lockc_lock_free(lock);
  lockc_client_close(client);
}

static void inputs_are_copied_during_the_call(void **state) {
  struct rig *rig = *state;
  char prefix[] = "lock:";
  char key[sizeof rig->key];
  lockc_client_options *opts = calloc(1, sizeof *opts);
  opts->struct_size = sizeof *opts;
  opts->key_prefix = prefix;
  lockc_client *client = open_client(rig->url, opts);
  memset(prefix, 'x', sizeof prefix - 1);
  free(opts);
  lockc_queue *queue = open_queue(client);
  memcpy(key, rig->key, sizeof key);
  assert_status(lockc_queue_acquire(queue, 1, NULL, key, strlen(key), NULL, NULL), LOCKC_PENDING);
  memset(key, 'y', sizeof key);
  const lockc_completion completion = next_completion(queue, 2000);
  assert_status(completion.status, LOCKC_OK);
  assert_int_equal(raw_integer(rig->raw, "EXISTS lock:%s", rig->key), 1);
  lockc_lock_free(completion.lock);
  lockc_queue_close(queue);
  lockc_client_close(client);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(zeroed_client_options_are_the_defaults),
      cmocka_unit_test(older_client_options_are_not_read_beyond_their_end),
      cmocka_unit_test(newer_client_options_may_ask_for_nothing_unknown),
      cmocka_unit_test(client_options_without_a_size_are_invalid),
      cmocka_unit_test(client_options_that_end_inside_a_pointer_are_invalid),
      cmocka_unit_test(client_options_hold_to_their_ranges),
      cmocka_unit_test(client_name_must_be_printable),
      cmocka_unit_test(prefix_must_leave_room_for_a_key),
      with_rig(zeroed_acquire_options_are_one_try_with_the_defaults),
      with_rig(older_acquire_options_are_not_read_beyond_their_end),
      with_rig(newer_acquire_options_may_ask_for_nothing_unknown),
      with_rig(acquire_options_without_a_size_are_invalid),
      with_rig(acquire_options_hold_to_their_ranges),
      with_rig(options_that_exclude_each_other_are_invalid),
      with_rig(events_must_go_to_a_queue_of_the_same_client),
      with_rig(keys_are_any_bytes_within_the_limits),
      with_rig(prefix_is_put_before_every_key),
      with_rig(inputs_are_copied_during_the_call),
  };
  return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
