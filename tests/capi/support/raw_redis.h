/* A blocking connection that goes round lockc, to look at the server and to meddle with it. A
 * failed connection or an error answer ends the test program: no test expects one. */
#ifndef LOCKC_TESTS_RAW_REDIS_H
#define LOCKC_TESTS_RAW_REDIS_H

#include <stdint.h>

struct raw_redis;

struct raw_redis *raw_open(const char *url); /* redis://host:port */
struct raw_redis *raw_open_port(int port, const char *password);
void raw_close(struct raw_redis *raw);

/* Formats as hiredis does: %s one argument, %b bytes and size_t length. */
void raw_do(struct raw_redis *raw, const char *format, ...);
long long raw_integer(struct raw_redis *raw, const char *format, ...);
/* Sends without waiting for the answer. */
void raw_send(struct raw_redis *raw, const char *format, ...);

/* The answer as text, the caller's to free; NULL for nil. */
char *raw_text(struct raw_redis *raw, const char *format, ...);

int raw_exists(struct raw_redis *raw, const char *key);
int64_t raw_pttl(struct raw_redis *raw, const char *key);

/* How often the server has run one command for clients and scripts, by INFO commandstats. */
long long raw_calls(struct raw_redis *raw, const char *command);
/* How many EVAL and EVALSHA it was asked for. */
long long raw_script_calls(struct raw_redis *raw);

/* How many waiters stand in the server's queue for the key. */
long long raw_queue_length(struct raw_redis *raw, const char *key);

#endif
