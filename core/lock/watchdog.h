// Renews leases in batches: what comes due in one turn leaves as one script per so many keys. Lives
// inside the loop; it dies with the process, and so do the leases that only it keeps alive.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/types.h"
#include "lock/store.h"
#include "net/loop.h"

namespace lockc {

class Claim;

class Watchdog {
 public:
  struct Settings {
    Millis every{0};  // 0: a third of each ttl
    size_t batch = 128;
  };

  Watchdog(Loop& loop, Store& store, const Settings& settings)
      : loop_(loop), store_(store), settings_(settings) {}

  // When a lease proven from `sent` wants its next renewal. On a grid of an eighth of the period,
  // and never later than the period, so that locks come due together and share a script.
  TimePoint next(TimePoint sent, Ttl ttl) const;

  // Asks at the end of this turn that claim's key lasts for ttl. `then` gets the time it was sent
  // and whether it is ours, or why that is not known.
  using Then = std::function<void(TimePoint, Result<bool>)>;
  void renew(std::shared_ptr<Claim> claim, Ttl ttl, Then then);
  void abandon() noexcept { due_.clear(); }

 private:
  struct Item {
    std::shared_ptr<Claim> claim;
    Ttl ttl;
    Then then;
  };
  void flush();

  Loop& loop_;
  Store& store_;
  const Settings settings_;
  std::vector<Item> due_;
};

}  // namespace lockc
