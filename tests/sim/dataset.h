// The keys of the simulated server: strings, sorted sets and hashes with expiry, and the commands
// that lockc's scripts use on them, with the semantics of Redis' documentation.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "reply.h"

namespace lockc::sim {

class Dataset {
 public:
  using SortedSet = std::map<std::string, double>;
  using Hash = std::map<std::string, std::string>;
  struct Entry {
    std::variant<std::string, SortedSet, Hash> value;
    std::optional<int64_t> expires_ms{};  // on the server's clock
    bool operator==(const Entry&) const = default;
  };
  using Entries = std::map<std::string, Entry>;

  // Told of every key that is deleted or expires, with Redis' word for it.
  std::function<void(const std::string& key, const char* event)> on_gone;

  // What counts as now for expiry; constant while a script runs.
  void set_now(int64_t ms) { now_ms_ = ms; }
  // Deletes what has expired, and returns the rest.
  const Entries& entries() {
    expire();
    return entries_;
  }
  void restore(Entries entries) { entries_ = std::move(entries); }

  // nullopt: none of these commands.
  std::optional<Reply> run(const Arguments& request);
  // Full memory denies these.
  static bool needs_memory(const std::string& name) {
    return name == "SET" || name == "INCRBY" || name == "ZADD" || name == "HSET";
  }
  static bool is_write(const std::string& name);

 private:
  using Command = Reply (Dataset::*)(const Arguments&);
  void expire();
  Entry* find(const std::string& key);
  SortedSet* find_set(const std::string& key);

  Reply get(const Arguments& request);
  Reply set(const Arguments& request);
  Reply incrby(const Arguments& request);
  Reply del(const Arguments& request);
  Reply exists(const Arguments& request);
  Reply type(const Arguments& request);
  Reply pexpire(const Arguments& request);
  Reply pttl(const Arguments& request);
  Reply hset(const Arguments& request);
  Reply hmget(const Arguments& request);
  Reply zadd(const Arguments& request);
  Reply zrem(const Arguments& request);
  Reply zcard(const Arguments& request);
  Reply zscore(const Arguments& request);
  Reply zmscore(const Arguments& request);
  Reply zrank(const Arguments& request);
  Reply zrange(const Arguments& request);
  Reply zrangebyscore(const Arguments& request);

  Entries entries_;
  int64_t now_ms_ = 0;
};

}  // namespace lockc::sim
