#include "lock/claim.h"

#include <utility>

#include "lock/registry.h"

namespace lockc {

Claim::Claim(Registry& registry, uint64_t seq, Key key, const Terms& terms)
    : registry_(registry),
      seq_(seq),
      key_(std::move(key)),
      terms_(terms),
      timer_(registry.loop_.timers(), [this] { on_timer(); }),
      asking_(std::make_unique<Asking>(registry)) {}

Claim::Asking::Asking(const Registry& registry)
    : began(registry.loop_.now()),
      backoff(registry.settings_.spin_min, registry.settings_.spin_max) {}

const std::shared_ptr<const std::string>& Claim::client() const {
  return registry_.settings_.client;
}

Owner Claim::owner() const { return {*client(), seq_, terms_.ttl, terms_.block}; }

Named Claim::named() {
  if (route_ == nullptr) route_ = std::make_shared<Route>();
  return {key_, owner(), route_, asking_ == nullptr ? nullptr : asking_->follows};
}

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
