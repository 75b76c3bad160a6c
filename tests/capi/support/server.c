#include "server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ARGUMENTS = 32, START_ATTEMPTS = 500 };

static void give_up(const char *what) {
  perror(what);
  exit(2);
}

static struct sockaddr_in loopback(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/* A bound socket, so that the port is ours until it is closed. */
static int bind_any(int *port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) != 0 ||
      getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
    give_up("bind");
  }
  *port = ntohs(address.sin_port);
  return fd;
}

int closed_port(void) {
  int port = 0;
  close(bind_any(&port));
  return port;
}

int black_hole(int *port) {
  const int fd = bind_any(port);
  if (listen(fd, 64) != 0) give_up("listen");
  return fd;
}

static int answers(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const struct sockaddr_in address = loopback(port);
  const int connected = connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;
  close(fd);
  return connected;
}

static void become_server(const struct server *server, const char *const *arguments) {
  const char *program = getenv("LOCKC_REDIS_SERVER");
  char port[16];
  snprintf(port, sizeof port, "%d", server->port);
  const char *argv[MAX_ARGUMENTS] = {program == NULL ? "redis-server" : program,
                                     "--port",
                                     port,
                                     "--bind",
                                     "127.0.0.1",
                                     "--save",
                                     "",
                                     "--dir",
                                     server->directory,
                                     "--logfile",
                                     "server.log"};
  size_t count = 0;
  while (argv[count] != NULL) ++count;
  for (size_t i = 0; arguments != NULL && arguments[i] != NULL; ++i) argv[count++] = arguments[i];
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* a crashed test leaves no server */
  execvp(argv[0], (char *const *)argv);
  _exit(127);
}

struct server *server_start(const char *const *arguments) {
  return server_start_at(closed_port(), arguments);
}

struct server *server_start_at(int port, const char *const *arguments) {
  struct server *server = calloc(1, sizeof *server);
  if (server == NULL) give_up("server");
  snprintf(server->directory, sizeof server->directory, "/tmp/lockc-test-XXXXXX");
  if (mkdtemp(server->directory) == NULL) give_up(server->directory);
  server->port = port;
  snprintf(server->url, sizeof server->url, "redis://127.0.0.1:%d", server->port);
  server->pid = fork();
  if (server->pid < 0) give_up("fork");
  if (server->pid == 0) become_server(server, arguments);
  for (int attempt = 0; attempt < START_ATTEMPTS; ++attempt) {
    if (answers(server->port)) return server;
    if (waitpid(server->pid, NULL, WNOHANG) != 0) break;
    const struct timespec pause = {0, 10000000};
    nanosleep(&pause, NULL);
  }
  fprintf(stderr, "redis-server did not start at port %d\n", server->port);
  exit(2);
}

void server_stop(struct server *server) {
  char log[96];
  kill(server->pid, SIGKILL);
  waitpid(server->pid, NULL, 0);
  snprintf(log, sizeof log, "%s/server.log", server->directory);
  unlink(log);
  rmdir(server->directory);
  free(server);
}

void server_freeze(const struct server *server) { kill(server->pid, SIGSTOP); }

void server_thaw(const struct server *server) { kill(server->pid, SIGCONT); }
