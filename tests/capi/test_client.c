/* Client: opening, connecting, closing; statuses, errors and inspection. */
#include <unistd.h>

#include "fixture.h"
#include "server.h"

static void version_and_names_are_those_of_the_header(void **state) {
  (void)state;
  assert_int_equal(lockc_version(),
                   LOCKC_VERSION_MAJOR << 16 | LOCKC_VERSION_MINOR << 8 | LOCKC_VERSION_PATCH);
  const struct {
    lockc_status status;
    const char *name;
  } names[] = {
      {LOCKC_OK, "OK"},
      {LOCKC_BUSY, "BUSY"},
      {LOCKC_TIMEOUT, "TIMEOUT"},
      {LOCKC_CANCELLED, "CANCELLED"},
      {LOCKC_NOT_HELD, "NOT_HELD"},
      {LOCKC_LOST, "LOST"},
      {LOCKC_PENDING, "PENDING"},
      {LOCKC_E_INVALID, "E_INVALID"},
      {LOCKC_E_CLOSED, "E_CLOSED"},
      {LOCKC_E_NOMEM, "E_NOMEM"},
      {LOCKC_E_UNREACHABLE, "E_UNREACHABLE"},
      {LOCKC_E_UNCERTAIN, "E_UNCERTAIN"},
      {LOCKC_E_SERVER, "E_SERVER"},
      {LOCKC_E_DENIED, "E_DENIED"},
      {LOCKC_E_WRONG_TYPE, "E_WRONG_TYPE"},
      {LOCKC_E_SERVER_OOM, "E_SERVER_OOM"},
      {LOCKC_E_UNSUPPORTED, "E_UNSUPPORTED"},
      {LOCKC_E_LIMIT, "E_LIMIT"},
      {LOCKC_E_FORKED, "E_FORKED"},
      {LOCKC_E_INTERNAL, "E_INTERNAL"},
      {LOCKC_E_READONLY, "E_READONLY"},
      {LOCKC_E_NOT_READY, "E_NOT_READY"},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    assert_string_equal(lockc_status_name(names[i].status), names[i].name);
  }
  assert_non_null(lockc_status_name(4711));
}

static void open_sends_nothing(void **state) {
  (void)state;
  char url[64];
  snprintf(url, sizeof url, "redis://127.0.0.1:%d", closed_port());
  lockc_client_close(open_client(url, NULL));
}

static void open_without_url_uses_the_environment(void **state) {
  struct rig *rig = *state;
  lockc_client *client = open_client(NULL, NULL);
  lockc_lock *lock = must_acquire(client, rig->key, NULL);
  assert_true(raw_exists(rig->raw, rig->key));
  lockc_lock_free(lock);
  lockc_client_close(client);
}

static void malformed_url_is_invalid_and_never_shows_its_password(void **state) {
  (void)state;
  const char *const urls[] = {
      "localhost:6379",
      "http://localhost",
      "redis:/localhost",
      "redis://:s3cret@localhost:port",
      "redis://user:s3cret@localhost:0",
      "redis://user:s3cret@localhost:65536",
      "redis://user:s3cret@localhost:-1",
      "redis://user:s3cret@localhost/zero",
      "redis://user:s3cret@localhost/-1",
      "redis://user:s3cret@[::1",
      "redis://user:s3cret%@localhost",
      "redis://user:s3cret%zz@localhost",
      "unix://",
      "unix:///tmp/socket?db=x",
      "s3cret://user:s3cret@localhost",
  };
  for (size_t i = 0; i < sizeof urls / sizeof *urls; ++i) {
    lockc_client *client = (lockc_client *)-1;
    lockc_error *err = NULL;
    const lockc_status status = lockc_client_open(&client, urls[i], NULL, &err);
    if (status != LOCKC_E_INVALID) fail_msg("\"%s\": %s", urls[i], lockc_status_name(status));
    assert_null(client);
    assert_null(strstr(lockc_error_message(err), "s3cret@"));
    assert_error(err, LOCKC_E_INVALID, "");
  }
}

static void tls_url_is_unsupported(void **state) {
  (void)state;
  lockc_client *client = NULL;
  lockc_error *err = NULL;
  assert_status(lockc_client_open(&client, "rediss://localhost", NULL, &err), LOCKC_E_UNSUPPORTED);
  assert_error(err, LOCKC_E_UNSUPPORTED, "rediss");
}

static void url_selects_the_database(void **state) {
  struct rig *rig = *state;
  char url[80];
  snprintf(url, sizeof url, "%s/3", rig->url);
  lockc_client *client = open_client(url, NULL);
  lockc_lock *lock = must_acquire(client, rig->key, NULL);
  assert_false(raw_exists(rig->raw, rig->key));
  raw_do(rig->raw, "SELECT 3");
  assert_true(raw_exists(rig->raw, rig->key));
  lockc_lock_free(lock);
  lockc_client_close(client);
}

static void unix_socket_serves_as_well(void **state) {
  (void)state;
  char path[64];
  char url[80];
  snprintf(path, sizeof path, "/tmp/lockc-test-%d.sock", closed_port());
  snprintf(url, sizeof url, "unix://%s?db=1", path);
  const char *const arguments[] = {"--unixsocket", path, NULL};
  struct server *server = server_start(arguments);
  lockc_client *client = open_client(url, NULL);
  /* A server that answers by TCP may not listen on its socket yet. */
  const lockc_acquire_options patient = {.struct_size = sizeof patient, .wait_ms = 5000};
  lockc_lock_free(must_acquire(client, "key", &patient));
  lockc_client_close(client);
  server_stop(server);
  unlink(path);
}

static void connect_reaches_the_server(void **state) {
  struct rig *rig = *state;
  assert_status(lockc_client_connect(rig->client, 2000, NULL), LOCKC_OK);
  assert_status(lockc_client_connect(rig->client, 0, NULL), LOCKC_OK);
}

static void connect_with_a_negative_time_is_invalid(void **state) {
  struct rig *rig = *state;
  lockc_error *err = NULL;
  assert_status(lockc_client_connect(rig->client, -1, &err), LOCKC_E_INVALID);
  assert_error(err, LOCKC_E_INVALID, "timeout");
}

static void connections_carry_the_client_name(void **state) {
  struct rig *rig = *state;
  const lockc_client_options opts = {.struct_size = sizeof opts, .client_name = "billing"};
  lockc_client *client = open_client(rig->url, &opts);
  assert_status(lockc_client_connect(client, 2000, NULL), LOCKC_OK);
  char *list = raw_text(rig->raw, "CLIENT LIST");
  const char *name = strstr(list, " name=lockc:");
  while (name != NULL && strstr(name, ":billing ") == NULL) name = strstr(name + 1, " name=lockc:");
  assert_non_null(name);
  free(list);
  lockc_client_close(client);
}

static void close_releases_what_is_held(void **state) {
  struct rig *rig = *state;
  lockc_client *client = open_client(rig->url, NULL);
  lockc_lock *lock = must_acquire(client, rig->key, NULL);
  lockc_client_close(client);
  assert_false(raw_exists(rig->raw, rig->key));
  assert_int_equal(lockc_lock_remaining_ms(lock), 0);
  assert_int_equal(lockc_lock_lost_reason(lock), LOCKC_LOST_CLOSED);
  lockc_error *err = NULL;
  assert_status(lockc_lock_extend(lock, 1000, &err), LOCKC_E_CLOSED);
  assert_error(err, LOCKC_E_CLOSED, "");
  assert_status(lockc_lock_release(lock, NULL), LOCKC_E_CLOSED);
  assert_status(lockc_lock_release_nowait(lock, NULL), LOCKC_E_CLOSED);
  lockc_lock_free(lock);
}

static void close_of_a_client_that_never_reached_its_server_is_quick(void **state) {
  (void)state;
  int port = 0;
  const int fd = black_hole(&port);
  char url[64];
  snprintf(url, sizeof url, "redis://127.0.0.1:%d", port);
  const lockc_client_options opts = {.struct_size = sizeof opts, .connect_timeout_ms = 100};
  lockc_client *client = open_client(url, &opts);
  assert_status(lockc_client_connect(client, 50, NULL), LOCKC_E_UNREACHABLE);
  const int64_t start = now_ms();
  lockc_client_close(client);
  assert_between(now_ms() - start, 0, 1000 + TOLERANCE_MS);
  close(fd);
}

static void many_clients_live_side_by_side(void **state) {
  struct rig *rig = *state;
  for (int i = 0; i < 100; ++i) {
    lockc_client *client = open_client(rig->url, NULL);
    lockc_lock *lock = must_acquire(client, rig->key, NULL);
    assert_status(try_key(rig->client, rig->key), LOCKC_BUSY);
    assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
    lockc_lock_free(lock);
    lockc_client_close(client);
  }
}

static void inspect_shows(struct rig *rig, const char *part) {
  lockc_text *text = NULL;
  assert_status(lockc_client_inspect(&text, rig->client, rig->key, strlen(rig->key), NULL),
                LOCKC_OK);
  if (strstr(lockc_text_data(text), part) == NULL) {
    fail_msg("no %s in %s", part, lockc_text_data(text));
  }
  lockc_text_free(text);
}

static void inspect_tells_the_state_of_a_key(void **state) {
  struct rig *rig = *state;
  inspect_shows(rig, "free");
  /* A fair grant has one token; others have a block, of which the server knows the last. */
  const lockc_acquire_options fair = {.struct_size = sizeof fair, .kind = LOCKC_FAIR};
  lockc_lock *lock = must_acquire(rig->client, rig->key, &fair);
  char token[32];
  snprintf(token, sizeof token, "%llu", (unsigned long long)lockc_lock_token(lock));
  inspect_shows(rig, "held");
  inspect_shows(rig, token);
  inspect_shows(rig, lockc_lock_owner(lock));
  lockc_lock_free(lock);
  raw_do(rig->raw, "SET %s somebody PX 60000", rig->key);
  inspect_shows(rig, "foreign");
  raw_do(rig->raw, "SET %s somebody", rig->key);
  inspect_shows(rig, "zombie");
  raw_do(rig->raw, "DEL %s", rig->key);
  raw_do(rig->raw, "LPUSH %s a", rig->key);
  inspect_shows(rig, "other");
  raw_do(rig->raw, "DEL %s", rig->key);
  const lockc_write_options with_ttl = {.struct_size = sizeof with_ttl, .ttl_ms = 60000};
  assert_status(
      lockc_client_write(NULL, rig->client, rig->key, strlen(rig->key), "v", 1, &with_ttl, NULL),
      LOCKC_OK);
  inspect_shows(rig, "record");
}

static lockc_error *error_of_a_bad_ttl(const struct rig *rig) {
  const lockc_acquire_options opts = options_with(1, 0);
  lockc_error *err = NULL;
  assert_status(acquire_status(rig->client, rig->key, &opts, &err), LOCKC_E_INVALID);
  return err;
}

static lockc_text *text_of_the_key(const struct rig *rig) {
  lockc_text *text = NULL;
  assert_status(lockc_client_inspect(&text, rig->client, rig->key, strlen(rig->key), NULL),
                LOCKC_OK);
  return text;
}

static void texts_live_as_long_as_what_they_are_of(void **state) {
  struct rig *rig = *state;
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  lockc_error *err = error_of_a_bad_ttl(rig);
  lockc_text *text = text_of_the_key(rig);
  const char *const texts[] = {lockc_lock_owner(lock), lockc_error_message(err),
                               lockc_text_data(text)};
  char *copies[3];
  for (int i = 0; i < 3; ++i) copies[i] = strdup(texts[i]);
  assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
  for (int i = 0; i < 10; ++i) {
    lockc_lock_free(must_acquire(rig->client, rig->key, &kForever));
    lockc_error_free(error_of_a_bad_ttl(rig));
    lockc_text_free(text_of_the_key(rig));
  }
  lockc_client_close(rig->client);
  rig->client = NULL;
  for (int i = 0; i < 3; ++i) {
    assert_true(strlen(copies[i]) > 0);
    assert_string_equal(texts[i], copies[i]);
    free(copies[i]);
  }
  lockc_text_free(text);
  lockc_error_free(err);
  lockc_lock_free(lock);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(version_and_names_are_those_of_the_header),
      cmocka_unit_test(open_sends_nothing),
      with_rig(open_without_url_uses_the_environment),
      cmocka_unit_test(malformed_url_is_invalid_and_never_shows_its_password),
      cmocka_unit_test(tls_url_is_unsupported),
      with_rig(url_selects_the_database),
      cmocka_unit_test(unix_socket_serves_as_well),
      with_rig(connect_reaches_the_server),
      with_rig(connect_with_a_negative_time_is_invalid),
      with_rig(connections_carry_the_client_name),
      with_rig(close_releases_what_is_held),
      cmocka_unit_test(close_of_a_client_that_never_reached_its_server_is_quick),
      with_rig(many_clients_live_side_by_side),
      with_rig(inspect_tells_the_state_of_a_key),
      with_rig(texts_live_as_long_as_what_they_are_of),
  };
  return cmocka_run_group_tests_name("client", tests, NULL, NULL);
}
