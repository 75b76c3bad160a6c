/* The demo's worker in C: again and again it takes the lock and increments the counter, which
 * nothing else protects.   worker NAME KEY FOLDER */
#include <fcntl.h>
#include <lockc/lockc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stopping;

static void stop(int number) {
  (void)number;
  stopping = 1;
}

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

/* One line in one write, so that the lines of all workers stay whole. */
static void append(int log, const char *line) {
  if (write(log, line, strlen(line)) < 0) fail("log");
}

static long read_counter(void) {
  long value = 0;
  FILE *file = fopen("counter", "r");
  if (file == NULL || fscanf(file, "%ld", &value) != 1) fail("counter");
  fclose(file);
  return value;
}

static void write_counter(const char *name, long value) {
  char path[64];
  snprintf(path, sizeof path, "counter.%s", name);
  FILE *file = fopen(path, "w");
  if (file == NULL || fprintf(file, "%ld\n", value) < 0 || fclose(file) != 0) fail(path);
  if (rename(path, "counter") != 0) fail(path);
}

/* Long enough for others to come between the reading and the writing, were there no lock. */
static void work(void) { usleep(rand() % 20 == 0 ? 30000 : (useconds_t)(rand() % 2000)); }

static void critical_section(const char *name, int log, const lockc_lock *lock, long long asked) {
  const unsigned long long token = lockc_lock_token(lock);
  const long long entered = now_ns();
  char line[160];
  snprintf(line, sizeof line, "enter %s c %llu %lld %lld\n", name, token, entered - asked, entered);
  append(log, line);
  const long value = read_counter() + 1;
  work();
  write_counter(name, value);
  snprintf(line, sizeof line, "leave %s c %llu %ld %lld\n", name, token, value, now_ns());
  append(log, line);
}

static void check(lockc_status status, lockc_error *error) {
  if (status == LOCKC_OK) return;
  fprintf(stderr, "%s: %s\n", lockc_status_name(status), error ? lockc_error_message(error) : "");
  exit(1);
}

int main(int argc, char **argv) {
  if (argc != 4 || chdir(argv[3]) != 0) return 64;
  const char *const name = argv[1], *const key = argv[2];
  const int log = open("log", O_WRONLY | O_APPEND | O_CLOEXEC);
  if (log < 0) fail("log");
  srand((unsigned)getpid());
  signal(SIGTERM, stop);

  lockc_error *error = NULL;
  lockc_client *client = NULL;
  check(lockc_client_open(&client, NULL, NULL, &error), error);
  const lockc_acquire_options options = {.struct_size = sizeof options,
                                         .flags = LOCKC_RENEW,
                                         .ttl_ms = 1000,
                                         .wait_ms = LOCKC_WAIT_FOREVER};
  while (!stopping) {
    const long long asked = now_ns();
    lockc_lock *lock = NULL;
    check(lockc_client_acquire(&lock, client, key, strlen(key), &options, &error), error);
    critical_section(name, log, lock, asked);
    check(lockc_lock_release(lock, &error), error);
    lockc_lock_free(lock);
  }
  lockc_client_close(client);
  return 0;
}
