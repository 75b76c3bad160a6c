/* Stands in for functions of the C library: names that take for ever to look up, and a boot clock
 * that jumps, as it does for a process that sleeps with its machine. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static atomic_long jumped; /* seconds */

/* The test's program calls it by name. */
void jump_boot_clock(long seconds) { atomic_fetch_add(&jumped, seconds); }

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
  const int result = real(clock, now);
  if (result == 0 && clock == CLOCK_BOOTTIME) now->tv_sec += atomic_load(&jumped);
  return result;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **found) {
  static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
  if (name != NULL && strcmp(name, "slow.invalid") == 0) sleep(30);
  return real(name, service, hints, found);
}
