#include "lock_model.h"

#include <algorithm>

namespace lockc::fuzz {

using namespace test;

namespace {

constexpr uint64_t kBlock = 8;  // tokens of a grant

}  // namespace

std::string LockModel::execute(const ScriptCall& call) {
  if (call.script == nullptr) return set(call);
  if (call.script == &scripts::probe) return integer(1);
  const std::string& key = call.keys.at(0);
  if (call.script == &scripts::record_read) return read(records_[key]);
  if (call.script == &scripts::record_write) return write(records_[key], call.arguments);
  if (call.script == &scripts::inspect) {
    const std::string& owner = locks_[key].owner;
    return array({bulk(owner.empty() ? "none" : "string"), owner.empty() ? "$-1\r\n" : bulk(owner),
                  integer(1000), bulk(std::to_string(token_)), integer(1)});
  }
  if (call.script == &scripts::renew) {
    std::vector<bool> ours;
    for (size_t i = 0; i < call.keys.size(); ++i) {
      ours.push_back(locks_[call.keys[i]].owner == call.arguments.at(2 * i + 1));
    }
    return renewed(ours);
  }
  const std::string& owner = call.arguments.at(0);
  if (call.script == &scripts::acquire) return acquire(key, owner, call.arguments.at(1) == "1");
  const bool ours = release(key, owner);
  if (call.script == &scripts::drop) return integer(ours ? 1 : 0);
  if (call.script == &scripts::release) return released(ours);
  return requeued(ours, acquire(key, call.arguments.at(1), true));
}

std::string LockModel::set(const ScriptCall& call) {
  Lock& lock = locks_[call.keys.at(0)];
  if (!lock.owner.empty()) return "$-1\r\n";
  lock.owner = call.arguments.at(0);
  return status("OK");
}

std::string LockModel::grant(Lock& lock, const std::string& owner) {
  std::erase(lock.queue, owner);
  lock.owner = owner;
  token_ += kBlock;
  return granted(token_, kBlock);
}

std::string LockModel::acquire(const std::string& key, const std::string& owner, bool wait) {
  Lock& lock = locks_[key];
  if (lock.owner.empty() || lock.owner == owner) return grant(lock, owner);
  if (!wait) return busy();
  auto place = std::ranges::find(lock.queue, owner);
  if (place == lock.queue.end()) place = lock.queue.insert(place, owner);
  return queued({.position = place - lock.queue.begin(), .mark = token_});
}

bool LockModel::release(const std::string& key, const std::string& owner) {
  Lock& lock = locks_[key];
  std::erase(lock.queue, owner);
  if (lock.owner != owner) return false;
  lock.owner.clear();
  if (lock.queue.empty()) return true;
  const std::string next = lock.queue.front();
  grant(lock, next);
  publish_(next + " " + std::to_string(token_) + " " + std::to_string(kBlock) + " " + key);
  return true;
}

std::string LockModel::read(const Record& record) {
  return array({bulk(std::to_string(record.version)), bulk(std::to_string(record.token)),
                bulk(record.value)});
}

std::string LockModel::write(Record& record, const std::vector<std::string>& arguments) {
  const auto answer = [](int64_t what, uint64_t number) {
    return array({integer(what), bulk(std::to_string(number))});
  };
  const uint64_t token = std::stoull(arguments.at(1));
  const std::string& expected = arguments.at(2);
  if (token > 0 && token < record.token) return answer(2, record.token);
  if (!expected.empty() && std::stoull(expected) != record.version) {
    return answer(3, record.version);
  }
  record = {arguments.at(0), ++version_, std::max(token, record.token)};
  return answer(1, record.version);
}

}  // namespace lockc::fuzz
