#include "fixture.h"

#include <poll.h>
#include <time.h>
#include <unistd.h>

const char *suite_url(void) {
  const char *url = getenv("LOCKC_URL");
  if (url == NULL) {
    fputs("LOCKC_URL is not set: run this by tests/support/redis_server.py run -- <program>\n",
          stderr);
    exit(2);
  }
  return url;
}

int rig_up(void **state) {
  static unsigned count;
  struct rig *rig = calloc(1, sizeof *rig);
  if (rig == NULL) return -1;
  rig->url = suite_url();
  rig->raw = raw_open(rig->url);
  rig->client = open_client(rig->url, NULL);
  snprintf(rig->key, sizeof rig->key, "test:%d:%u", (int)getpid(), ++count);
  *state = rig;
  return 0;
}

int rig_down(void **state) {
  struct rig *rig = *state;
  lockc_client_close(rig->client);
  raw_close(rig->raw);
  free(rig);
  return 0;
}

int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void nap_ms(int ms) {
  const struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};
  nanosleep(&time, NULL);
}

lockc_client *open_client(const char *url, const lockc_client_options *opts) {
  lockc_client *client = NULL;
  assert_status(lockc_client_open(&client, url, opts, NULL), LOCKC_OK);
  assert_non_null(client);
  return client;
}

lockc_queue *open_queue(lockc_client *client) {
  lockc_queue *queue = NULL;
  assert_status(lockc_queue_open(&queue, client, NULL), LOCKC_OK);
  assert_non_null(queue);
  return queue;
}

lockc_lock *must_acquire(lockc_client *client, const char *key, const lockc_acquire_options *opts) {
  lockc_lock *lock = NULL;
  lockc_error *err = NULL;
  const lockc_status status = lockc_client_acquire(&lock, client, key, strlen(key), opts, &err);
  if (status != LOCKC_OK) {
    fail_msg("acquire %s: %s (%s)", key, lockc_status_name(status),
             err == NULL ? "no text" : lockc_error_message(err));
  }
  assert_non_null(lock);
  assert_null(err);
  return lock;
}

lockc_status acquire_status(lockc_client *client, const char *key,
                            const lockc_acquire_options *opts, lockc_error **err) {
  lockc_lock *lock = NULL;
  const lockc_status status = lockc_client_acquire(&lock, client, key, strlen(key), opts, err);
  assert_int_equal(lock != NULL, status == LOCKC_OK);
  lockc_lock_free(lock);
  return status;
}

lockc_status try_key(lockc_client *client, const char *key) {
  return acquire_status(client, key, NULL, NULL);
}

const lockc_acquire_options kForever = {.struct_size = sizeof kForever,
                                        .wait_ms = LOCKC_WAIT_FOREVER};

int is_readable(lockc_queue *queue, int limit_ms) {
  struct pollfd entry = {.fd = lockc_queue_fd(queue), .events = POLLIN};
  return poll(&entry, 1, limit_ms);
}

lockc_queue *ask_for(lockc_client *client, uint64_t tag, const char *key,
                     const lockc_acquire_options *opts) {
  lockc_queue *queue = open_queue(client);
  assert_status(lockc_queue_acquire(queue, tag, NULL, key, strlen(key), opts, NULL), LOCKC_PENDING);
  return queue;
}

lockc_lock *take_grant(lockc_queue *queue, uint64_t tag, int limit_ms) {
  const lockc_completion completion = next_completion(queue, limit_ms);
  assert_status(completion.status, LOCKC_OK);
  assert_int_equal(completion.kind, LOCKC_DONE_ACQUIRE);
  assert_int_equal(completion.tag, tag);
  assert_non_null(completion.lock);
  assert_null(completion.error);
  return completion.lock;
}

lockc_completion next_completion(lockc_queue *queue, int limit_ms) {
  lockc_completion completion = {0};
  const int64_t deadline = now_ms() + limit_ms;
  int32_t count = 0;
  while (count == 0 && now_ms() <= deadline) {
    count = lockc_queue_poll(queue, &completion, 1, (int32_t)(deadline - now_ms()));
  }
  if (count != 1) fail_msg("no completion within %d ms (poll: %d)", limit_ms, (int)count);
  return completion;
}

void assert_no_completion(lockc_queue *queue, int during_ms) {
  lockc_completion completion = {0};
  const int32_t count = lockc_queue_poll(queue, &completion, 1, during_ms);
  if (count != 0) {
    fail_msg("unexpected completion: kind %d, %s, tag %llu (poll: %d)", (int)completion.kind,
             lockc_status_name(completion.status), (unsigned long long)completion.tag, (int)count);
  }
}

lockc_acquire_options options_with(int64_t ttl_ms, int64_t wait_ms) {
  const lockc_acquire_options opts = {
      .struct_size = sizeof opts, .ttl_ms = ttl_ms, .wait_ms = wait_ms};
  return opts;
}

void check_status(lockc_status actual, lockc_status expected, const char *call, const char *file,
                  int line) {
  if (actual == expected) return;
  print_error("%s: %s, expected %s\n", call, lockc_status_name(actual),
              lockc_status_name(expected));
  _fail(file, line);
}

void check_error(lockc_error *err, lockc_status status, const char *part, const char *file,
                 int line) {
  const char *message = err == NULL ? "(no error)" : lockc_error_message(err);
  const int right =
      err != NULL && lockc_error_status(err) == status && strstr(message, part) != NULL;
  if (!right) {
    print_error("error %s \"%s\", expected %s with \"%s\"\n",
                lockc_status_name(lockc_error_status(err)), message, lockc_status_name(status),
                part);
  }
  lockc_error_free(err);
  if (!right) _fail(file, line);
}
