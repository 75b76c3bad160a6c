// What becomes of records. A write is done, or not, as its answer says; and once one has landed,
// nothing lands any more under a smaller token. What a crash took from the server is excused.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "lock/record.h"
#include "server.h"
#include "world.h"

namespace lockc::sim {

class Records {
 public:
  explicit Records(World& world) : world_(world) {}
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;

  // The record that goes with a lock.
  static std::string key_of(const std::string& lock) { return "data-" + lock; }
  static bool is_record(const std::string& key) { return key.starts_with("data-"); }

  // ---- from the server: one run of record_write, and its record before and after
  void executed(const Server::Step& step, const Dataset::Hash& was, const Dataset::Hash& is);

  // ---- from the clients
  // A value that no other write has.
  std::string new_value() { return "value " + std::to_string(++values_); }
  void told(const std::string& value, const Result<uint64_t>& answer);
  void told(const Record& found);

 private:
  struct Known {
    Dataset::Hash record;  // as the last write left it
    uint64_t token = 0;    // the largest that landed
  };
  void check_landing(const Server::Step& step, const Known& known, const Dataset::Hash& is);

  bool has_landed(const std::string& value, uint64_t version) const;

  World& world_;
  uint64_t values_ = 0;
  std::map<std::string, Known> known_;  // by key
  // By value: its versions. There may be several, as the network may repeat what a broken
  // connection sent last.
  std::map<std::string, std::set<uint64_t>> landed_;
  std::set<std::string> unsent_;  // values of which that was told
};

}  // namespace lockc::sim
