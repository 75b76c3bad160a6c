/* Lease: renewal, expiry, extension, the bound of holding, loss and how it is told. */
#include "fixture.h"

enum { TTL_MS = 300, LOST_TAG = 99 };

/* A client whose renewals come often enough to be seen, and its key's lock. */
struct lease {
  lockc_client *client;
  lockc_queue *events;
  lockc_lock *lock;
};

static lockc_client *quick_client(const struct rig *rig) {
  const lockc_client_options opts = {.struct_size = sizeof opts, .default_ttl_ms = TTL_MS};
  return open_client(rig->url, &opts);
}

static struct lease lease_of(const struct rig *rig, lockc_acquire_options opts) {
  struct lease lease = {.client = quick_client(rig)};
  lease.events = open_queue(lease.client);
  opts.struct_size = sizeof opts;
  opts.events = lease.events;
  opts.events_tag = LOST_TAG;
  lease.lock = must_acquire(lease.client, rig->key, &opts);
  return lease;
}

static void end_lease(struct lease *lease) {
  lockc_lock_free(lease->lock);
  lockc_queue_close(lease->events);
  lockc_client_close(lease->client);
}

static void assert_lost_once(struct lease *lease, int limit_ms, int32_t reason) {
  const lockc_completion completion = next_completion(lease->events, limit_ms);
  assert_int_equal(completion.kind, LOCKC_EVENT_LOST);
  assert_status(completion.status, LOCKC_LOST);
  assert_int_equal(completion.tag, LOST_TAG);
  assert_null(completion.lock);
  assert_null(completion.error);
  assert_int_equal(lockc_lock_remaining_ms(lease->lock), 0);
  assert_int_equal(lockc_lock_lost_reason(lease->lock), reason);
  assert_no_completion(lease->events, TTL_MS);
}

static void lease_without_ttl_is_renewed(void **state) {
  struct rig *rig = *state;
  struct lease lease = lease_of(rig, (lockc_acquire_options){0});
  const int64_t end = now_ms() + 4 * TTL_MS;
  while (now_ms() < end) {
    assert_true(lockc_lock_remaining_ms(lease.lock) > 0);
    assert_true(raw_pttl(rig->raw, rig->key) > 0);
    nap_ms(20);
  }
  assert_no_completion(lease.events, 0);
  assert_status(lockc_lock_release(lease.lock, NULL), LOCKC_OK);
  end_lease(&lease);
}

static void lease_with_ttl_is_renewed_on_demand(void **state) {
  struct rig *rig = *state;
  struct lease lease =
      lease_of(rig, (lockc_acquire_options){.ttl_ms = TTL_MS, .flags = LOCKC_RENEW});
  nap_ms(3 * TTL_MS); /* the passing of time is what is tested */
  assert_true(lockc_lock_remaining_ms(lease.lock) > 0);
  assert_status(lockc_lock_release(lease.lock, NULL), LOCKC_OK);
  end_lease(&lease);
}

static void assert_expires(struct rig *rig, struct lease lease) {
  const int64_t start = now_ms();
  assert_lost_once(&lease, TTL_MS + TOLERANCE_MS, LOCKC_LOST_EXPIRED);
  assert_between(now_ms() - start, TTL_MS, 2 * TTL_MS + TOLERANCE_MS);
  assert_within(TOLERANCE_MS, !raw_exists(rig->raw, rig->key));
  assert_status(lockc_lock_release(lease.lock, NULL), LOCKC_LOST);
  end_lease(&lease);
}

static void lease_with_ttl_is_fixed(void **state) {
  assert_expires(*state, lease_of(*state, (lockc_acquire_options){.ttl_ms = TTL_MS}));
}

static void lease_without_ttl_is_fixed_on_demand(void **state) {
  assert_expires(*state, lease_of(*state, (lockc_acquire_options){.flags = LOCKC_NO_RENEW}));
}

static void remaining_time_never_outlives_the_key(void **state) {
  struct rig *rig = *state;
  const lockc_acquire_options opts = options_with(TTL_MS, 0);
  lockc_lock *lock = must_acquire(rig->client, rig->key, &opts);
  int64_t remaining = 0;
  do {
    remaining = lockc_lock_remaining_ms(lock);
    const int64_t pttl = raw_pttl(rig->raw, rig->key);
    if (lockc_lock_remaining_ms(lock) > 0) assert_true(pttl > 0);
    assert_true(remaining <= TTL_MS);
  } while (remaining > 0);
  lockc_lock_free(lock);
}

/* What the caller was told by the clock, the release doesn't take back, however soon it comes. */
static void lease_with_nothing_remaining_is_lost(void **state) {
  struct rig *rig = *state;
  const lockc_acquire_options opts = options_with(20, 1000);
  for (int round = 0; round < 50; ++round) {
    lockc_lock *lock = must_acquire(rig->client, rig->key, &opts);
    while (lockc_lock_remaining_ms(lock) > 0) continue;
    assert_status(lockc_lock_release(lock, NULL), LOCKC_LOST);
    assert_int_equal(lockc_lock_lost_reason(lock), LOCKC_LOST_EXPIRED);
    lockc_lock_free(lock);
  }
}

static void renewal_ends_at_the_bound_of_holding(void **state) {
  struct rig *rig = *state;
  struct lease lease = lease_of(rig, (lockc_acquire_options){.max_hold_ms = 2 * TTL_MS});
  const int64_t start = now_ms();
  assert_lost_once(&lease, 4 * TTL_MS + TOLERANCE_MS, LOCKC_LOST_LIMIT);
  assert_between(now_ms() - start, 2 * TTL_MS, 5 * TTL_MS + TOLERANCE_MS);
  assert_within(TTL_MS + TOLERANCE_MS, !raw_exists(rig->raw, rig->key));
  assert_status(lockc_lock_release(lease.lock, NULL), LOCKC_LOST);
  end_lease(&lease);
}

static void bound_of_holding_may_be_the_largest_number(void **state) {
  struct rig *rig = *state;
  struct lease lease = lease_of(rig, (lockc_acquire_options){.max_hold_ms = INT64_MAX});
  assert_no_completion(lease.events, 3 * TTL_MS);
  assert_true(lockc_lock_remaining_ms(lease.lock) > 0);
  end_lease(&lease);
}

static void deleted_key_is_lost_at_the_next_renewal(void **state) {
  struct rig *rig = *state;
  struct lease lease = lease_of(rig, (lockc_acquire_options){0});
  raw_do(rig->raw, "DEL %s", rig->key);
  assert_lost_once(&lease, TTL_MS + TOLERANCE_MS, LOCKC_LOST_TAKEN);
  assert_status(lockc_lock_extend(lease.lock, TTL_MS, NULL), LOCKC_LOST);
  assert_status(lockc_lock_release(lease.lock, NULL), LOCKC_LOST);
  assert_false(raw_exists(rig->raw, rig->key));
  assert_status(try_key(lease.client, rig->key), LOCKC_OK); /* by the thread that was told */
  end_lease(&lease);
}

static void key_of_another_owner_is_lost_and_left_alone(void **state) {
  struct rig *rig = *state;
  struct lease lease = lease_of(rig, (lockc_acquire_options){0});
  raw_do(rig->raw, "SET %s somebody PX 60000", rig->key);
  assert_lost_once(&lease, TTL_MS + TOLERANCE_MS, LOCKC_LOST_TAKEN);
  assert_status(lockc_lock_release(lease.lock, NULL), LOCKC_LOST);
  assert_between(raw_pttl(rig->raw, rig->key), 50000, 60000);
  end_lease(&lease);
}

static void release_finds_out_that_the_key_was_taken(void **state) {
  struct rig *rig = *state;
  struct lease lease = lease_of(rig, (lockc_acquire_options){.ttl_ms = 30000});
  raw_do(rig->raw, "SET %s somebody PX 60000", rig->key);
  assert_status(lockc_lock_release(lease.lock, NULL), LOCKC_LOST);
  assert_int_equal(lockc_lock_lost_reason(lease.lock), LOCKC_LOST_TAKEN);
  assert_true(raw_exists(rig->raw, rig->key));
  assert_no_completion(lease.events, 0); /* its release had begun */
  end_lease(&lease);
}

static void released_lease_is_never_renewed_and_never_lost(void **state) {
  struct rig *rig = *state;
  struct lease lease = lease_of(rig, (lockc_acquire_options){0});
  assert_status(lockc_lock_release(lease.lock, NULL), LOCKC_OK);
  const long long scripts = raw_script_calls(rig->raw);
  assert_no_completion(lease.events, 2 * TTL_MS);
  assert_int_equal(raw_script_calls(rig->raw), scripts);
  assert_int_equal(lockc_lock_lost_reason(lease.lock), LOCKC_LOST_NOT);
  end_lease(&lease);
}

static void extend_makes_the_lease_longer_but_never_shorter(void **state) {
  struct rig *rig = *state;
  struct lease lease = lease_of(rig, (lockc_acquire_options){.ttl_ms = 2000});
  assert_status(lockc_lock_extend(lease.lock, 20000, NULL), LOCKC_OK);
  assert_between(raw_pttl(rig->raw, rig->key), 19000, 20000);
  assert_between(lockc_lock_remaining_ms(lease.lock), 18000, 20000);
  assert_status(lockc_lock_extend(lease.lock, 1000, NULL), LOCKC_OK);
  assert_between(raw_pttl(rig->raw, rig->key), 18000, 20000);
  assert_true(lockc_lock_remaining_ms(lease.lock) > 0);
  assert_status(lockc_lock_release(lease.lock, NULL), LOCKC_OK);
  end_lease(&lease);
}

static void extend_checks_its_ttl(void **state) {
  struct rig *rig = *state;
  struct lease lease = lease_of(rig, (lockc_acquire_options){0});
  const int64_t bad[] = {0, -1, 9, 365LL * 24 * 3600 * 1000 + 1, INT64_MAX, INT64_MIN};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    lockc_error *err = NULL;
    assert_status(lockc_lock_extend(lease.lock, bad[i], &err), LOCKC_E_INVALID);
    assert_error(err, LOCKC_E_INVALID, "ttl");
  }
  assert_true(lockc_lock_remaining_ms(lease.lock) > 0);
  end_lease(&lease);
}

static void extend_finds_out_that_the_key_is_gone(void **state) {
  struct rig *rig = *state;
  struct lease lease = lease_of(rig, (lockc_acquire_options){.ttl_ms = 30000});
  raw_do(rig->raw, "DEL %s", rig->key);
  assert_status(lockc_lock_extend(lease.lock, 30000, NULL), LOCKC_LOST);
  assert_false(raw_exists(rig->raw, rig->key));
  assert_lost_once(&lease, TOLERANCE_MS, LOCKC_LOST_TAKEN);
  end_lease(&lease);
}

static void released_lock_is_not_held(void **state) {
  struct rig *rig = *state;
  lockc_lock *lock = must_acquire(rig->client, rig->key, NULL);
  assert_status(lockc_lock_release(lock, NULL), LOCKC_OK);
  assert_status(lockc_lock_release(lock, NULL), LOCKC_NOT_HELD);
  assert_status(lockc_lock_extend(lock, 1000, NULL), LOCKC_NOT_HELD);
  assert_int_equal(lockc_lock_remaining_ms(lock), 0);
  lockc_lock_free(lock);
}

static void freeing_a_held_lock_releases_it_behind(void **state) {
  struct rig *rig = *state;
  lockc_lock_free(must_acquire(rig->client, rig->key, NULL));
  assert_within(2000, !raw_exists(rig->raw, rig->key));
}

static void permissive_lease_is_told_of_its_loss_too(void **state) {
  struct rig *rig = *state;
  struct lease lease = lease_of(rig, (lockc_acquire_options){.flags = LOCKC_PERMISSIVE});
  raw_do(rig->raw, "DEL %s", rig->key);
  assert_lost_once(&lease, TTL_MS + TOLERANCE_MS, LOCKC_LOST_TAKEN);
  end_lease(&lease);
}

static void many_leases_are_renewed_in_batches(void **state) {
  enum { LEASES = 50, BATCH = 25 };
  struct rig *rig = *state;
  const lockc_client_options opts = {
      .struct_size = sizeof opts, .default_ttl_ms = 3 * TTL_MS, .renew_batch = BATCH};
  lockc_client *client = open_client(rig->url, &opts);
  lockc_lock *locks[LEASES];
  for (int i = 0; i < LEASES; ++i) {
    char key[96];
    snprintf(key, sizeof key, "%s:%d", rig->key, i);
    locks[i] = must_acquire(client, key, NULL);
  }
  const long long before = raw_script_calls(rig->raw);
  nap_ms(6 * TTL_MS); /* two ttls: six periods, the passing of time is what is tested */
  const long long renewals = raw_script_calls(rig->raw) - before;
  for (int i = 0; i < LEASES; ++i) {
    assert_true(lockc_lock_remaining_ms(locks[i]) > 0);
    lockc_lock_free(locks[i]);
  }
  /* Far from one for each lease and period, whatever the batches look like. */
  assert_between(renewals, 2 * LEASES / BATCH, 6 * LEASES / 3);
  lockc_client_close(client);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      with_rig(lease_without_ttl_is_renewed),
      with_rig(lease_with_ttl_is_renewed_on_demand),
      with_rig(lease_with_ttl_is_fixed),
      with_rig(lease_without_ttl_is_fixed_on_demand),
      with_rig(remaining_time_never_outlives_the_key),
      with_rig(lease_with_nothing_remaining_is_lost),
      with_rig(renewal_ends_at_the_bound_of_holding),
      with_rig(bound_of_holding_may_be_the_largest_number),
      with_rig(deleted_key_is_lost_at_the_next_renewal),
      with_rig(key_of_another_owner_is_lost_and_left_alone),
      with_rig(release_finds_out_that_the_key_was_taken),
      with_rig(released_lease_is_never_renewed_and_never_lost),
      with_rig(extend_makes_the_lease_longer_but_never_shorter),
      with_rig(extend_checks_its_ttl),
      with_rig(extend_finds_out_that_the_key_is_gone),
      with_rig(released_lock_is_not_held),
      with_rig(freeing_a_held_lock_releases_it_behind),
      with_rig(permissive_lease_is_told_of_its_loss_too),
      with_rig(many_leases_are_renewed_in_batches),
  };
  return cmocka_run_group_tests_name("lease", tests, NULL, NULL);
}
