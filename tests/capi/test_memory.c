/* Memory that runs short, at each request in turn, once or for good: no call ends the process or
 * hangs, every answer comes once, and the client works when there is memory again. */
#include "fixture.h"
#include "short_memory.h"

enum {
  MOST_REQUESTS = 500,
  LIMIT_MS = 5000,
  WAIT_MS = 100,
  BRIEF_TTL_MS = 20,
  RENEWED_TTL_MS = 150
};

struct scene {
  const char *url;
  lockc_client *client;
  lockc_client *other;
  lockc_queue *queue;
  lockc_lock *lock;
  char key[80];
};

typedef void (*scene_step)(struct scene *scene);

/* What want of memory may look like: the names of these two would be wrong. */
static void assert_plausible(lockc_status status) {
  if (status != LOCKC_E_INVALID && status != LOCKC_E_INTERNAL) return;
  fail_msg("short of memory: %s", lockc_status_name(status));
}

static void open_scene(struct scene *scene, const struct rig *rig, int number) {
  memset(scene, 0, sizeof *scene);
  scene->url = rig->url;
  snprintf(scene->key, sizeof scene->key, "%s:%d", rig->key, number);
  scene->client = open_client(rig->url, NULL);
}

static void close_scene(struct scene *scene) {
  lockc_lock_free(scene->lock);
  lockc_queue_close(scene->queue);
  lockc_client_close(scene->client);
  lockc_client_close(scene->other);
}

static void assert_works(struct scene *scene) {
  char key[100];
  snprintf(key, sizeof key, "%s:afterwards", scene->key);
  const lockc_acquire_options opts = options_with(0, LIMIT_MS);
  lockc_lock *lock = must_acquire(scene->client, key, &opts);
  assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
  lockc_lock_free(lock);
}

/* Lets `act` meet a failure at its first request for memory, at its second, and so on until it
 * needs no more. */
static void at_every_request(struct rig *rig, scene_step prepare, scene_step act) {
  for (int for_good = 0; for_good <= 1; ++for_good) {
    long failed = 1;
    for (int n = 1; failed > 0; ++n) {
      if (n > MOST_REQUESTS) fail_msg("takes memory more than %d times", MOST_REQUESTS);
      struct scene scene;
      open_scene(&scene, rig, for_good * MOST_REQUESTS + n);
      if (prepare != NULL) prepare(&scene);
      memory_fails(n, for_good);
      act(&scene);
      failed = memory_recovers();
      if (scene.client != NULL) assert_works(&scene);
      close_scene(&scene);
    }
  }
}

#define memory_test(name, prepare, act)                                      \
  static void name(void **state) { at_every_request(*state, prepare, act); } \
  static void name(void **state) /* declared again: it ends with a semicolon */

/* ---- what is prepared while memory is plenty */

static void connect_client(struct scene *scene) {
  assert_status(lockc_client_connect(scene->client, LIMIT_MS, NULL), LOCKC_OK);
}

static void hold(struct scene *scene) {
  scene->lock = must_acquire(scene->client, scene->key, NULL);
}

static void make_queue(struct scene *scene) {
  connect_client(scene);
  scene->queue = open_queue(scene->client);
}

static void hold_with_queue(struct scene *scene) {
  make_queue(scene);
  hold(scene);
}

static void let_another_hold_briefly(struct scene *scene) {
  connect_client(scene);
  scene->other = open_client(scene->url, NULL);
  const lockc_acquire_options opts = options_with(BRIEF_TTL_MS, 0);
  const size_t size = strlen(scene->key);
  /* Not on a busy machine, where the answer may take longer than that. */
  lockc_client_acquire(&scene->lock, scene->other, scene->key, size, &opts, NULL);
}

static void wait_behind_the_own_lock(struct scene *scene) {
  hold_with_queue(scene);
  assert_status(
      lockc_queue_acquire(scene->queue, 1, NULL, scene->key, strlen(scene->key), &kForever, NULL),
      LOCKC_PENDING);
}

/* ---- what is done while memory is short */

static void open_and_close(struct scene *scene) {
  lockc_client *client = NULL;
  lockc_error *err = NULL;
  const lockc_status status = lockc_client_open(&client, scene->url, NULL, &err);
  assert_plausible(status);
  assert_int_equal(client != NULL, status == LOCKC_OK);
  lockc_error_free(err);
  lockc_client_close(client);
}

static void acquire_waiting(struct scene *scene) {
  const lockc_acquire_options opts = options_with(1000, WAIT_MS);
  lockc_lock *lock = NULL;
  lockc_error *err = NULL;
  const size_t size = strlen(scene->key);
  const lockc_status status =
      lockc_client_acquire(&lock, scene->client, scene->key, size, &opts, &err);
  assert_plausible(status);
  assert_int_equal(lock != NULL, status == LOCKC_OK);
  lockc_error_free(err);
  lockc_lock_free(lock);
}

static void extend_and_release(struct scene *scene) {
  assert_plausible(lockc_lock_extend(scene->lock, 60000, NULL));
  assert_plausible(lockc_lock_release(scene->lock, NULL));
}

static void ask_for_the_owner(struct scene *scene) {
  const char *owner = lockc_lock_owner(scene->lock);
  assert_true(*owner == '\0' || strncmp(owner, "lc1:", 4) == 0);
  memory_recovers();
  assert_int_equal(strncmp(lockc_lock_owner(scene->lock), "lc1:", 4), 0);
}

static void release_nowait(struct scene *scene) {
  assert_plausible(lockc_lock_release_nowait(scene->lock, NULL));
}

static void free_lock(struct scene *scene) {
  lockc_lock_free(scene->lock);
  scene->lock = NULL;
}

static void inspect(struct scene *scene) {
  lockc_text *text = NULL;
  const size_t size = strlen(scene->key);
  const lockc_status status = lockc_client_inspect(&text, scene->client, scene->key, size, NULL);
  assert_plausible(status);
  assert_int_equal(text != NULL, status == LOCKC_OK);
  lockc_text_free(text);
}

static void open_and_close_queue(struct scene *scene) {
  lockc_queue *queue = NULL;
  const lockc_status status = lockc_queue_open(&queue, scene->client, NULL);
  assert_int_equal(queue != NULL, status == LOCKC_OK);
  lockc_queue_close(queue);
}

/* The one completion that an accepted request brings. */
static void take_one(struct scene *scene, lockc_status accepted, uint64_t tag) {
  assert_plausible(accepted);
  if (accepted != LOCKC_PENDING) return;
  const lockc_completion completion = next_completion(scene->queue, LIMIT_MS);
  assert_int_equal(completion.tag, tag);
  assert_plausible(completion.status);
  lockc_error_free(completion.error);
  lockc_lock_free(completion.lock);
}

static void ask_by_queue(struct scene *scene) {
  const size_t size = strlen(scene->key);
  const lockc_acquire_options opts = options_with(0, WAIT_MS);
  take_one(scene, lockc_queue_acquire(scene->queue, 7, NULL, scene->key, size, &opts, NULL), 7);
  lockc_lock *now = NULL;
  const lockc_status status =
      lockc_queue_acquire(scene->queue, 8, &now, scene->key, size, &opts, NULL);
  assert_int_equal(now != NULL, status == LOCKC_OK);
  take_one(scene, status, 8);
  lockc_lock_free(now);
  assert_no_completion(scene->queue, 0);
}

static void extend_and_release_by_queue(struct scene *scene) {
  take_one(scene, lockc_queue_extend(scene->queue, 3, scene->lock, 60000, NULL), 3);
  take_one(scene, lockc_queue_release(scene->queue, 4, scene->lock, NULL), 4);
  assert_no_completion(scene->queue, 0);
}

static void cancel(struct scene *scene) {
  lockc_queue_cancel(scene->queue, 1);
  take_one(scene, LOCKC_PENDING, 1);
}

static void hand_over(struct scene *scene) {
  lockc_lock_release(scene->lock, NULL);
  take_one(scene, LOCKC_PENDING, 1);
}

static void close_queue(struct scene *scene) {
  lockc_queue_close(scene->queue);
  scene->queue = NULL;
}

static void close_client(struct scene *scene) {
  lockc_client_close(scene->client);
  scene->client = NULL;
  take_one(scene, LOCKC_PENDING, 1);
}

memory_test(opening_a_client, NULL, open_and_close);
memory_test(first_acquire, NULL, acquire_waiting);
memory_test(acquire_behind_another_holder, let_another_hold_briefly, acquire_waiting);
memory_test(extend_and_release_of_a_lock, hold, extend_and_release);
memory_test(asking_for_the_owner, hold, ask_for_the_owner);
memory_test(release_without_waiting, hold, release_nowait);
memory_test(freeing_a_held_lock, hold, free_lock);
memory_test(inspecting, hold, inspect);
memory_test(opening_a_queue, connect_client, open_and_close_queue);
memory_test(acquires_by_queue, make_queue, ask_by_queue);
memory_test(extend_and_release_by_queue_of_a_lock, hold_with_queue, extend_and_release_by_queue);
memory_test(cancelling, wait_behind_the_own_lock, cancel);
memory_test(handing_over, wait_behind_the_own_lock, hand_over);
memory_test(closing_a_queue, wait_behind_the_own_lock, close_queue);
memory_test(closing_a_client, wait_behind_the_own_lock, close_client);

/* ---- in the background */

static void renewal_goes_on_or_its_loss_is_told_once(void **state) {
  struct rig *rig = *state;
  for (int for_good = 0; for_good <= 1; ++for_good) {
    for (int n = 1; n <= 20; ++n) {
      struct scene scene;
      open_scene(&scene, rig, for_good * MOST_REQUESTS + n);
      make_queue(&scene);
      lockc_acquire_options opts = options_with(RENEWED_TTL_MS, 0);
      opts.flags = LOCKC_RENEW;
      opts.events = scene.queue;
      opts.events_tag = 5;
      scene.lock = must_acquire(scene.client, scene.key, &opts);
      memory_fails(n, for_good);
      lockc_completion event = {0};
      const int32_t told = lockc_queue_poll(scene.queue, &event, 1, RENEWED_TTL_MS / 2);
      memory_recovers();
      if (told == 1) {
        assert_int_equal(event.kind, LOCKC_EVENT_LOST);
        assert_status(event.status, LOCKC_LOST);
        assert_int_equal(event.tag, 5);
        assert_int_equal(lockc_lock_remaining_ms(scene.lock), 0);
        assert_no_completion(scene.queue, BRIEF_TTL_MS);
      }
      assert_works(&scene);
      close_scene(&scene);
    }
  }
}

static void nothing_stays_locked_or_renewed(void **state) {
  struct rig *rig = *state;
  const lockc_acquire_options opts = {
      .struct_size = sizeof opts, .ttl_ms = 300, .flags = LOCKC_RENEW};
  for (long n = 1; n <= 60; ++n) {
    memory_fails(n, 0);
    lockc_lock *lock = NULL;
    lockc_client_acquire(&lock, rig->client, rig->key, strlen(rig->key), &opts, NULL);
    memory_recovers();
    lockc_lock_free(lock);
  }
  assert_within(2000, !raw_exists(rig->raw, rig->key));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      with_rig(opening_a_client),
      with_rig(first_acquire),
      with_rig(acquire_behind_another_holder),
      with_rig(extend_and_release_of_a_lock),
      with_rig(asking_for_the_owner),
      with_rig(release_without_waiting),
      with_rig(freeing_a_held_lock),
      with_rig(inspecting),
      with_rig(opening_a_queue),
      with_rig(acquires_by_queue),
      with_rig(extend_and_release_by_queue_of_a_lock),
      with_rig(cancelling),
      with_rig(handing_over),
      with_rig(closing_a_queue),
      with_rig(closing_a_client),
      with_rig(renewal_goes_on_or_its_loss_is_told_once),
      with_rig(nothing_stays_locked_or_renewed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
