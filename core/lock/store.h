// What the lock layer asks of a server, in the protocol's words: for each script the function that
// builds its arguments and the one that reads its reply. Lives inside the loop.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/types.h"
#include "lock/key_names.h"
#include "lock/script_reply.h"
#include "redis/node.h"

namespace lockc {

// What a request names: the keys of a lock and one owner value.
struct Named {
  const Key& key;
  const Owner owner;
  std::shared_ptr<Route> route;
  std::shared_ptr<Route> follows = nullptr;  // of the value before it at the key
};

struct AcquireAnswer {
  enum class Kind { kBusy, kGranted, kQueued };
  Kind kind = Kind::kBusy;
  uint64_t first = 0;     // granted: the first token
  uint32_t count = 1;     // granted: tokens that belong to the grant
  int64_t pttl_ms = -1;   // else: of K; -1: it never expires
  uint64_t position = 0;  // queued: from 0
  std::string ticket;     // queued: the place, to come back to
  uint64_t mark = 0;      // queued: grants made later have larger tokens
  bool lockc = true;      // else: K's value has our form
};

struct RequeueAnswer {
  bool ours = false;
  AcquireAnswer next;
};

struct Renewal {
  const std::string& key;
  const std::string owner;
  Ttl ttl;
};

struct Inspection {
  struct Entry {
    std::string owner;
    int64_t age_ms = 0;
    bool live = false;
  };
  std::string type;  // TYPE's word for K; "none"; "record"
  std::string owner;
  bool has_owner = false;
  int64_t pttl_ms = -2;
  uint64_t token = 0;
  std::vector<Entry> queue;
};

class Store {
 public:
  Store(Node& node, Millis retention)
      : node_(node), retention_(std::to_string(retention.count())) {}

  void acquire(const Named& named, bool wait, const std::string& ticket, Then<AcquireAnswer> then);
  // The quick way to an unfenced lock: true: granted; false: somebody has the key.
  void set(const Named& named, Ttl ttl, Then<bool> then);
  // Takes back an acquire that still waits for a connection; false: it may be executed.
  bool withdraw(const Named& named) { return node_.withdraw(*named.route); }
  // True: it was ours.
  void release(const Named& named, Then<bool> then);
  // Compare and delete, nothing else: for a release that keeps failing.
  void drop(const Named& named, Then<bool> then);
  // Releases `named` and acquires `next` with wait, on named's connection.
  void requeue(const Named& named, const Named& next, Then<RequeueAnswer> then);
  // One answer per item, in order: it is ours and lasts for its ttl.
  void renew(const std::vector<Renewal>& items, Then<std::vector<bool>> then);
  void inspect(const KeyNames& keys, Then<Inspection> then);
  // True: scripts of this user may publish, so releases wake waiters.
  void probe(std::string_view channel, Then<bool> then);
  // Answers a grant that nobody here waits for.
  void give_back(std::string_view key, std::string_view owner);

 private:
  Node& node_;
  const std::string retention_;
};

}  // namespace lockc
