// Values at the server that refuse a late writer: a record is a hash of a value and the numbers
// that guard it. Records are data of the user's, not of any lock. Lives inside the loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/types.h"
#include "lock/script_reply.h"
#include "redis/node.h"

namespace lockc {

struct Record {
  static constexpr size_t kMaxValue = size_t{8} << 20U;  // bytes; a reply may have twice as many
  static constexpr uint64_t kMaxNumber = FencingToken::kEnd - 1;  // of version and token

  std::string value;
  uint64_t version = 0;  // 0: there is no record
  FencingToken token;    // the largest that wrote it
};

struct RecordWrite {
  std::string value;
  FencingToken token{};               // 0: not fenced
  std::optional<uint64_t> version{};  // that the record must have; 0: there must be none
  std::optional<Ttl> ttl{};           // none: its expiry stays as it is
};

class RecordStore {
 public:
  explicit RecordStore(Node& node) : node_(node), route_(std::make_shared<Route>()) {}

  void read(const Key& key, Then<Record> then);
  // The record's new version, or kStale or kConflict. Never sent twice: after kUncertain the next
  // request here goes behind the end of the connection that the lost one went by.
  void write(const Key& key, RecordWrite write, Then<uint64_t> then);

 private:
  Node& node_;
  const std::shared_ptr<Route> route_;  // only knows of broken connections: nothing here is a grant
};

}  // namespace lockc
