/* A program of an older lockc.h, whose options structs had fewer members: older_program URL. Behind
 * each struct begins memory that nobody may touch. What the library returned is looked at again
 * after further calls. Prints "done". */
#define _GNU_SOURCE
#include <lockc/lockc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void check(int right, const char *what) {
  if (right) return;
  fprintf(stderr, "not so: %s\n", what);
  exit(1);
}
#define CHECK(condition) check((condition), #condition)

/* Zeros that end where a page does, and behind them one that can't be read. */
static void *at_the_end_of_a_page(size_t size) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(pages != MAP_FAILED);
  CHECK(mprotect(pages + page, page, PROT_NONE) == 0);
  return pages + page - size;
}

static lockc_client *open_client(const char *url) {
  lockc_client_options *opts = at_the_end_of_a_page(sizeof *opts);
  lockc_client *client = NULL;
  opts->struct_size = sizeof *opts;
  opts->connect_timeout_ms = 20000;
  opts->reply_timeout_ms = 20000;
  CHECK(lockc_client_open(&client, url, opts, NULL) == LOCKC_OK);
  return client;
}

static lockc_lock *acquire(lockc_client *client) {
  lockc_acquire_options *opts = at_the_end_of_a_page(sizeof *opts);
  lockc_lock *lock = NULL;
  opts->struct_size = sizeof *opts;
  opts->ttl_ms = 20000;
  opts->wait_ms = 20000;
  CHECK(lockc_client_acquire(&lock, client, "key", 3, opts, NULL) == LOCKC_OK);
  CHECK(lockc_lock_remaining_ms(lock) > 0 && lockc_lock_remaining_ms(lock) <= 20000);
  return lock;
}

static lockc_lock *acquire_by_queue(lockc_queue *queue) {
  lockc_acquire_options *opts = at_the_end_of_a_page(sizeof *opts);
  lockc_completion *done = at_the_end_of_a_page(sizeof *done);
  opts->struct_size = sizeof *opts;
  opts->wait_ms = LOCKC_WAIT_FOREVER;
  CHECK(lockc_queue_acquire(queue, 7, NULL, "key", 3, opts, NULL) == LOCKC_PENDING);
  CHECK(lockc_queue_poll(queue, done, 1, 20000) == 1);
  CHECK(done->tag == 7 && done->kind == LOCKC_DONE_ACQUIRE && done->status == LOCKC_OK);
  return done->lock;
}

static lockc_record *write_and_read(lockc_client *client, uint64_t token) {
  lockc_write_options *opts = at_the_end_of_a_page(sizeof *opts);
  lockc_record *record = NULL;
  opts->struct_size = sizeof *opts;
  opts->token = token;
  CHECK(lockc_client_write(NULL, client, "record", 6, "value", 5, opts, NULL) == LOCKC_OK);
  CHECK(lockc_client_read(&record, client, "record", 6, NULL) == LOCKC_OK);
  CHECK(lockc_record_token(record) == token);
  return record;
}

static lockc_error *refused(lockc_client *client) {
  lockc_acquire_options *opts = at_the_end_of_a_page(sizeof *opts);
  lockc_lock *lock = NULL;
  lockc_error *err = NULL;
  opts->struct_size = sizeof *opts;
  opts->ttl_ms = 1;
  CHECK(lockc_client_acquire(&lock, client, "key", 3, opts, &err) == LOCKC_E_INVALID);
  return err;
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  lockc_client *client = open_client(argv[1]);
  lockc_queue *queue = NULL;
  CHECK(lockc_queue_open(&queue, client, NULL) == LOCKC_OK);
  lockc_lock *lock = acquire(client);
  lockc_record *record = write_and_read(client, lockc_lock_token(lock));
  lockc_error *err = refused(client);
  const char *const texts[] = {lockc_lock_owner(lock), lockc_record_value(record, NULL),
                               lockc_error_message(err), lockc_status_name(LOCKC_BUSY)};
  char *copies[4];
  for (int i = 0; i < 4; ++i) copies[i] = strdup(texts[i]);
  CHECK(lockc_lock_release(lock, NULL) == LOCKC_OK);

  lockc_lock *later = acquire_by_queue(queue);
  CHECK(lockc_lock_token(later) > lockc_lock_token(lock));
  lockc_record_free(write_and_read(client, lockc_lock_token(later)));
  lockc_error_free(refused(client));
  lockc_lock_free(later);
  lockc_queue_close(queue);
  lockc_client_close(client);
  for (int i = 0; i < 4; ++i) CHECK(strcmp(texts[i], copies[i]) == 0);
  lockc_error_free(err);
  lockc_record_free(record);
  lockc_lock_free(lock);
  puts("done");
  return 0;
}
