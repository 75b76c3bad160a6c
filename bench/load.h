/* The shape that the C load programs share: arguments, workers, records, and the talk with the
 * driver.
 *
 * A load program takes name=value arguments (docs/benchmarks.md lists them). It opens its
 * connections, prints "ready", reads one line with the CLOCK_MONOTONIC nanosecond at which to
 * begin, works, writes its records to the log, prints "done", and ends when its standard input
 * does. */
#ifndef LOCKC_BENCH_LOAD_H
#define LOCKC_BENCH_LOAD_H

#include <stdbool.h>
#include <stdint.h>

enum { PROCESS_STRIDE = 100000 }; /* a record's worker is process * PROCESS_STRIDE + index */

/* One acquisition. Every runner in every language writes these five little-endian int64; times are
 * CLOCK_MONOTONIC nanoseconds. */
struct record {
  int64_t worker;
  int64_t asked;     /* just before acquire is called */
  int64_t granted;   /* acquire returned with the lock */
  int64_t releasing; /* just before release is called */
  int64_t released;  /* release returned */
};

struct worker {
  int index;
  char key[32];
  void *state; /* the target's own */
  struct record *records;
  long count;
  struct load *load;
};

struct load {
  int argc;
  char **argv;
  const char *address; /* host:port */
  int process;
  int threads;
  long pairs; /* of each worker */
  double seconds;
  int64_t ttl_ms;
  int64_t hold_ns;
  int64_t think_ns;
  int64_t deadline; /* known once the load has begun */
  struct worker *workers;
  const struct target *target;
};

struct target {
  bool (*acquire)(struct worker *worker); /* false: the time is over */
  void (*release)(struct worker *worker);
};

const char *load_text(const struct load *load, const char *name, const char *otherwise);
int64_t load_number(const struct load *load, const char *name, int64_t otherwise);

void load_open(struct load *load, int argc, char **argv);
void load_begin(struct load *load);                                /* ready ... begin */
void load_threads(struct load *load, const struct target *target); /* one thread for each worker */
void load_end(struct load *load);                                  /* log, done ... end of input */

int64_t worker_id(const struct worker *worker);
int64_t now_ns(void);
void sleep_ns(int64_t ns);
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
