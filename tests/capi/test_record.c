/* Records: writing and reading, what refuses a write, and what trouble leaves behind. */
#include "fixture.h"
#include "server.h"

static const int64_t kYearMs = 365LL * 24 * 3600 * 1000;
static const uint64_t kNumberEnd = 1ull << 53;

static lockc_status write_text(const struct rig *rig, const char *text,
                               const lockc_write_options *opts, uint64_t *version) {
  return lockc_client_write(version, rig->client, rig->key, strlen(rig->key), text, strlen(text),
                            opts, NULL);
}

static lockc_record *must_read(const struct rig *rig) {
  lockc_record *record = NULL;
  assert_status(lockc_client_read(&record, rig->client, rig->key, strlen(rig->key), NULL),
                LOCKC_OK);
  assert_non_null(record);
  return record;
}

static void assert_holds(const struct rig *rig, const char *text, uint64_t version,
                         uint64_t token) {
  lockc_record *record = must_read(rig);
  size_t size = 0;
  assert_string_equal(lockc_record_value(record, &size), text);
  assert_int_equal(size, strlen(text));
  assert_int_equal(lockc_record_version(record), version);
  assert_int_equal(lockc_record_token(record), token);
  lockc_record_free(record);
}

static lockc_write_options fenced(uint64_t token) {
  return (lockc_write_options){.struct_size = sizeof(lockc_write_options), .token = token};
}

static lockc_write_options if_version(uint64_t version) {
  return (lockc_write_options){
      .struct_size = sizeof(lockc_write_options), .flags = LOCKC_IF_VERSION, .version = version};
}

static void what_was_written_is_read(void **state) {
  struct rig *rig = *state;
  assert_holds(rig, "", 0, 0);
  uint64_t version = 0;
  const lockc_write_options opts = fenced(42);
  assert_status(write_text(rig, "text", &opts, &version), LOCKC_OK);
  assert_true(version > 0);
  assert_holds(rig, "text", version, 42);
  assert_status(write_text(rig, "", NULL, NULL), LOCKC_OK);
  lockc_record *record = must_read(rig);
  assert_string_equal(lockc_record_value(record, NULL), "");
  assert_true(lockc_record_version(record) > version);
  assert_int_equal(lockc_record_token(record), 42);
  lockc_record_free(record);
}

static void largest_value_goes_through_and_one_byte_more_is_invalid(void **state) {
  struct rig *rig = *state;
  const lockc_client_options patient = {.struct_size = sizeof patient, .reply_timeout_ms = 20000};
  lockc_client *client = open_client(rig->url, &patient);
  const size_t key_size = strlen(rig->key);
  const size_t size = LOCKC_RECORD_MAX_VALUE;
  char *value = malloc(size + 1);
  for (size_t i = 0; i <= size; ++i) value[i] = (char)(i * 31 >> 3);
  lockc_error *err = NULL;
  assert_status(lockc_client_write(NULL, client, rig->key, key_size, value, size, NULL, NULL),
                LOCKC_OK);
  lockc_record *record = NULL;
  assert_status(lockc_client_read(&record, client, rig->key, key_size, NULL), LOCKC_OK);
  size_t read = 0;
  const char *bytes = lockc_record_value(record, &read);
  assert_int_equal(read, size);
  assert_true(memcmp(bytes, value, size) == 0);
  lockc_record_free(record);
  assert_status(lockc_client_write(NULL, client, rig->key, key_size, value, size + 1, NULL, &err),
                LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "8388608");
  free(value);
  lockc_client_close(client);
}

static void smaller_token_is_stale(void **state) {
  struct rig *rig = *state;
  uint64_t version = 0, none = 1;
  lockc_write_options opts = fenced(42);
  assert_status(write_text(rig, "new", &opts, &version), LOCKC_OK);
  opts = fenced(41);
  assert_status(write_text(rig, "late", &opts, &none), LOCKC_STALE);
  assert_int_equal(none, 0);
  assert_holds(rig, "new", version, 42);
}

static void other_version_is_a_conflict(void **state) {
  struct rig *rig = *state;
  uint64_t first = 0, second = 0, none = 1;
  lockc_write_options opts = if_version(0);
  assert_status(write_text(rig, "first", &opts, &first), LOCKC_OK);
  assert_status(write_text(rig, "x", &opts, NULL), LOCKC_CONFLICT);
  opts = if_version(first);
  assert_status(write_text(rig, "second", &opts, &second), LOCKC_OK);
  assert_true(second > first);
  assert_status(write_text(rig, "third", &opts, &none), LOCKC_CONFLICT);
  assert_int_equal(none, 0);
  assert_holds(rig, "second", second, 0);
}

static void expiry_is_set_only_when_asked(void **state) {
  struct rig *rig = *state;
  lockc_write_options opts = fenced(0);
  assert_status(write_text(rig, "v", &opts, NULL), LOCKC_OK);
  assert_int_equal(raw_pttl(rig->raw, rig->key), -1);
  opts.ttl_ms = 60000;
  assert_status(write_text(rig, "v", &opts, NULL), LOCKC_OK);
  assert_between(raw_pttl(rig->raw, rig->key), 50000, 60000);
}

static void check_invalid(struct rig *rig, const lockc_write_options *opts, const char *part,
                          int line) {
  lockc_error *err = NULL;
  check_status(
      lockc_client_write(NULL, rig->client, rig->key, strlen(rig->key), "v", 1, opts, &err),
      LOCKC_E_INVALID, "lockc_client_write", __FILE__, line);
  check_error(err, LOCKC_E_INVALID, part, __FILE__, line);
}
#define assert_invalid(part, ...)                                                 \
  do {                                                                            \
    const lockc_write_options opts_ = {.struct_size = sizeof opts_, __VA_ARGS__}; \
    check_invalid(rig, &opts_, (part), __LINE__);                                 \
  } while (0)

static void bad_options_are_invalid_before_anything_is_sent(void **state) {
  struct rig *rig = *state;
  const lockc_write_options sizeless = {.token = 42};
  check_invalid(rig, &sizeless, "struct_size", __LINE__);
  assert_invalid("flags", .flags = LOCKC_IF_VERSION << 1);
  assert_invalid("LOCKC_IF_VERSION", .version = 7);
  assert_invalid("version", .flags = LOCKC_IF_VERSION, .version = kNumberEnd);
  assert_invalid("token", .token = kNumberEnd);
  assert_invalid("ttl", .ttl_ms = 9);
  assert_invalid("ttl", .ttl_ms = -1);
  assert_invalid("ttl", .ttl_ms = kYearMs + 1);
  assert_false(raw_exists(rig->raw, rig->key));

  const lockc_write_options largest = fenced(kNumberEnd - 1);
  assert_status(write_text(rig, "v", &largest, NULL), LOCKC_OK);
}

static void options_of_a_later_version_may_ask_for_nothing_unknown(void **state) {
  struct rig *rig = *state;
  struct {
    lockc_write_options today;
    uint64_t later;
  } opts = {.today = {.struct_size = sizeof opts}};
  assert_status(write_text(rig, "v", &opts.today, NULL), LOCKC_OK);
  opts.later = 1;
  check_invalid(rig, &opts.today, "lockc_write_options", __LINE__);
}

static void value_may_be_null_where_it_is_empty(void **state) {
  struct rig *rig = *state;
  const size_t size = strlen(rig->key);
  lockc_error *err = NULL;
  assert_status(lockc_client_write(NULL, rig->client, rig->key, size, NULL, 0, NULL, &err),
                LOCKC_OK);
  assert_status(lockc_client_write(NULL, rig->client, rig->key, size, NULL, 1, NULL, &err),
                LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "value");
}

static void keys_are_those_of_the_client(void **state) {
  struct rig *rig = *state;
  const lockc_client_options opts = {.struct_size = sizeof opts, .key_prefix = "test:prefix:"};
  lockc_client *client = open_client(rig->url, &opts);
  assert_status(lockc_client_write(NULL, client, "k", 1, "v", 1, NULL, NULL), LOCKC_OK);
  assert_true(raw_exists(rig->raw, "test:prefix:k"));
  lockc_client_close(client);
  lockc_error *err = NULL;
  assert_status(lockc_client_write(NULL, rig->client, "lockc:k", 7, "v", 1, NULL, &err),
                LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "lockc:");
}

static void what_is_no_record_is_told_and_left_alone(void **state) {
  struct rig *rig = *state;
  const size_t size = strlen(rig->key);
  const char *const commands[] = {"SET %s v", "HSET %s field v"};
  const char *const words[] = {"WRONGTYPE", "LOCKCRECORD"};
  for (size_t i = 0; i < 2; ++i) {
    raw_do(rig->raw, "DEL %s", rig->key);
    raw_do(rig->raw, commands[i], rig->key);
    lockc_record *record = NULL;
    lockc_error *err = NULL;
    assert_status(lockc_client_read(&record, rig->client, rig->key, size, &err),
                  LOCKC_E_WRONG_TYPE);
    assert_null(record);
    assert_error(err, LOCKC_E_WRONG_TYPE, words[i]);
    assert_status(lockc_client_write(NULL, rig->client, rig->key, size, "v", 1, NULL, &err),
                  LOCKC_E_WRONG_TYPE);
    assert_error(err, LOCKC_E_WRONG_TYPE, rig->key);
  }
  assert_int_equal(raw_integer(rig->raw, "HLEN %s", rig->key), 1);
}

static void value_beyond_the_bound_is_not_read_and_ends_no_connection(void **state) {
  struct rig *rig = *state;
  const size_t size = LOCKC_RECORD_MAX_VALUE + 1;
  char *value = calloc(1, size);
  raw_do(rig->raw, "HSET %s version 1 token 0 value %b", rig->key, value, size);
  free(value);
  lockc_lock *lock = must_acquire(rig->client, "test:record:bystander", NULL);
  lockc_record *record = NULL;
  lockc_error *err = NULL;
  assert_status(lockc_client_read(&record, rig->client, rig->key, strlen(rig->key), &err),
                LOCKC_E_WRONG_TYPE);
  assert_error(err, LOCKC_E_WRONG_TYPE, "8388608");
  assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
  lockc_lock_free(lock);
  assert_status(write_text(rig, "short", NULL, NULL), LOCKC_OK);
  raw_do(rig->raw, "DEL %s", rig->key);
}

static void lock_is_no_record(void **state) {
  struct rig *rig = *state;
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  assert_status(write_text(rig, "v", NULL, NULL), LOCKC_E_WRONG_TYPE);
  assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
  lockc_lock_free(lock);
}

static void scripts_that_the_server_forgot_are_sent_again(void **state) {
  struct rig *rig = *state;
  assert_status(write_text(rig, "v", NULL, NULL), LOCKC_OK);
  lockc_record_free(must_read(rig));
  raw_do(rig->raw, "SCRIPT FLUSH");
  assert_status(write_text(rig, "w", NULL, NULL), LOCKC_OK);
  lockc_record_free(must_read(rig));
}

static void write_without_an_answer_is_uncertain_and_a_read_tells_its_end(void **state) {
  (void)state;
  struct server *server = server_start(NULL);
  struct rig rig = {.client = open_client(server->url, NULL), .key = "key"};
  uint64_t version = 0, none = 1;
  assert_status(write_text(&rig, "first", NULL, &version), LOCKC_OK);
  server_freeze(server);
  const lockc_write_options expected = if_version(version);
  assert_status(write_text(&rig, "second", &expected, &none), LOCKC_E_UNCERTAIN);
  assert_int_equal(none, 0);
  server_thaw(server);
  assert_status(lockc_client_connect(rig.client, 5000, NULL), LOCKC_OK);
  lockc_record *record = must_read(&rig);
  const lockc_write_options next = if_version(lockc_record_version(record));
  lockc_record_free(record);
  assert_status(write_text(&rig, "third", &next, &version), LOCKC_OK);
  assert_holds(&rig, "third", version, 0);
  lockc_client_close(rig.client);
  server_stop(server);
}

static void no_connection_is_unreachable(void **state) {
  (void)state;
  char url[64];
  snprintf(url, sizeof url, "redis://127.0.0.1:%d", closed_port());
  struct rig rig = {.client = open_client(url, NULL), .key = "key"};
  lockc_record *record = NULL;
  assert_status(write_text(&rig, "v", NULL, NULL), LOCKC_E_UNREACHABLE);
  assert_status(lockc_client_read(&record, rig.client, "key", 3, NULL), LOCKC_E_UNREACHABLE);
  lockc_client_close(rig.client);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      with_rig(what_was_written_is_read),
      with_rig(largest_value_goes_through_and_one_byte_more_is_invalid),
      with_rig(smaller_token_is_stale),
      with_rig(other_version_is_a_conflict),
      with_rig(expiry_is_set_only_when_asked),
      with_rig(bad_options_are_invalid_before_anything_is_sent),
      with_rig(options_of_a_later_version_may_ask_for_nothing_unknown),
      with_rig(value_may_be_null_where_it_is_empty),
      with_rig(keys_are_those_of_the_client),
      with_rig(what_is_no_record_is_told_and_left_alone),
      with_rig(value_beyond_the_bound_is_not_read_and_ends_no_connection),
      with_rig(lock_is_no_record),
      with_rig(scripts_that_the_server_forgot_are_sent_again),
      cmocka_unit_test(write_without_an_answer_is_uncertain_and_a_read_tells_its_end),
      cmocka_unit_test(no_connection_is_unreachable),
  };
  return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
