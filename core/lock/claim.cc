#include "lock/claim.h"

#include <utility>

#include "lock/registry.h"

namespace lockc {

Claim::Claim(Registry& registry, uint64_t seq, Key key, const Terms& terms)
    : registry_(registry),
      seq_(seq),
      key_(std::move(key)),
      keys_(key_),
      terms_(terms),
      owner_(registry.settings_.client, seq, terms.ttl, terms.block),
      route_(std::make_shared<Route>()),
      timer_(registry.loop_.timers(), [this] { on_timer(); }),
      began_(registry.loop_.now()),
      backoff_(registry.settings_.spin_min, registry.settings_.spin_max) {}

void Claim::on_timer() {
  const auto self = shared_from_this();
  switch (state_) {
    case State::kAsking:
      return ask();
    case State::kHeld:
      return check_lease();
    case State::kClosing:
      return send_release();
    case State::kLost:
    case State::kDone:
      return;
  }
}

}  // namespace lockc
