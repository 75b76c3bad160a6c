#include "proxy.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void give_up(const char *what) {
  perror(what);
  exit(2);
}

static void become_proxy(int target_port, int input, int output) {
  char port[16];
  snprintf(port, sizeof port, "%d", target_port);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* a crashed test leaves no proxy */
  execl(TESTS_PYTHON, TESTS_PYTHON, TESTS_SUPPORT "/proxy.py", port, (char *)NULL);
  _exit(127);
}

struct proxy *proxy_start(int target_port) {
  struct proxy *proxy = calloc(1, sizeof *proxy);
  int commands[2];
  int answers[2];
  if (proxy == NULL || pipe2(commands, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0) {
    give_up("proxy");
  }
  proxy->pid = fork();
  if (proxy->pid < 0) give_up("fork");
  if (proxy->pid == 0) become_proxy(target_port, commands[0], answers[1]);
  close(commands[0]);
  close(answers[1]);
  proxy->commands = fdopen(commands[1], "w");
  proxy->answers = fdopen(answers[0], "r");
  char answer[32] = "";
  int port = 0;
  if (fgets(answer, sizeof answer, proxy->answers) == NULL ||
      sscanf(answer, "port %d", &port) != 1) {
    give_up("proxy does not start");
  }
  snprintf(proxy->url, sizeof proxy->url, "redis://127.0.0.1:%d", port);
  return proxy;
}

void proxy_stop(struct proxy *proxy) {
  fclose(proxy->commands); /* the end of its input is its end */
  fclose(proxy->answers);
  waitpid(proxy->pid, NULL, 0);
  free(proxy);
}

void proxy_do(struct proxy *proxy, const char *command) {
  char answer[128] = "";
  fprintf(proxy->commands, "%s\n", command);
  fflush(proxy->commands);
  if (fgets(answer, sizeof answer, proxy->answers) == NULL || strcmp(answer, "ok\n") != 0) {
    fprintf(stderr, "proxy: %s: %s\n", command, answer);
    exit(2);
  }
}
