// What a server without time knows of locks and records: enough to answer lockc's scripts as a real
// one would if nothing ever expired.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "../support/client_rig.h"

namespace lockc::fuzz {

class LockModel {
 public:
  using Publish = std::function<void(const std::string& message)>;  // on the wake channel
  explicit LockModel(Publish publish) : publish_(std::move(publish)) {}

  // Does what the call asks for, and returns the answer.
  std::string execute(const test::ScriptCall& call);

 private:
  struct Lock {
    std::string owner;  // "": it is free
    std::deque<std::string> queue;
  };
  struct Record {
    std::string value;
    uint64_t version = 0;
    uint64_t token = 0;
  };

  std::string set(const test::ScriptCall& call);
  std::string acquire(const std::string& key, const std::string& owner, bool wait);
  bool release(const std::string& key, const std::string& owner);
  std::string grant(Lock& lock, const std::string& owner);
  static std::string read(const Record& record);
  std::string write(Record& record, const std::vector<std::string>& arguments);

  Publish publish_;
  std::map<std::string, Lock> locks_;
  std::map<std::string, Record> records_;
  uint64_t token_ = 0;
  uint64_t version_ = 0;
};

}  // namespace lockc::fuzz
