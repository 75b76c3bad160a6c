/* Fences: which tokens a resource lets pass, and the late writer that they are for. */
#include <pthread.h>

#include "fixture.h"

static lockc_fence *new_fence(void) {
  lockc_fence *fence = NULL;
  assert_status(lockc_fence_new(&fence, NULL), LOCKC_OK);
  assert_non_null(fence);
  return fence;
}

static void fence_lets_no_smaller_token_pass(void **state) {
  (void)state;
  lockc_fence *fence = new_fence();
  assert_int_equal(lockc_fence_token(fence), 0);
  assert_status(lockc_fence_check(fence, 41), LOCKC_OK);
  assert_status(lockc_fence_check(fence, 43), LOCKC_OK);
  assert_status(lockc_fence_check(fence, 42), LOCKC_STALE);
  assert_status(lockc_fence_check(fence, 43), LOCKC_OK);
  assert_int_equal(lockc_fence_token(fence), 43);
  assert_status(lockc_fence_check(fence, UINT64_MAX), LOCKC_OK);
  assert_int_equal(lockc_fence_token(fence), UINT64_MAX);
  lockc_fence_free(fence);
}

static void token_of_an_unfenced_lock_is_invalid(void **state) {
  struct rig *rig = *state;
  const lockc_acquire_options opts = {.struct_size = sizeof opts, .flags = LOCKC_UNFENCED};
  lockc_lock *lock = must_acquire(rig->client, rig->key, &opts);
  lockc_fence *fence = new_fence();
  assert_status(lockc_fence_check(fence, lockc_lock_token(lock)), LOCKC_E_INVALID);
  assert_int_equal(lockc_fence_token(fence), 0);
  lockc_fence_free(fence);
  lockc_lock_free(lock);
}

enum { THREADS = 4, TOKENS = 20000 };

/* Each thread brings tokens of its own, from small to large. */
struct bringer {
  pthread_t thread;
  lockc_fence *fence;
  uint64_t first;
  int went_back;
};

static void *bring_tokens(void *argument) {
  struct bringer *bringer = argument;
  for (uint64_t i = 0; i < TOKENS; ++i) {
    const uint64_t token = bringer->first + i * THREADS;
    const lockc_status status = lockc_fence_check(bringer->fence, token);
    const uint64_t largest = lockc_fence_token(bringer->fence);
    if (status != LOCKC_OK && status != LOCKC_STALE) bringer->went_back = 1;
    if (largest < token || (status == LOCKC_STALE && largest == token)) bringer->went_back = 1;
  }
  return NULL;
}

static void fence_never_goes_back_under_threads(void **state) {
  (void)state;
  lockc_fence *fence = new_fence();
  struct bringer bringers[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    bringers[i] = (struct bringer){.fence = fence, .first = (uint64_t)i + 1};
    assert_int_equal(pthread_create(&bringers[i].thread, NULL, bring_tokens, &bringers[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(bringers[i].thread, NULL);
    assert_false(bringers[i].went_back);
  }
  assert_int_equal(lockc_fence_token(fence), THREADS * TOKENS);
  lockc_fence_free(fence);
}

/* A holder whose fixed lease ends while it sleeps, and does not know it. */
static lockc_lock *holder_that_paused_past_its_lease(const struct rig *rig) {
  lockc_queue *events = open_queue(rig->client);
  const lockc_acquire_options opts = {.struct_size = sizeof opts, .ttl_ms = 1000, .events = events};
  lockc_lock *paused = must_acquire(rig->client, rig->key, &opts);
  assert_int_equal(next_completion(events, 20000).kind, LOCKC_EVENT_LOST);
  lockc_queue_close(events);
  return paused;
}

static void late_holder_is_kept_from_the_resource_by_a_fence(void **state) {
  struct rig *rig = *state;
  lockc_fence *fence = new_fence();
  lockc_lock *paused = holder_that_paused_past_its_lease(rig);
  lockc_lock *next = must_acquire(rig->client, rig->key, &kForever);
  assert_status(lockc_fence_check(fence, lockc_lock_token(next)), LOCKC_OK);
  assert_status(lockc_fence_check(fence, lockc_lock_token(paused)), LOCKC_STALE);
  lockc_lock_free(next);
  lockc_lock_free(paused);
  lockc_fence_free(fence);
}

static lockc_status save(const struct rig *rig, const lockc_lock *lock, const char *text) {
  const lockc_write_options opts = {.struct_size = sizeof opts, .token = lockc_lock_token(lock)};
  char data[96];
  snprintf(data, sizeof data, "%s:data", rig->key);
  return lockc_client_write(NULL, rig->client, data, strlen(data), text, strlen(text), &opts, NULL);
}

static void late_holder_is_kept_from_a_record(void **state) {
  struct rig *rig = *state;
  lockc_lock *paused = holder_that_paused_past_its_lease(rig);
  assert_status(save(rig, paused, "early"), LOCKC_OK);
  lockc_lock *next = must_acquire(rig->client, rig->key, &kForever);
  assert_status(save(rig, next, "by the next"), LOCKC_OK);
  assert_status(save(rig, paused, "late"), LOCKC_STALE);
  char *text = raw_text(rig->raw, "HGET %s:data value", rig->key);
  assert_string_equal(text, "by the next");
  free(text);
  lockc_lock_free(next);
  lockc_lock_free(paused);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fence_lets_no_smaller_token_pass),
      with_rig(token_of_an_unfenced_lock_is_invalid),
      cmocka_unit_test(fence_never_goes_back_under_threads),
      with_rig(late_holder_is_kept_from_the_resource_by_a_fence),
      with_rig(late_holder_is_kept_from_a_record),
  };
  return cmocka_run_group_tests_name("fence", tests, NULL, NULL);
}
