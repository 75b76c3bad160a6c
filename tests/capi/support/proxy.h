/* tests/support/proxy.py in front of a server: faults on the way, on command. */
#ifndef LOCKC_TESTS_PROXY_H
#define LOCKC_TESTS_PROXY_H

#include <stdio.h>
#include <sys/types.h>

struct proxy {
  pid_t pid;
  char url[64];
  FILE *commands;
  FILE *answers;
};

/* Starts one that leads to the port. Ends the test program if that fails. */
struct proxy *proxy_start(int target_port);
void proxy_stop(struct proxy *proxy);

/* Does what one command line says: cut, reset, half_close up, refuse, heal, ... */
void proxy_do(struct proxy *proxy, const char *command);

#endif
