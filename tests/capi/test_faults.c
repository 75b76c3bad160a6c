/* Trouble at the server or on the way to it: each kind has a status of its own, in bounded time. */
#include <unistd.h>

#include "fixture.h"
#include "server.h"

enum { CONNECT_MS = 300, REPLY_MS = 300 };

static lockc_client *hasty_client(const char *url, const char *username, const char *password) {
  const lockc_client_options opts = {.struct_size = sizeof opts,
                                     .connect_timeout_ms = CONNECT_MS,
                                     .reply_timeout_ms = REPLY_MS,
                                     .username = username,
                                     .password = password};
  return open_client(url, &opts);
}

static void assert_refused(lockc_client *client, int64_t wait_ms, lockc_status expected,
                           const char *part) {
  const lockc_acquire_options opts = options_with(0, wait_ms);
  lockc_error *err = NULL;
  assert_status(acquire_status(client, "key", &opts, &err), expected);
  assert_error(err, expected, part);
}

static void closed_port_is_unreachable_at_once_or_at_the_deadline(void **state) {
  (void)state;
  char url[64];
  snprintf(url, sizeof url, "redis://127.0.0.1:%d", closed_port());
  lockc_client *client = hasty_client(url, NULL, NULL);
  int64_t start = now_ms();
  assert_refused(client, 0, LOCKC_E_UNREACHABLE, "127.0.0.1");
  assert_between(now_ms() - start, 0, CONNECT_MS + TOLERANCE_MS);
  start = now_ms();
  assert_refused(client, 400, LOCKC_E_UNREACHABLE, "");
  assert_between(now_ms() - start, 399, 400 + TOLERANCE_MS);
  start = now_ms();
  assert_status(lockc_client_connect(client, 200, NULL), LOCKC_E_UNREACHABLE);
  assert_between(now_ms() - start, 0, 200 + TOLERANCE_MS);
  lockc_client_close(client);
}

static void silent_server_is_given_up_in_time(void **state) {
  (void)state;
  int port = 0;
  const int fd = black_hole(&port);
  char url[64];
  snprintf(url, sizeof url, "redis://127.0.0.1:%d", port);
  lockc_client *client = hasty_client(url, NULL, NULL);
  const int64_t waits[] = {0, 100, 1000};
  for (size_t i = 0; i < sizeof waits / sizeof *waits; ++i) {
    const lockc_acquire_options opts = options_with(0, waits[i]);
    const int64_t start = now_ms();
    const lockc_status status = acquire_status(client, "key", &opts, NULL);
    const int64_t bound = waits[i] > 0 ? waits[i] : CONNECT_MS + REPLY_MS;
    assert_true(status == LOCKC_E_UNREACHABLE || status == LOCKC_E_UNCERTAIN);
    assert_between(now_ms() - start, 0, bound + TOLERANCE_MS);
  }
  lockc_client_close(client);
  close(fd);
}

static void server_that_comes_back_within_the_wait_grants(void **state) {
  (void)state;
  struct server *server = server_start(NULL);
  lockc_client *client = hasty_client(server->url, NULL, NULL);
  assert_status(try_key(client, "key"), LOCKC_OK);
  const int port = server->port;
  server_stop(server);
  lockc_queue *queue = open_queue(client);
  const lockc_acquire_options opts = options_with(0, 10000);
  assert_status(lockc_queue_acquire(queue, 1, NULL, "key", 3, &opts, NULL), LOCKC_PENDING);
  assert_no_completion(queue, 300);
  server = server_start_at(port, NULL);
  lockc_lock_free(take_grant(queue, 1, 5000));
  lockc_queue_close(queue);
  lockc_client_close(client);
  server_stop(server);
}

static void unanswered_acquire_is_uncertain_and_undone(void **state) {
  (void)state;
  struct server *server = server_start(NULL);
  struct raw_redis *raw = raw_open_port(server->port, NULL);
  lockc_client *client = hasty_client(server->url, NULL, NULL);
  assert_status(try_key(client, "key"), LOCKC_OK);
  assert_within(1000, !raw_exists(raw, "key"));
  server_freeze(server);
  const int64_t start = now_ms();
  assert_refused(client, 0, LOCKC_E_UNCERTAIN, "");
  assert_between(now_ms() - start, REPLY_MS - 1, 2 * REPLY_MS + TOLERANCE_MS);
  server_thaw(server);
  assert_within(3000, raw_script_calls(raw) > 0 && !raw_exists(raw, "key"));
  assert_within(3000, try_key(client, "key") == LOCKC_OK);
  assert_within(3000, !raw_exists(raw, "key"));
  lockc_client_close(client);
  raw_close(raw);
  server_stop(server);
}

static void unanswered_release_is_uncertain_and_may_be_repeated(void **state) {
  (void)state;
  struct server *server = server_start(NULL);
  struct raw_redis *raw = raw_open_port(server->port, NULL);
  lockc_client *client = hasty_client(server->url, NULL, NULL);
  lockc_lock *lock = must_acquire(client, "key", NULL);
  lockc_error *err = NULL;
  server_freeze(server);
  assert_status(lockc_lock_release(lock, &err), LOCKC_E_UNCERTAIN);
  assert_error(err, LOCKC_E_UNCERTAIN, "");
  assert_int_equal(lockc_lock_remaining_ms(lock), 0);
  server_thaw(server);
  assert_within(3000, !raw_exists(raw, "key"));
  assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
  lockc_lock_free(lock);
  lockc_client_close(client);
  raw_close(raw);
  server_stop(server);
}

static void wrong_password_is_denied_and_never_shown(void **state) {
  (void)state;
  const char *const arguments[] = {"--requirepass", "right", NULL};
  struct server *server = server_start(arguments);
  const char *const passwords[] = {NULL, "wr0ng"};
  for (size_t i = 0; i < 2; ++i) {
    lockc_client *client = hasty_client(server->url, NULL, passwords[i]);
    lockc_error *err = NULL;
    assert_status(acquire_status(client, "key", NULL, &err), LOCKC_E_DENIED);
    assert_null(strstr(lockc_error_message(err), "wr0ng"));
    assert_error(err, LOCKC_E_DENIED, "");
    assert_refused(client, 5000, LOCKC_E_DENIED, ""); /* at once: waiting can't help */
    assert_status(lockc_client_connect(client, 1000, NULL), LOCKC_E_DENIED);
    lockc_client_close(client);
  }
  char url[80];
  snprintf(url, sizeof url, "redis://:right@127.0.0.1:%d", server->port);
  lockc_client *client = hasty_client(url, NULL, NULL);
  lockc_lock_free(must_acquire(client, "key", NULL));
  lockc_client_close(client);
  client = hasty_client(server->url, NULL, "right");
  assert_status(lockc_client_connect(client, 1000, NULL), LOCKC_OK);
  lockc_client_close(client);
  server_stop(server);
}

static void missing_right_is_denied(void **state) {
  (void)state;
  struct server *server = server_start(NULL);
  struct raw_redis *raw = raw_open_port(server->port, NULL);
  raw_do(raw, "ACL SETUSER scripts on >pw ~* &* +@all -eval -evalsha -script");
  raw_do(raw, "ACL SETUSER keys on >pw ~elsewhere:* &* +@all");
  const char *const users[] = {"scripts", "keys"};
  for (size_t i = 0; i < 2; ++i) {
    lockc_client *client = hasty_client(server->url, users[i], "pw");
    assert_refused(client, 0, LOCKC_E_DENIED, "");
    assert_refused(client, 5000, LOCKC_E_DENIED, "");
    lockc_client_close(client);
  }
  assert_false(raw_exists(raw, "key"));
  raw_close(raw);
  server_stop(server);
}

static void user_and_password_of_the_url_are_percent_decoded(void **state) {
  (void)state;
  struct server *server = server_start(NULL);
  struct raw_redis *raw = raw_open_port(server->port, NULL);
  raw_do(raw, "ACL SETUSER bob on >p@ss:/1 ~* &* +@all -@dangerous");
  char url[96];
  snprintf(url, sizeof url, "redis://bob:p%%40ss%%3a%%2F1@127.0.0.1:%d/0", server->port);
  lockc_client *client = hasty_client(url, NULL, NULL);
  lockc_lock_free(must_acquire(client, "key", NULL));
  lockc_client_close(client);
  raw_close(raw);
  server_stop(server);
}

static void other_type_at_the_key_is_told(void **state) {
  struct rig *rig = *state;
  raw_do(rig->raw, "LPUSH %s a", rig->key);
  const int64_t waits[] = {0, 5000};
  for (size_t i = 0; i < 2; ++i) {
    const lockc_acquire_options opts = options_with(0, waits[i]);
    lockc_error *err = NULL;
    const int64_t start = now_ms();
    assert_status(acquire_status(rig->client, rig->key, &opts, &err), LOCKC_E_WRONG_TYPE);
    assert_between(now_ms() - start, 0, 2000);
    assert_error(err, LOCKC_E_WRONG_TYPE, "WRONGTYPE");
  }
  assert_int_equal(raw_integer(rig->raw, "LLEN %s", rig->key), 1);
}

static void unusable_fence_is_a_server_error_that_quotes_it(void **state) {
  struct rig *rig = *state;
  raw_do(rig->raw, "SET lockc:{%s}:fence:%s nonsense PX 60000", rig->key, rig->key);
  lockc_error *err = NULL;
  assert_status(acquire_status(rig->client, rig->key, NULL, &err), LOCKC_E_SERVER);
  assert_error(err, LOCKC_E_SERVER, "LOCKCFENCE");
  assert_false(raw_exists(rig->raw, rig->key));
}

static void full_memory_is_told_and_what_is_held_can_be_released(void **state) {
  (void)state;
  struct server *server = server_start(NULL);
  struct raw_redis *raw = raw_open_port(server->port, NULL);
  lockc_client *client = hasty_client(server->url, NULL, NULL);
  lockc_lock *lock = must_acquire(client, "held", NULL);
  raw_do(raw, "CONFIG SET maxmemory 1");
  assert_refused(client, 0, LOCKC_E_SERVER_OOM, "");
  assert_refused(client, 200, LOCKC_E_SERVER_OOM, "");
  assert_status(lockc_lock_extend(lock, 60000, NULL), LOCKC_OK);
  assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
  assert_false(raw_exists(raw, "held"));
  raw_do(raw, "CONFIG SET maxmemory 0");
  assert_status(try_key(client, "key"), LOCKC_OK);
  lockc_lock_free(lock);
  lockc_client_close(client);
  raw_close(raw);
  server_stop(server);
}

static void read_only_replica_is_told_until_it_is_promoted(void **state) {
  (void)state;
  struct server *master = server_start(NULL);
  char port[16];
  snprintf(port, sizeof port, "%d", master->port);
  const char *const arguments[] = {"--replicaof", "127.0.0.1", port, NULL};
  struct server *replica = server_start(arguments);
  struct raw_redis *raw = raw_open_port(replica->port, NULL);
  lockc_client *client = hasty_client(replica->url, NULL, NULL);
  assert_refused(client, 0, LOCKC_E_READONLY, "READONLY");
  assert_refused(client, 200, LOCKC_E_READONLY, "");
  lockc_queue *queue = open_queue(client);
  const lockc_acquire_options opts = options_with(0, 10000);
  assert_status(lockc_queue_acquire(queue, 1, NULL, "key", 3, &opts, NULL), LOCKC_PENDING);
  assert_no_completion(queue, 50);
  raw_do(raw, "REPLICAOF NO ONE");
  lockc_lock_free(take_grant(queue, 1, 2000));
  lockc_queue_close(queue);
  lockc_client_close(client);
  raw_close(raw);
  server_stop(replica);
  server_stop(master);
}

static void busy_script_is_not_ready_until_it_is_killed(void **state) {
  (void)state;
  const char *const arguments[] = {"--lua-time-limit", "1", NULL};
  struct server *server = server_start(arguments);
  struct raw_redis *raw = raw_open_port(server->port, NULL);
  struct raw_redis *endless = raw_open_port(server->port, NULL);
  lockc_client *client = hasty_client(server->url, NULL, NULL);
  assert_status(try_key(client, "key"), LOCKC_OK);
  raw_send(endless, "EVAL %s 0", "while true do end");
  nap_ms(50); /* the server says BUSY only after its limit of 1 ms */
  assert_refused(client, 0, LOCKC_E_NOT_READY, "BUSY");
  assert_refused(client, 200, LOCKC_E_NOT_READY, "");
  lockc_queue *queue = open_queue(client);
  const lockc_acquire_options opts = options_with(0, 10000);
  assert_status(lockc_queue_acquire(queue, 1, NULL, "key", 3, &opts, NULL), LOCKC_PENDING);
  assert_no_completion(queue, 50);
  raw_do(raw, "SCRIPT KILL");
  lockc_lock_free(take_grant(queue, 1, 2000));
  lockc_queue_close(queue);
  lockc_client_close(client);
  raw_close(endless);
  raw_close(raw);
  server_stop(server);
}

static void assert_inspected(struct rig *rig) {
  lockc_text *text = NULL;
  assert_status(lockc_client_inspect(&text, rig->client, rig->key, strlen(rig->key), NULL),
                LOCKC_OK);
  lockc_text_free(text);
}

static void flushed_scripts_are_sent_again(void **state) {
  struct rig *rig = *state;
  for (int turn = 0; turn < 2; ++turn) { /* by their text, then by their digest */
    lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
    raw_do(rig->raw, "SCRIPT FLUSH");
    assert_status(lockc_lock_extend(lock, 60000, NULL), LOCKC_OK);
    assert_inspected(rig);
    assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
    lockc_lock_free(lock);
  }
}

static void warnings_go_to_the_descriptor_without_the_password(void **state) {
  (void)state;
  int pipe_ends[2];
  assert_int_equal(pipe(pipe_ends), 0);
  char url[80];
  snprintf(url, sizeof url, "redis://:s3cret@127.0.0.1:%d", closed_port());
  const lockc_client_options opts = {
      .struct_size = sizeof opts, .connect_timeout_ms = CONNECT_MS, .log_fd = pipe_ends[1]};
  lockc_client *client = open_client(url, &opts);
  assert_status(lockc_client_connect(client, 200, NULL), LOCKC_E_UNREACHABLE);
  lockc_client_close(client);
  close(pipe_ends[1]);
  char text[4096] = {0};
  assert_true(read(pipe_ends[0], text, sizeof text - 1) >= 0);
  assert_null(strstr(text, "s3cret"));
  close(pipe_ends[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(closed_port_is_unreachable_at_once_or_at_the_deadline),
      cmocka_unit_test(silent_server_is_given_up_in_time),
      cmocka_unit_test(server_that_comes_back_within_the_wait_grants),
      cmocka_unit_test(unanswered_acquire_is_uncertain_and_undone),
      cmocka_unit_test(unanswered_release_is_uncertain_and_may_be_repeated),
      cmocka_unit_test(wrong_password_is_denied_and_never_shown),
      cmocka_unit_test(missing_right_is_denied),
      cmocka_unit_test(user_and_password_of_the_url_are_percent_decoded),
      with_rig(other_type_at_the_key_is_told),
      with_rig(unusable_fence_is_a_server_error_that_quotes_it),
      cmocka_unit_test(full_memory_is_told_and_what_is_held_can_be_released),
      cmocka_unit_test(read_only_replica_is_told_until_it_is_promoted),
      cmocka_unit_test(busy_script_is_not_ready_until_it_is_killed),
      with_rig(flushed_scripts_are_sent_again),
      cmocka_unit_test(warnings_go_to_the_descriptor_without_the_password),
  };
  return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
