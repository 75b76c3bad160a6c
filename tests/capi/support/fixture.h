/* What every test of the C ABI starts from: a client, a raw connection, a key of its own. */
#ifndef LOCKC_TESTS_FIXTURE_H
#define LOCKC_TESTS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka.h" /* needs the headers above */
#include "lockc/lockc.h"
#include "raw_redis.h"

/* How much later than its deadline a call may return on a busy machine. */
enum { TOLERANCE_MS = 500 };

struct rig {
  lockc_client *client;
  struct raw_redis *raw;
  const char *url;
  char key[64];
};

/* cmocka set-up and tear-down; *state is the rig. */
int rig_up(void **state);
int rig_down(void **state);
#define with_rig(test) cmocka_unit_test_setup_teardown(test, rig_up, rig_down)

/* The server that the suite was started with: LOCKC_URL. */
const char *suite_url(void);

int64_t now_ms(void);
void nap_ms(int ms);

lockc_client *open_client(const char *url, const lockc_client_options *opts);
lockc_queue *open_queue(lockc_client *client);

/* Acquires by opts or fails the test. */
lockc_lock *must_acquire(lockc_client *client, const char *key, const lockc_acquire_options *opts);

/* The status of one try, or of an acquire by opts; what it grants is freed at once. */
lockc_status try_key(lockc_client *client, const char *key);
lockc_status acquire_status(lockc_client *client, const char *key,
                            const lockc_acquire_options *opts, lockc_error **err);

/* Wait for ever, all else by default. */
extern const lockc_acquire_options kForever;

/* Whether the queue's descriptor is readable within the limit, as an event loop would see it. */
int is_readable(lockc_queue *queue, int limit_ms);

/* A new queue with one outstanding acquire. */
lockc_queue *ask_for(lockc_client *client, uint64_t tag, const char *key,
                     const lockc_acquire_options *opts);
/* The lock that this acquire brings within the limit, else fails the test. */
lockc_lock *take_grant(lockc_queue *queue, uint64_t tag, int limit_ms);

/* Takes out exactly one completion within the limit or fails the test. */
lockc_completion next_completion(lockc_queue *queue, int limit_ms);
/* Fails the test if one comes within the time. */
void assert_no_completion(lockc_queue *queue, int during_ms);

lockc_acquire_options options_with(int64_t ttl_ms, int64_t wait_ms);

void check_status(lockc_status actual, lockc_status expected, const char *call, const char *file,
                  int line);
#define assert_status(call, expected) check_status((call), (expected), #call, __FILE__, __LINE__)

/* The error belongs to `status` and its text holds `part`; frees it. */
void check_error(lockc_error *err, lockc_status status, const char *part, const char *file,
                 int line);
#define assert_error(err, status, part) check_error((err), (status), (part), __FILE__, __LINE__)

/* For what only the server's state can show: asks again and again until it is so. */
#define assert_within(limit_ms, condition)                               \
  do {                                                                   \
    const int64_t deadline_ = now_ms() + (limit_ms);                     \
    while (!(condition)) {                                               \
      if (now_ms() > deadline_) fail_msg("not in time: %s", #condition); \
      nap_ms(5);                                                         \
    }                                                                    \
  } while (0)

#define assert_between(value, low, high)                                                     \
  do {                                                                                       \
    const int64_t value_ = (value);                                                          \
    if (value_ < (low) || value_ > (high))                                                   \
      fail_msg("%s is %lld, not in %lld..%lld", #value, (long long)value_, (long long)(low), \
               (long long)(high));                                                           \
  } while (0)

#endif
