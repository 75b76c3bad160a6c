#include "holders.h"

#include <algorithm>
#include <utility>

namespace lockc::sim {

// ---- one hold

void Hold::complete(Completion news) {
  if (grant_ == nullptr) return;  // the world has ended
  if (news.kind != Completion::Kind::kLost) return world_.fail("events tell what is no loss");
  world_.trace(process_.name(), "has lost", key.text(), grant_->owner());
  if (++told_ > 1) return world_.fail("told twice that it lost " + grant_->owner());
  if (let_go_ && !hears_behind_)
    world_.fail("told that it lost what it had given back: " + grant_->owner());
}

bool Hold::is_shared_with(const Hold& other) const {
  return owner_number != 0 && owner_number == other.owner_number &&
         grant_->owner() == other.grant_->owner() && grant_->token() == other.grant_->token();
}

void Hold::check_told() {
  if (is_lost() == (told_ > 0)) return;
  const char* what = is_lost() ? "not told that it lost " : "told that it lost what it holds: ";
  world_.fail(what + grant_->owner());
}

void Hold::inspect() {
  const TimePoint now = world_.now();
  check_told();
  if (is_lost()) {
    if (grant_->remaining(TimePoint()) > 0ms) world_.fail("lost and valid: " + grant_->owner());
    return;
  }
  if (process_.is_closing()) return world_.fail("held in a closed client: " + grant_->owner());
  if (remaining() > 0ms) {
    until_ = now + remaining();
  } else if (!process_.is_paused() && now - std::max(until_, process_.went_on()) > kGrain) {
    world_.fail("not told at its end: " + grant_->owner());
  }
}

// ---- all of them

Holders::~Holders() {
  for (const auto& weak : ever_) {
    if (const auto hold = weak.lock()) hold->forget();
  }
}

bool Holders::granted(const Process& process, const std::shared_ptr<Hold>& hold) {
  const Grant& grant = *hold->grant();
  world_.trace(process.name(), "holds", hold->key.text(), grant.owner(),
               std::to_string(grant.token().value), "for", in_ms(hold->remaining()));
  const bool again =
      std::ranges::any_of(holds_, [&](const auto& other) { return hold->is_shared_with(*other); });
  holds_.push_back(hold);
  ever_.push_back(hold);
  if (again) return false;
  ++grants_;
  check_token(*hold);
  return true;
}

void Holders::check_token(const Hold& hold) {
  const Grant& grant = *hold.grant();
  const uint64_t token = grant.token().value;
  if (hold.fenced != (token != 0)) return world_.fail("a wrong token, or none: " + grant.owner());
  if (!hold.fenced || server_.clock_jumped()) return;
  uint64_t& last = last_token_[hold.key.text()];
  // A client that stood still on its way here holds no more, and others may have come after it; so
  // may they where the server has forgotten it.
  const bool excused = hold.remaining() == 0ms || server_.has_forgotten(grant.owner());
  if (token <= last && !excused) {
    world_.fail("token " + std::to_string(token) + " of " + hold.key.text() + " follows " +
                std::to_string(last));
  }
  last = std::max(last, token);
}

bool Holders::is_alone(const Hold& hold) const {
  return hold.remaining() > 0ms && !server_.clock_jumped() &&
         !server_.has_forgotten(hold.grant()->owner());
}

void Holders::let_go_unanswered(const std::shared_ptr<Hold>& hold) {
  hold->let_go_unanswered();
  let_go_.push_back(hold);
}

void Holders::check_let_go() {
  for (const auto& hold : let_go_) hold->check_told();
}

std::shared_ptr<bool> Holders::plain_granted(const std::string& key, const std::string& owner,
                                             TimePoint until) {
  world_.trace("plain client holds", key, owner, "for", in_ms(until - world_.now()));
  auto released = std::make_shared<bool>(false);
  plain_holders_.push_back({key, owner, until, released});
  return released;
}

void Holders::inspect() {
  const TimePoint now = world_.now();
  std::erase_if(holds_, [](const auto& hold) { return hold->is_over(); });
  std::erase_if(plain_holders_, [now](const PlainHolder& holder) {
    return *holder.released || holder.until <= now;
  });
  for (const auto& hold : holds_) hold->inspect();
  if (server_.clock_jumped()) return;
  for (const auto& hold : holds_) {
    check_server_agrees(hold->key.text(), hold->grant()->owner(), hold->remaining());
  }
  for (const PlainHolder& holder : plain_holders_) {
    check_server_agrees(holder.key, holder.owner, holder.until - now);
  }
  check_alone();
}

// With that, two owner values never hold one key.
void Holders::check_server_agrees(const std::string& key, const std::string& owner,
                                  Duration remaining) {
  if (remaining <= 0ms || server_.has_forgotten(owner)) return;
  const Dataset::Entries& entries = server_.data().entries();
  const auto found = entries.find(key);
  const auto* there =
      found == entries.end() ? nullptr : std::get_if<std::string>(&found->second.value);
  if (there == nullptr) return world_.fail("held, but free at the server: " + key + " " + owner);
  if (*there != owner) return world_.fail("two hold " + key + ": " + owner + " and " + *there);
  if (server_.left_of(found->second) < remaining) {
    world_.fail("held for longer than at the server: " + key + " " + owner);
  }
}

// Under one owner value, in the client that it belongs to.
void Holders::check_alone() {
  std::map<std::string, const Hold*> believers;
  for (const auto& hold : holds_) {
    if (hold->remaining() == 0ms) continue;
    const std::string owner = hold->grant()->owner();
    const auto [other, alone] = believers.emplace(owner, hold.get());
    if (!alone && !hold->is_shared_with(*other->second)) world_.fail("two hold by " + owner);
  }
}

}  // namespace lockc::sim
