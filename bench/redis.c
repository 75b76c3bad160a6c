#define _GNU_SOURCE
#include "redis.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"

redisContext *redis_dial(const char *address) {
  char host[64];
  snprintf(host, sizeof host, "%s", address);
  char *colon = strrchr(host, ':');
  if (!colon) fail("address: host:port");
  *colon = '\0';
  redisContext *connection = redisConnect(host, atoi(colon + 1));
  if (!connection || connection->err)
    fail("connect %s: %s", address, connection ? connection->errstr : "out of memory");
  return connection;
}

void redis_load_script(redisContext *connection, const char *lua, char sha1[41]) {
  redisReply *reply = redisCommand(connection, "SCRIPT LOAD %s", lua);
  if (!reply || reply->type != REDIS_REPLY_STRING)
    fail("script load: %s", reply ? reply->str : connection->errstr);
  snprintf(sha1, 41, "%s", reply->str);
  freeReplyObject(reply);
}

static long long value_of(const redisReply *reply) {
  switch (reply->type) {
    case REDIS_REPLY_INTEGER:
      return reply->integer;
    case REDIS_REPLY_STATUS:
      return 1;
    case REDIS_REPLY_NIL:
      return 0;
    case REDIS_REPLY_ARRAY:
      return reply->elements ? value_of(reply->element[0]) : 0;
    default:
      fail("reply: %s", reply->str ? reply->str : "of unknown type");
  }
}

long long redis_number(redisReply *reply) {
  long long value = value_of(reply);
  freeReplyObject(reply);
  return value;
}

long long redis_ask(redisContext *connection, struct request request) {
  redisReply *reply = redisCommandArgv(connection, request.words, request.word, NULL);
  if (!reply) fail("redis: %s", connection->errstr);
  return redis_number(reply);
}

void redis_append(redisContext *connection, struct request request) {
  if (redisAppendCommandArgv(connection, request.words, request.word, NULL) != REDIS_OK)
    fail("redis: %s", connection->errstr);
}

redisReply *redis_next(redisContext *connection, int timeout_ms) {
  for (;;) {
    void *reply = NULL;
    if (redisGetReplyFromReader(connection, &reply) != REDIS_OK)
      fail("redis: %s", connection->errstr);
    if (reply) return reply;
    struct pollfd readable = {connection->fd, POLLIN, 0};
    if (poll(&readable, 1, timeout_ms) <= 0) return NULL;
    if (redisBufferRead(connection) != REDIS_OK) fail("redis: %s", connection->errstr);
  }
}
