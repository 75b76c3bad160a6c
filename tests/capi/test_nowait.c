/* A release that nobody waits for: at once for its caller, in the end for the server. */
#include <pthread.h>

#include "fixture.h"
#include "proxy.h"
#include "server.h"

enum { LOST_TAG = 7, SOON_MS = 5000, PAIRS = 200, NEIGHBOURS = 4, MANY = 3000 };

static lockc_lock *lock_with_events(const struct rig *rig, lockc_client *client,
                                    lockc_queue *events) {
  lockc_acquire_options opts = options_with(0, 0);
  opts.events = events;
  opts.events_tag = LOST_TAG;
  return must_acquire(client, rig->key, &opts);
}

static void assert_lost(lockc_queue *events) {
  const lockc_completion completion = next_completion(events, SOON_MS);
  assert_int_equal(completion.kind, LOCKC_EVENT_LOST);
  assert_status(completion.status, LOCKC_LOST);
  assert_int_equal(completion.tag, LOST_TAG);
}

static void ends_the_grant_at_once_and_the_key_soon(void **state) {
  struct rig *rig = *state;
  lockc_queue *events = open_queue(rig->client);
  lockc_lock *lock = lock_with_events(rig, rig->client, events);
  lockc_error *err = (lockc_error *)-1;
  assert_status(lockc_lock_release_nowait(lock, &err), LOCKC_OK);
  assert_null(err);
  assert_int_equal(lockc_lock_remaining_ms(lock), 0);
  assert_status(lockc_lock_extend(lock, 1000, NULL), LOCKC_NOT_HELD);
  assert_status(lockc_lock_release_nowait(lock, NULL), LOCKC_NOT_HELD);
  assert_within(SOON_MS, !raw_exists(rig->raw, rig->key));
  lockc_lock_free(lock);
  assert_no_completion(events, 50);
  lockc_queue_close(events);
}

static void release_behind_it_tells_the_end(void **state) {
  struct rig *rig = *state;
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  assert_status(lockc_lock_release_nowait(lock, NULL), LOCKC_OK);
  assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
  assert_false(raw_exists(rig->raw, rig->key));
  assert_status(lockc_lock_release(lock, NULL), LOCKC_NOT_HELD);
  lockc_lock_free(lock);
}

static void key_of_another_owner_is_told_lost_and_left_alone(void **state) {
  struct rig *rig = *state;
  lockc_queue *events = open_queue(rig->client);
  for (int freed = 0; freed <= 1; ++freed) {
    lockc_lock *lock = lock_with_events(rig, rig->client, events);
    raw_do(rig->raw, "SET %s somebody PX 60000", rig->key);
    assert_status(lockc_lock_release_nowait(lock, NULL), LOCKC_OK);
    if (freed) lockc_lock_free(lock);
    assert_lost(events);
    if (!freed) {
      assert_int_equal(lockc_lock_lost_reason(lock), LOCKC_LOST_TAKEN);
      assert_status(lockc_lock_release(lock, NULL), LOCKC_LOST);
      lockc_lock_free(lock);
    }
    assert_no_completion(events, 50);
    assert_between(raw_pttl(rig->raw, rig->key), 50000, 60000);
    raw_do(rig->raw, "DEL %s", rig->key);
  }
  lockc_queue_close(events);
}

static void lost_before_is_said_at_once(void **state) {
  struct rig *rig = *state;
  const lockc_acquire_options opts = options_with(100, 0);
  lockc_lock *lock = must_acquire(rig->client, rig->key, &opts);
  assert_within(SOON_MS, lockc_lock_lost_reason(lock) == LOCKC_LOST_EXPIRED);
  assert_status(lockc_lock_release_nowait(lock, NULL), LOCKC_LOST);
  lockc_lock_free(lock);
}

static void closed_client_has_told_the_loss(void **state) {
  struct rig *rig = *state;
  lockc_client *client = open_client(rig->url, NULL);
  lockc_queue *events = open_queue(client);
  lockc_lock *lock = lock_with_events(rig, client, events);
  raw_do(rig->raw, "SET %s somebody PX 60000", rig->key);
  assert_status(lockc_lock_release_nowait(lock, NULL), LOCKC_OK);
  lockc_client_close(client);
  lockc_completion completion = {0};
  assert_int_equal(lockc_queue_poll(events, &completion, 1, 0), 1);
  assert_int_equal(completion.kind, LOCKC_EVENT_LOST);
  lockc_lock_free(lock);
  lockc_queue_close(events);
}

static void frozen_server_keeps_nobody(void **state) {
  (void)state;
  const lockc_client_options patient = {.struct_size = sizeof patient, .reply_timeout_ms = 60000};
  struct server *server = server_start(NULL);
  struct raw_redis *raw = raw_open_port(server->port, NULL);
  lockc_client *client = open_client(server->url, &patient);
  lockc_lock *lock = must_acquire(client, "key", NULL);
  server_freeze(server);
  const int64_t start = now_ms();
  assert_status(lockc_lock_release_nowait(lock, NULL), LOCKC_OK);
  lockc_lock_free(lock);
  assert_between(now_ms() - start, 0, 10000);
  server_thaw(server);
  assert_within(SOON_MS, !raw_exists(raw, "key"));
  lockc_client_close(client);
  raw_close(raw);
  server_stop(server);
}

/* More releases than the socket has room for: the rest leaves when there is some. */
static void full_socket_keeps_nobody(void **state) {
  (void)state;
  const char *const unix_socket[] = {"--unixsocket", "lockc.sock", NULL};
  const lockc_client_options patient = {.struct_size = sizeof patient, .reply_timeout_ms = 60000};
  static lockc_lock *locks[MANY];
  struct server *server = server_start(unix_socket);
  struct raw_redis *raw = raw_open_port(server->port, NULL);
  char text[128];
  snprintf(text, sizeof text, "unix://%s/lockc.sock", server->directory);
  lockc_client *client = open_client(text, &patient);
  lockc_queue *queue = open_queue(client);
  for (int i = 0; i < MANY; ++i) {
    snprintf(text, sizeof text, "key:%d", i);
    assert_status(lockc_queue_acquire(queue, (uint64_t)i, NULL, text, strlen(text), NULL, NULL),
                  LOCKC_PENDING);
  }
  for (int i = 0; i < MANY; ++i) locks[i] = next_completion(queue, SOON_MS).lock;
  server_freeze(server);
  const int64_t start = now_ms();
  for (int i = 0; i < MANY; ++i) {
    assert_status(lockc_lock_release_nowait(locks[i], NULL), LOCKC_OK);
    lockc_lock_free(locks[i]);
  }
  assert_between(now_ms() - start, 0, 20000);
  server_thaw(server);
  assert_within(SOON_MS, raw_integer(raw, "EVAL %s 0", "return #redis.call('KEYS', 'key:*')") == 0);
  lockc_queue_close(queue);
  lockc_client_close(client);
  raw_close(raw);
  server_stop(server);
}

static void unanswered_release_goes_on_until_it_is_done(void **state) {
  struct rig *rig = *state;
  struct proxy *proxy = proxy_start(atoi(strrchr(rig->url, ':') + 1));
  lockc_client *client = open_client(proxy->url, NULL);
  lockc_lock *lock = must_acquire(client, rig->key, NULL);
  proxy_do(proxy, "hold up");
  assert_status(lockc_lock_release_nowait(lock, NULL), LOCKC_OK);
  lockc_lock_free(lock);
  proxy_do(proxy, "cut");
  assert_true(raw_exists(rig->raw, rig->key));
  proxy_do(proxy, "heal");
  assert_within(SOON_MS, !raw_exists(rig->raw, rig->key));
  lockc_client_close(client);
  proxy_stop(proxy);
}

/* ---- many pairs */

struct neighbour {
  const struct rig *rig;
  int index;
  pthread_t thread;
  int refused;
};

static void *pair_after_pair(void *argument) {
  struct neighbour *self = argument;
  char key[80];
  snprintf(key, sizeof key, "%s:%d", self->rig->key, self->index);
  for (int i = 0; i < PAIRS; ++i) {
    lockc_lock *lock = NULL;
    if (lockc_client_acquire(&lock, self->rig->client, key, strlen(key), NULL, NULL) != LOCKC_OK ||
        lockc_lock_release_nowait(lock, NULL) != LOCKC_OK) {
      ++self->refused;
    }
    lockc_lock_free(lock);
  }
  return NULL;
}

static void pairs_of(struct rig *rig, int count) {
  struct neighbour neighbours[NEIGHBOURS];
  for (int i = 0; i < count; ++i) {
    neighbours[i] = (struct neighbour){.rig = rig, .index = i};
    assert_int_equal(pthread_create(&neighbours[i].thread, NULL, pair_after_pair, &neighbours[i]),
                     0);
  }
  for (int i = 0; i < count; ++i) {
    pthread_join(neighbours[i].thread, NULL);
    assert_int_equal(neighbours[i].refused, 0);
  }
}

static void pair_costs_two_requests(void **state) {
  struct rig *rig = *state;
  assert_status(try_key(rig->client, rig->key), LOCKC_OK);
  assert_within(SOON_MS, !raw_exists(rig->raw, rig->key));
  const long long before = raw_script_calls(rig->raw);
  pairs_of(rig, 1);
  lockc_client_close(rig->client); /* the last answer is in */
  rig->client = NULL;
  assert_int_equal(raw_script_calls(rig->raw) - before, 2 * PAIRS);
}

/* They share connections, and yet nobody's next acquire comes before his release. */
static void same_key_is_free_for_the_next_try_at_once(void **state) {
  pairs_of(*state, NEIGHBOURS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      with_rig(ends_the_grant_at_once_and_the_key_soon),
      with_rig(release_behind_it_tells_the_end),
      with_rig(key_of_another_owner_is_told_lost_and_left_alone),
      with_rig(lost_before_is_said_at_once),
      with_rig(closed_client_has_told_the_loss),
      cmocka_unit_test(frozen_server_keeps_nobody),
      cmocka_unit_test(full_socket_keeps_nobody),
      with_rig(unanswered_release_goes_on_until_it_is_done),
      with_rig(pair_costs_two_requests),
      with_rig(same_key_is_free_for_the_next_try_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
