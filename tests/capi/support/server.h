/* A redis-server of a test's own, for what must not be done to the suite's. */
#ifndef LOCKC_TESTS_SERVER_H
#define LOCKC_TESTS_SERVER_H

#include <sys/types.h>

struct server {
  pid_t pid;
  int port;
  char url[64];
  char directory[64];
};

/* Starts one on a free port of 127.0.0.1 and waits until it answers. `arguments` ends with NULL and
 * goes to redis-server as it is; NULL: none. Ends the test program if that fails. */
struct server *server_start(const char *const *arguments);
struct server *server_start_at(int port, const char *const *arguments);
void server_stop(struct server *server);

/* Stops and continues the process, as a hung machine would. */
void server_freeze(const struct server *server);
void server_thaw(const struct server *server);

/* A port of 127.0.0.1 at which nothing listens. */
int closed_port(void);

/* A socket that takes connections and never answers; *port is its port. To be closed by close(). */
int black_hole(int *port);

#endif
