/* Stands in for functions of the C library: names that take for ever to look up, a boot clock that
 * jumps, as it does for a process that sleeps with its machine, and connects that are counted. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static atomic_long jumped; /* seconds */
static atomic_long connects;

/* The test's program calls these by name. */
void jump_boot_clock(long seconds) { atomic_fetch_add(&jumped, seconds); }
long connects_so_far(void) { return atomic_load(&connects); }

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
  const int result = real(clock, now);
  if (result == 0 && clock == CLOCK_BOOTTIME) now->tv_sec += atomic_load(&jumped);
  return result;
}

int connect(int socket, const struct sockaddr *address, socklen_t size) {
  static int (*real)(int, const struct sockaddr *, socklen_t);
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "connect");
  atomic_fetch_add(&connects, 1);
  return real(socket, address, size);
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **found) {
  static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
  if (name != NULL && strcmp(name, "slow.invalid") == 0) sleep(30);
  return real(name, service, hints, found);
}
