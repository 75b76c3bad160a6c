/* lockc from C.
 *
 *   work=threads  one blocking thread for each worker (the default); other works: runner_c_queue.c
 *   fenced=0      efficiency locks, without a token
 *   fair=1        strictly first come, first served over all processes
 *   nowait=1      releases that don't wait for their answers
 */
#include "runner_c.h"

#include <stdio.h>
#include <string.h>

enum { GRACE_MS = 10000 }; /* who waits when the time is over still gets its turn */

static lockc_client *client;
static lockc_acquire_options how = {.struct_size = sizeof how};
static lockc_status (*give_back)(lockc_lock *lock, lockc_error **err) = lockc_lock_release;

static bool acquire(struct worker *worker) {
  lockc_acquire_options options = how;
  lockc_lock *lock;
  lockc_error *error;
  options.wait_ms = (worker->load->deadline - now_ns()) / 1000000 + GRACE_MS;
  lockc_status status =
      lockc_client_acquire(&lock, client, worker->key, strlen(worker->key), &options, &error);
  check(status, error, "acquire");
  worker->state = lock;
  return true;
}

static void release(struct worker *worker) {
  lockc_error *error;
  check(give_back(worker->state, &error), error, "release");
  lockc_lock_free(worker->state);
}

lockc_client *open_client(const struct load *load) {
  char url[80];
  lockc_client *opened;
  lockc_error *error;
  lockc_client_options options = {
      .struct_size = sizeof options,
      .default_ttl_ms = load->ttl_ms,
      .reply_timeout_ms = 10000, /* a busy machine makes a run slow, not wrong */
  };
  snprintf(url, sizeof url, "redis://%s", load->address);
  check(lockc_client_open(&opened, url, &options, &error), error, "open");
  check(lockc_client_connect(opened, 5000, &error), error, "connect");
  return opened;
}

void check(lockc_status status, lockc_error *error, const char *what) {
  if (status != LOCKC_OK && status != LOCKC_PENDING)
    fail("%s: %s", what, status < 0 ? lockc_error_message(error) : lockc_status_name(status));
}

int main(int argc, char **argv) {
  struct load load;
  load_open(&load, argc, argv);
  if (load_number(&load, "fenced", 1) == 0) how.flags |= LOCKC_UNFENCED;
  if (load_number(&load, "fair", 0) == 1) how.kind = LOCKC_FAIR;
  if (load_number(&load, "nowait", 0) == 1) give_back = lockc_lock_release_nowait;

  client = open_client(&load);
  const char *work = load_text(&load, "work", "threads");
  if (strcmp(work, "threads") == 0) {
    load_begin(&load);
    load_threads(&load, &(struct target){acquire, release});
    load_end(&load);
  } else {
    run_queue(&load, client, work);
  }
  lockc_client_close(client);
  return 0;
}
