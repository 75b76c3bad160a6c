/* A program of someone who has lockc installed: takes a lock, and gives it back. */
#include <inttypes.h>
#include <lockc/lockc.h>
#include <stdio.h>

static int fail(const char *what, lockc_status status, lockc_error *err) {
  fprintf(stderr, "%s: %s: %s\n", what, lockc_status_name(status),
          err ? lockc_error_message(err) : "");
  lockc_error_free(err);
  return 1;
}

int main(void) {
  lockc_client *client = NULL;
  lockc_lock *lock = NULL;
  lockc_error *err = NULL;
  lockc_status status = lockc_client_open(&client, NULL, NULL, &err);
  if (status != LOCKC_OK) return fail("open", status, err);
  status = lockc_client_acquire(&lock, client, "consumer", 8, NULL, &err);
  if (status != LOCKC_OK) return fail("acquire", status, err);
  printf("version %06" PRIx32 ", token %" PRIu64 "\n", lockc_version(), lockc_lock_token(lock));
  status = lockc_lock_release(lock, &err);
  if (status != LOCKC_OK) return fail("release", status, err);
  lockc_lock_free(lock);
  lockc_client_close(client);
  return 0;
}
