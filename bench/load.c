#define _GNU_SOURCE
#include "load.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum { THREADS_MAX = 10000, PAIRS_MAX = 5000000, SECONDS_MAX = 60 };

void fail(const char *format, ...) {
  va_list values;
  va_start(values, format);
  vfprintf(stderr, format, values);
  va_end(values);
  fputc('\n', stderr);
  exit(1);
}

int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void sleep_ns(int64_t ns) {
  struct timespec left = {ns / 1000000000, ns % 1000000000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

const char *load_text(const struct load *load, const char *name, const char *otherwise) {
  size_t length = strlen(name);
  for (int i = 1; i < load->argc; i++)
    if (strncmp(load->argv[i], name, length) == 0 && load->argv[i][length] == '=')
      return load->argv[i] + length + 1;
  return otherwise;
}

int64_t load_number(const struct load *load, const char *name, int64_t otherwise) {
  const char *text = load_text(load, name, NULL);
  return text ? strtoll(text, NULL, 10) : otherwise;
}

static void open_workers(struct load *load) {
  bool one_key = strcmp(load_text(load, "keys", "own"), "one") == 0;
  load->workers = calloc((size_t)load->threads, sizeof *load->workers);
  if (!load->workers) fail("out of memory");
  for (int i = 0; i < load->threads; i++) {
    struct worker *worker = &load->workers[i];
    worker->index = i;
    worker->load = load;
    worker->records = calloc((size_t)load->pairs, sizeof *worker->records);
    if (!worker->records) fail("out of memory");
    if (one_key)
      snprintf(worker->key, sizeof worker->key, "bench:one");
    else
      snprintf(worker->key, sizeof worker->key, "bench:%d:%d", load->process, i);
  }
}

void load_open(struct load *load, int argc, char **argv) {
  *load = (struct load){.argc = argc, .argv = argv};
  load->address = load_text(load, "address", "127.0.0.1:0");
  load->process = (int)load_number(load, "process", 0);
  load->threads = (int)load_number(load, "threads", 1);
  load->pairs = load_number(load, "pairs", 1000);
  load->seconds = strtod(load_text(load, "seconds", "10"), NULL);
  load->ttl_ms = load_number(load, "ttl_ms", 30000);
  load->hold_ns = load_number(load, "hold_us", 0) * 1000;
  load->think_ns = load_number(load, "think_us", 0) * 1000;
  if (load->threads < 1 || load->threads > THREADS_MAX) fail("threads: 1..%d", THREADS_MAX);
  if (load->pairs < 1 || load->pairs > PAIRS_MAX) fail("pairs: 1..%d", PAIRS_MAX);
  if (!(load->seconds > 0 && load->seconds <= SECONDS_MAX)) fail("seconds: 0..%d", SECONDS_MAX);
  open_workers(load);
}

void load_begin(struct load *load) {
  long long begin;
  puts("ready");
  fflush(stdout);
  if (scanf("%lld", &begin) != 1) exit(1);
  while (now_ns() < begin) sleep_ns(100000);
  load->deadline = now_ns() + (int64_t)(load->seconds * 1e9);
}

int64_t worker_id(const struct worker *worker) {
  return (int64_t)worker->load->process * PROCESS_STRIDE + worker->index;
}

static void *work(void *argument) {
  struct worker *worker = argument;
  struct load *load = worker->load;
  prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0); /* the kernel's 50 us would swamp a hold of 1 ms */
  while (worker->count < load->pairs) {
    struct record *record = &worker->records[worker->count];
    record->worker = worker_id(worker);
    record->asked = now_ns();
    if (record->asked >= load->deadline || !load->target->acquire(worker)) break;
    record->granted = now_ns();
    if (load->hold_ns) sleep_ns(load->hold_ns);
    record->releasing = now_ns();
    load->target->release(worker);
    record->released = now_ns();
    worker->count++;
    if (load->think_ns) sleep_ns(load->think_ns);
  }
  return NULL;
}

void load_threads(struct load *load, const struct target *target) {
  pthread_t *threads = calloc((size_t)load->threads, sizeof *threads);
  if (!threads) fail("out of memory");
  load->target = target;
  for (int i = 0; i < load->threads; i++)
    if (pthread_create(&threads[i], NULL, work, &load->workers[i]) != 0) fail("no thread");
  for (int i = 0; i < load->threads; i++) pthread_join(threads[i], NULL);
  free(threads);
}

void load_end(struct load *load) {
  FILE *log = fopen(load_text(load, "log", "/dev/null"), "wb");
  if (!log) fail("log: %s", strerror(errno));
  for (int i = 0; i < load->threads; i++) {
    struct worker *worker = &load->workers[i];
    fwrite(worker->records, sizeof *worker->records, (size_t)worker->count, log);
    free(worker->records);
  }
  if (fclose(log) != 0) fail("log: %s", strerror(errno));
  free(load->workers);
  puts("done");
  fflush(stdout);
  while (getchar() != EOF) {
  }
}
