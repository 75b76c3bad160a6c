/* Acquires and releases every name of a long row once, many at a time, while some locks stay held:
 * names_once URL NAMES TTL_MS. Prints "grown KILOBYTES held LOCKS": how much this process grew
 * behind a warm-up of a tenth of the names, and how many of the held locks it still has. */
#include <lockc/lockc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AT_A_TIME = 128, HELD = 100 };

static long resident_kilobytes(void) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%*s %ld", &pages) != 1) abort();
  fclose(file);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void ask(lockc_queue *queue, long number, const lockc_acquire_options *opts) {
  char key[64];
  const int size = snprintf(key, sizeof key, "name:%ld", number);
  lockc_error *err = NULL;
  if (lockc_queue_acquire(queue, (uint64_t)number, NULL, key, (size_t)size, opts, &err) ==
      LOCKC_PENDING) {
    return;
  }
  fprintf(stderr, "%s\n", lockc_error_message(err));
  exit(1);
}

static void use_once(lockc_queue *queue, long from, long to, const lockc_acquire_options *opts) {
  lockc_completion done[AT_A_TIME];
  long outstanding = 0;
  while (from < to || outstanding > 0) {
    for (; from < to && outstanding < AT_A_TIME; ++outstanding) ask(queue, from++, opts);
    const int32_t count = lockc_queue_poll(queue, done, AT_A_TIME, 30000);
    if (count <= 0) abort();
    for (int32_t i = 0; i < count; ++i) {
      if (done[i].status != LOCKC_OK) abort();
      if (done[i].kind == LOCKC_DONE_RELEASE) {
        --outstanding;
        continue;
      }
      if (lockc_queue_release(queue, 2, done[i].lock, NULL) != LOCKC_PENDING) abort();
      lockc_lock_free(done[i].lock);
    }
  }
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const long names = atol(argv[2]);
  const lockc_client_options client_opts = {.struct_size = sizeof client_opts,
                                            .fence_retention_ms = 1000,
                                            .default_ttl_ms = atol(argv[3])};
  const lockc_acquire_options opts = {.struct_size = sizeof opts, .wait_ms = 30000};
  lockc_client *client = NULL;
  lockc_queue *queue = NULL;
  static lockc_lock *held[HELD];
  if (lockc_client_open(&client, argv[1], &client_opts, NULL) != LOCKC_OK) return 1;
  if (lockc_queue_open(&queue, client, NULL) != LOCKC_OK) return 1;
  for (int i = 0; i < HELD; ++i) {
    char key[64];
    snprintf(key, sizeof key, "held:%d", i);
    if (lockc_client_acquire(&held[i], client, key, strlen(key), &opts, NULL) != LOCKC_OK) return 1;
  }
  use_once(queue, 0, names / 10, &opts);
  const long before = resident_kilobytes();
  use_once(queue, names / 10, names + names / 10, &opts);
  const long grown = resident_kilobytes() - before;
  int kept = 0;
  for (int i = 0; i < HELD; ++i) {
    kept += lockc_lock_release(held[i], NULL) == LOCKC_OK;
    lockc_lock_free(held[i]);
  }
  printf("grown %ld held %d\n", grown, kept);
  lockc_queue_close(queue);
  lockc_client_close(client);
  return 0;
}
