/* The two halves of the C runner: blocking threads, and one thread with a completion queue. */
#ifndef LOCKC_BENCH_RUNNER_C_H
#define LOCKC_BENCH_RUNNER_C_H

#include <lockc/lockc.h>

#include "load.h"

lockc_client *open_client(const struct load *load);
void check(lockc_status status, lockc_error *error, const char *what);
void run_queue(struct load *load, lockc_client *client, const char *work);

#endif
