#include "turns.h"

namespace lockc::sim {

void Turns::queued(const std::string& key, const std::string& owner, size_t ahead) {
  if (handover_max_ == 0) return;
  const auto place = places_.find(owner);
  const bool known = place != places_.end();
  if (known && !place->second.had_its_turn) return;  // it came back to its place
  places_[owner] = {arrivals_++, ahead, holders_[key], known};
}

// A holder and those before in the queue may each pass it on so often.
void Turns::given(const std::string& key, const std::string& owner) {
  if (handover_max_ == 0) return;
  queued(key, owner, 0);  // if it was given at once
  Place& place = places_[owner];
  place.had_its_turn = true;
  const uint64_t passed = holders_[key] - place.holders_before;
  if (passed > (place.ahead + 1) * handover_max_) {
    world_.fail(std::to_string(passed) + " held " + key + " before " + owner + ", behind " +
                std::to_string(place.ahead));
  }
}

void Turns::waits(const std::string& key, std::weak_ptr<Waiter> fair) {
  if (handover_max_ != 0) fair_waiters_[key].push_back(std::move(fair));
}

void Turns::holds(const std::string& key, const std::string& owner, bool fair) {
  if (handover_max_ == 0 || slipped_in_.contains(owner)) return;
  ++holders_[key];
  const auto mine = places_.find(owner);
  if (!fair || mine == places_.end() || mine->second.has_come_before) return;
  auto& waiters = fair_waiters_[key];
  std::erase_if(waiters, [](const auto& weak) {
    const auto waiter = weak.lock();
    return waiter == nullptr || !waiter->owed || waiter->claim.expired();
  });
  for (const auto& weak : waiters) {
    const auto waiter = weak.lock();
    const auto claim = waiter->claim.lock();
    const auto other = places_.find(claim->owner().text());
    if (other == places_.end() || other->second.had_its_turn) continue;
    if (other->second.arrived < mine->second.arrived) {
      world_.fail(owner + " came later to " + key + " than " + other->first);
    }
  }
}

}  // namespace lockc::sim
