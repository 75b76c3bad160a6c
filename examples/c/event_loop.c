/* Waits for two locks at a time in a poll() loop, as a program with an event loop does. */
#include <lockc/lockc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(lockc_status status, lockc_status expected, lockc_error *error) {
  if (status == expected) return;
  fprintf(stderr, "%s: %s\n", lockc_status_name(status), error ? lockc_error_message(error) : "");
  exit(1);
}

int main(void) {
  const char *const keys[] = {"orders:1", "orders:2"};
  const lockc_acquire_options options = {.struct_size = sizeof options, .wait_ms = 5000};
  lockc_client *client = NULL;
  lockc_queue *queue = NULL;
  lockc_error *error = NULL;
  check(lockc_client_open(&client, NULL, NULL, &error), LOCKC_OK, error);
  check(lockc_queue_open(&queue, client, &error), LOCKC_OK, error);

  for (uint64_t tag = 0; tag < 2; ++tag) {
    const char *const key = keys[tag];
    check(lockc_queue_acquire(queue, tag, NULL, key, strlen(key), &options, &error), LOCKC_PENDING,
          error);
  }
  for (int outstanding = 2; outstanding > 0;) {
    struct pollfd readable = {.fd = lockc_queue_fd(queue), .events = POLLIN};
    poll(&readable, 1, -1);
    lockc_completion done[8];
    const int count = lockc_queue_poll(queue, done, 8, 0);
    for (int i = 0; i < count; ++i, --outstanding) {
      printf("%s: %s\n", keys[done[i].tag], lockc_status_name(done[i].status));
      lockc_error_free(done[i].error);
      lockc_lock_free(done[i].lock); /* gives it back */
    }
  }
  lockc_queue_close(queue);
  lockc_client_close(client);
  return 0;
}
