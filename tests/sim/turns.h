// Whose turn it is, as those see it who wait. Fair waiters have theirs in the order in which they
// came to the queue; and whoever stands in it lets pass no more holders than hand-over allows to
// those before. Faults cost turns, so this counts in worlds without them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "lock/registry.h"
#include "world.h"

namespace lockc::sim {

class Turns {
 public:
  explicit Turns(World& world) : world_(world) {}
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  // Until this is said, nothing is checked. handover_max: of every client.
  void count(size_t handover_max) { handover_max_ = handover_max; }

  // ---- from the server
  void queued(const std::string& key, const std::string& owner, size_t ahead);
  void given(const std::string& key, const std::string& owner);
  // By a SET of its own, past the queue: unfenced locks do.
  void slipped_in(const std::string& owner) { slipped_in_.insert(owner); }

  // ---- from the clients
  void waits(const std::string& key, std::weak_ptr<Waiter> fair);
  void holds(const std::string& key, const std::string& owner, bool fair);

 private:
  struct Place {
    uint64_t arrived;
    size_t ahead;
    uint64_t holders_before;
    bool has_come_before = false;  // had a turn, and was too late to hear of it
    bool had_its_turn = false;
  };

  World& world_;
  size_t handover_max_ = 0;
  uint64_t arrivals_ = 0;
  std::map<std::string, Place> places_;      // by owner value; the last one of each
  std::map<std::string, uint64_t> holders_;  // of each key, so far
  std::set<std::string> slipped_in_;
  std::map<std::string, std::vector<std::weak_ptr<Waiter>>> fair_waiters_;  // by key
};

}  // namespace lockc::sim
