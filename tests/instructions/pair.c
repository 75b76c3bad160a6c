/* Uncontended pairs of acquire and release, to be counted by callgrind: pair URL PAIRS. What comes
 * before them, and a warm-up that fills caches of memory, is not counted. */
#include <lockc/lockc.h>
#include <stdio.h>
#include <stdlib.h>
#include <valgrind/callgrind.h>

enum { WARM_UP = 100 };
static const char key[] = "a key of usual length: order:4711";

static void check(lockc_status status, const lockc_error *error) {
  if (status == LOCKC_OK) return;
  fprintf(stderr, "%s: %s\n", lockc_status_name(status), lockc_error_message(error));
  exit(1);
}

static void run(lockc_client *client, long pairs) {
  lockc_lock *lock;
  lockc_error *error;
  while (pairs-- > 0) {
    check(lockc_client_acquire(&lock, client, key, sizeof key - 1, NULL, &error), error);
    check(lockc_lock_release(lock, &error), error);
    lockc_lock_free(lock);
  }
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  /* A program in callgrind is slow, beside others very slow. */
  const lockc_client_options options = {.struct_size = sizeof options, .reply_timeout_ms = 30000};
  lockc_client *client;
  lockc_error *error;
  check(lockc_client_open(&client, argv[1], &options, &error), error);
  run(client, WARM_UP);
  CALLGRIND_START_INSTRUMENTATION;
  run(client, atol(argv[2]));
  CALLGRIND_STOP_INSTRUMENTATION;
  lockc_client_close(client);
  return 0;
}
