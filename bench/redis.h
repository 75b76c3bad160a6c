/* Blocking hiredis for the programs that measure what a lock could cost at best. */
#ifndef LOCKC_BENCH_REDIS_H
#define LOCKC_BENCH_REDIS_H

#include <hiredis/hiredis.h>
#include <stddef.h>
#include <stdint.h>

enum { REQUEST_WORDS = 12 };

struct request {
  int words;
  const char *word[REQUEST_WORDS];
};

#define REQUEST(...)                                                                     \
  ((struct request){(int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *)), \
                    {__VA_ARGS__}})

redisContext *redis_dial(const char *address); /* host:port */
void redis_load_script(redisContext *connection, const char *lua, char sha1[41]);

/* The integer of a reply, or of its first element; +OK is 1, nil is 0. Frees the reply. */
long long redis_number(redisReply *reply);
long long redis_ask(redisContext *connection, struct request request);
void redis_append(redisContext *connection, struct request request);

/* The next reply that has arrived, or NULL when timeout_ms passes without one. */
redisReply *redis_next(redisContext *connection, int timeout_ms);

#endif
