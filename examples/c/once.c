/* Runs a job on one machine of many: whoever comes first does it, the others go home. */
#include <lockc/lockc.h>
#include <stdio.h>

int main(void) {
  lockc_client *client = NULL;
  lockc_lock *lock = NULL;
  lockc_error *error = NULL;
  int code = 0;

  lockc_status status = lockc_client_open(&client, NULL, NULL, &error);
  if (status == LOCKC_OK) {
    status = lockc_client_acquire(&lock, client, "nightly-report", 14, NULL, &error);
  }
  if (status == LOCKC_OK) {
    printf("making the report, token %llu\n", (unsigned long long)lockc_lock_token(lock));
    status = lockc_lock_release(lock, &error);
  }
  if (status == LOCKC_BUSY) {
    puts("another machine makes the report");
  } else if (status != LOCKC_OK) {
    fprintf(stderr, "%s: %s\n", lockc_status_name(status),
            error ? lockc_error_message(error) : "the lock was lost");
    code = 1;
  }
  lockc_error_free(error);
  lockc_lock_free(lock);
  lockc_client_close(client);
  return code;
}
