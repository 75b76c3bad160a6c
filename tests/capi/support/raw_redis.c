#include "raw_redis.h"

#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct raw_redis {
  redisContext *context;
};

static void give_up(const char *what, const char *why) {
  fprintf(stderr, "raw connection: %s: %s\n", what, why);
  exit(2);
}

struct raw_redis *raw_open_port(int port, const char *password) {
  struct raw_redis *raw = calloc(1, sizeof *raw);
  if (raw == NULL) give_up("open", "out of memory");
  raw->context = redisConnect("127.0.0.1", port);
  if (raw->context == NULL || raw->context->err != 0) give_up("open", "no connection");
  if (password != NULL) raw_do(raw, "AUTH %s", password);
  return raw;
}

struct raw_redis *raw_open(const char *url) {
  const char *port = strrchr(url, ':');
  if (port == NULL) give_up("open", url);
  return raw_open_port(atoi(port + 1), NULL);
}

void raw_close(struct raw_redis *raw) {
  redisFree(raw->context);
  free(raw);
}

static redisReply *ask(struct raw_redis *raw, const char *format, va_list arguments) {
  redisReply *reply = redisvCommand(raw->context, format, arguments);
  if (reply == NULL) give_up(format, raw->context->errstr);
  if (reply->type == REDIS_REPLY_ERROR) give_up(format, reply->str);
  return reply;
}

void raw_do(struct raw_redis *raw, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  freeReplyObject(ask(raw, format, arguments));
  va_end(arguments);
}

long long raw_integer(struct raw_redis *raw, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  redisReply *reply = ask(raw, format, arguments);
  va_end(arguments);
  if (reply->type != REDIS_REPLY_INTEGER) give_up(format, "no integer");
  const long long value = reply->integer;
  freeReplyObject(reply);
  return value;
}

void raw_send(struct raw_redis *raw, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int done = 0;
  if (redisvAppendCommand(raw->context, format, arguments) != REDIS_OK) give_up(format, "append");
  va_end(arguments);
  while (!done) {
    if (redisBufferWrite(raw->context, &done) != REDIS_OK) give_up(format, raw->context->errstr);
  }
}

char *raw_text(struct raw_redis *raw, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  redisReply *reply = ask(raw, format, arguments);
  va_end(arguments);
  char *text = reply->type == REDIS_REPLY_NIL ? NULL : strdup(reply->str);
  freeReplyObject(reply);
  return text;
}

int raw_exists(struct raw_redis *raw, const char *key) {
  return raw_integer(raw, "EXISTS %s", key) == 1;
}

int64_t raw_pttl(struct raw_redis *raw, const char *key) {
  return raw_integer(raw, "PTTL %s", key);
}

long long raw_calls(struct raw_redis *raw, const char *command) {
  char *info = raw_text(raw, "INFO commandstats");
  char line[64];
  snprintf(line, sizeof line, "cmdstat_%s:calls=", command);
  const char *found = strstr(info, line);
  const long long calls = found == NULL ? 0 : atoll(found + strlen(line));
  free(info);
  return calls;
}

long long raw_script_calls(struct raw_redis *raw) {
  return raw_calls(raw, "eval") + raw_calls(raw, "evalsha");
}

long long raw_queue_length(struct raw_redis *raw, const char *key) {
  return raw_integer(raw, "ZCARD lockc:{%s}:queue:%s", key, key);
}
