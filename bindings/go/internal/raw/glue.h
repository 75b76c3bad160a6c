/* What the Go package asks of lockc.h in one call where C would take several. */
#ifndef LOCKC_GO_GLUE_H
#define LOCKC_GO_GLUE_H

#include <fcntl.h>
#include <lockc/lockc.h>
#include <string.h>

#if !defined(SWIG) && (LOCKC_VERSION_MAJOR != 0 || LOCKC_VERSION_MINOR != 1)
#error "this Go package needs lockc 0.1, and the lockc.h that was found is of another version"
#endif

/* The end of an operation: a completion, with its grant's token. The layout of Go's Answer. */
typedef struct lockc_go_answer {
  uint64_t tag;
  uint64_t token;
  lockc_lock* lock;
  lockc_error* error;
  int32_t kind;
  lockc_status status;
} lockc_go_answer;

static inline const char* lockc_go_given(const char* text) { return *text ? text : NULL; }

/* An empty Go string may have no address. */
static inline const char* lockc_go_key(const char* key) { return key ? key : ""; }

static inline lockc_client* lockc_go_open(
    const char* url, uint32_t connect_timeout_ms, uint32_t reply_timeout_ms, uint32_t max_waiters,
    const char* key_prefix, const char* client_name, const char* username, const char* password,
    int64_t default_ttl_ms, int64_t renew_every_ms, int64_t fence_retention_ms,
    uint32_t renew_batch, uint32_t handover_max, uint32_t handover_ms, uint32_t spin_min_ms,
    uint32_t spin_max_ms, int32_t log_fd, lockc_go_answer* answer) {
  lockc_client_options options = {
      .struct_size = sizeof options,
      .connect_timeout_ms = connect_timeout_ms,
      .reply_timeout_ms = reply_timeout_ms,
      .max_waiters = max_waiters,
      .key_prefix = lockc_go_given(key_prefix),
      .client_name = lockc_go_given(client_name),
      .username = lockc_go_given(username),
      .password = lockc_go_given(password),
      .default_ttl_ms = default_ttl_ms,
      .renew_every_ms = renew_every_ms,
      .fence_retention_ms = fence_retention_ms,
      .renew_batch = renew_batch,
      .handover_max = handover_max,
      .handover_ms = handover_ms,
      .spin_min_ms = spin_min_ms,
      .spin_max_ms = spin_max_ms,
      .log_fd = log_fd,
  };
  lockc_client* client = NULL;
  answer->status = lockc_client_open(&client, lockc_go_given(url), &options, &answer->error);
  return client;
}

static inline void lockc_go_connect(lockc_client* client, int64_t timeout_ms,
                                    lockc_go_answer* answer) {
  answer->status = lockc_client_connect(client, timeout_ms, &answer->error);
}

static inline lockc_text* lockc_go_inspect(lockc_client* client, const char* key, size_t key_len,
                                           lockc_go_answer* answer) {
  lockc_text* text = NULL;
  answer->status = lockc_client_inspect(&text, client, lockc_go_key(key), key_len, &answer->error);
  return text;
}

static inline lockc_record* lockc_go_read(lockc_client* client, const char* key, size_t key_len,
                                          lockc_go_answer* answer) {
  lockc_record* record = NULL;
  answer->status = lockc_client_read(&record, client, lockc_go_key(key), key_len, &answer->error);
  return record;
}

/* Returns the new version. */
static inline uint64_t lockc_go_write(lockc_client* client, const char* key, size_t key_len,
                                      const char* value, size_t value_len, uint32_t flags,
                                      uint64_t token, uint64_t expected, int64_t ttl_ms,
                                      lockc_go_answer* answer) {
  lockc_write_options options = {
      .struct_size = sizeof options,
      .flags = flags,
      .token = token,
      .version = expected,
      .ttl_ms = ttl_ms,
  };
  uint64_t version = 0;
  answer->status = lockc_client_write(&version, client, lockc_go_key(key), key_len, value,
                                      value_len, &options, &answer->error);
  return version;
}

static inline lockc_queue* lockc_go_queue_open(lockc_client* client, lockc_go_answer* answer) {
  lockc_queue* queue = NULL;
  answer->status = lockc_queue_open(&queue, client, &answer->error);
  return queue;
}

/* A descriptor of the caller's own, so that Go's poller may close what it watches. */
static inline int32_t lockc_go_queue_dup(const lockc_queue* queue) {
  return fcntl(lockc_queue_fd(queue), F_DUPFD_CLOEXEC, 0);
}

/* At most one round trip where inline_trip is set; LOCKC_PENDING: the answer comes by the queue.
 * The grant's loss is told under the tag of its acquire. */
static inline void lockc_go_acquire(lockc_queue* queue, uint64_t tag, const char* key,
                                    size_t key_len, uint32_t flags, int32_t kind,
                                    uint32_t max_tries, int64_t ttl_ms, int64_t wait_ms,
                                    int64_t max_hold_ms, uint64_t owner, int32_t inline_trip,
                                    lockc_go_answer* answer) {
  lockc_acquire_options options = {
      .struct_size = sizeof options,
      .flags = flags,
      .kind = kind,
      .max_tries = max_tries,
      .ttl_ms = ttl_ms,
      .wait_ms = wait_ms,
      .max_hold_ms = max_hold_ms,
      .owner = owner,
      .events = queue,
      .events_tag = tag,
  };
  answer->tag = tag;
  answer->status = lockc_queue_acquire(queue, tag, inline_trip ? &answer->lock : NULL,
                                       lockc_go_key(key), key_len, &options, &answer->error);
  if (answer->status == LOCKC_OK) answer->token = lockc_lock_token(answer->lock);
}

static inline void lockc_go_queue_extend(lockc_queue* queue, uint64_t tag, lockc_lock* lock,
                                         int64_t ttl_ms, lockc_go_answer* answer) {
  answer->status = lockc_queue_extend(queue, tag, lock, ttl_ms, &answer->error);
}

static inline void lockc_go_queue_release(lockc_queue* queue, uint64_t tag, lockc_lock* lock,
                                          lockc_go_answer* answer) {
  answer->status = lockc_queue_release(queue, tag, lock, &answer->error);
}

/* Blocks for one answer, and ends the handle with it unless the release may be repeated. */
static inline void lockc_go_release(lockc_lock* lock, lockc_go_answer* answer) {
  answer->status = lockc_lock_release(lock, &answer->error);
  answer->lock = lock;
  if (answer->status >= 0) {
    lockc_lock_free(lock);
    answer->lock = NULL;
  }
}

/* Never blocks, and ends the handle. */
static inline void lockc_go_release_nowait(lockc_lock* lock, lockc_go_answer* answer) {
  answer->status = lockc_lock_release_nowait(lock, &answer->error);
  lockc_lock_free(lock);
}

/* Never blocks. Fills up to capacity answers and returns their number. */
static inline int32_t lockc_go_queue_poll(lockc_queue* queue, lockc_go_answer* answers,
                                          int32_t capacity) {
  enum { batch = 64 };
  lockc_completion done[batch];
  int32_t count = lockc_queue_poll(queue, done, capacity < batch ? capacity : batch, 0);
  for (int32_t i = 0; i < count; ++i) {
    answers[i] = (lockc_go_answer){
        .tag = done[i].tag,
        .token = done[i].lock ? lockc_lock_token(done[i].lock) : 0,
        .lock = done[i].lock,
        .error = done[i].error,
        .kind = done[i].kind,
        .status = done[i].status,
    };
  }
  return count;
}

static inline int64_t lockc_go_copy(char* buffer, size_t capacity, const char* text) {
  size_t size = strnlen(text, capacity);
  memcpy(buffer, text, size);
  return (int64_t)size;
}

/* Copies as much of the message as there is room for, ends the error, returns the bytes copied. */
static inline int64_t lockc_go_error_take(lockc_error* err, char* buffer, size_t capacity) {
  int64_t size = lockc_go_copy(buffer, capacity, lockc_error_message(err));
  lockc_error_free(err);
  return size;
}

static inline int64_t lockc_go_text_size(const lockc_text* text) {
  return (int64_t)strlen(lockc_text_data(text));
}

/* The same for a text. */
static inline int64_t lockc_go_text_take(lockc_text* text, char* buffer, size_t capacity) {
  int64_t size = lockc_go_copy(buffer, capacity, lockc_text_data(text));
  lockc_text_free(text);
  return size;
}

static inline int64_t lockc_go_record_size(const lockc_record* record) {
  size_t size;
  lockc_record_value(record, &size);
  return (int64_t)size;
}

/* Copies the value into a buffer of its size and ends the record. */
static inline void lockc_go_record_take(lockc_record* record, char* buffer, size_t capacity) {
  if (capacity > 0) memcpy(buffer, lockc_record_value(record, NULL), capacity);
  lockc_record_free(record);
}

#endif
