#include "judge.h"

#include <algorithm>
#include <utility>

namespace lockc::sim {
namespace {

// A timer's grain, and the turn of the loop it fires in.
constexpr Duration kGrain = 2ms;

std::string in_ms(Duration span) { return std::to_string(span / 1ms) + " ms"; }

}  // namespace

// ---- operations

struct Judge::Answer final : Sink {
  Answer(World& w, Process& p, std::string text, Duration within,
         std::function<void(Completion)> task)
      : world(w),
        process(p),
        what(std::move(text)),
        allowed(within),
        then(std::move(task)),
        began(w.now()),
        stood_still(p.stood_still()) {}

  void complete(Completion completion) override {
    world.trace(process.name(), what, "->", std::string(status_name(completion.outcome.status)),
                completion.outcome.message);
    if (++told > 1) return world.fail("told twice: " + process.name() + " " + what);
    check_time();
    std::exchange(then, nullptr)(std::move(completion));
  }
  void check_time() {
    if (allowed < Duration::zero()) return;
    const Duration late = world.now() - began - allowed - (process.stood_still() - stood_still);
    if (late > kGrain) {
      world.fail("told " + in_ms(late) + " too late: " + process.name() + " " + what);
    }
  }

  World& world;
  Process& process;
  const std::string what;
  const Duration allowed;
  std::function<void(Completion)> then;
  const TimePoint began;
  const Duration stood_still;
  int told = 0;
};

std::shared_ptr<Sink> Judge::expect(Process& process, std::string what, Duration allowed,
                                    std::function<void(Completion)> then) {
  world_.trace(process.name(), what);
  answers_.push_back(
      std::make_shared<Answer>(world_, process, std::move(what), allowed, std::move(then)));
  return answers_.back();
}

size_t Judge::open_operations() const {
  return static_cast<size_t>(std::ranges::count_if(
      answers_, [](const auto& one) { return one->told == 0 && !one->process.is_dead(); }));
}

void Judge::check_all_answered() {
  for (const auto& one : answers_) {
    if (one->told == 0 && !one->process.is_dead()) {
      return world_.fail("never told: " + one->process.name() + " " + one->what);
    }
  }
}

// ---- holders

// A lock that the server forgot can be given to another while its holder believes in it.
bool Judge::is_excused(const std::string& owner) const {
  const TimePoint lost = server_.data_lost_at();
  return lost != TimePoint() && server_.first_set(owner) <= lost;
}

void Judge::granted(const Process& process, const std::shared_ptr<Grant>& grant, bool fenced) {
  ++grants_;
  const std::string& key = grant->key().text();
  const uint64_t token = grant->token().value;
  world_.trace(process.name(), "holds", key, grant->owner(), std::to_string(token), "for",
               in_ms(grant->remaining(world_.now())));
  holders_.push_back({key, grant, &process});
  if (!fenced || is_excused(grant->owner()) || server_.clock_jumped()) return;
  // A client that stood still on its way here holds no more, and others may have come after it.
  if (grant->remaining(world_.now()) == Duration::zero()) return;
  uint64_t& last = last_token_[key];
  if (token <= last) {
    world_.fail("token " + std::to_string(token) + " of " + key + " follows " +
                std::to_string(last));
  }
  last = token;
}

std::shared_ptr<bool> Judge::plain_granted(const std::string& key, const std::string& owner,
                                           TimePoint until) {
  world_.trace("plain client holds", key, owner, "for", in_ms(until - world_.now()));
  auto released = std::make_shared<bool>(false);
  plain_holders_.push_back({key, owner, until, released});
  return released;
}

void Judge::inspect() {
  inspect_exclusion();
  inspect_expiries();
}

void Judge::inspect_exclusion() {
  const TimePoint now = world_.now();
  // Whoever let go or was told of the loss believes no more.
  std::erase_if(holders_, [](const Holder& holder) {
    return holder.process->is_dead() || holder.grant.use_count() == 1 ||
           holder.grant->remaining(TimePoint()) == Duration::zero();
  });
  std::erase_if(plain_holders_, [now](const PlainHolder& holder) {
    return *holder.released || holder.until <= now;
  });
  if (server_.clock_jumped()) return;
  std::map<std::string, std::string> believers;
  const auto believe = [&](const std::string& key, const std::string& who) {
    const auto [other, alone] = believers.emplace(key, who);
    if (!alone) world_.fail("two hold " + key + ": " + other->second + " and " + who);
  };
  for (const Holder& holder : holders_) {
    if (holder.grant->remaining(now) > Duration::zero() && !is_excused(holder.grant->owner())) {
      believe(holder.key, holder.grant->owner());
    }
  }
  for (const PlainHolder& holder : plain_holders_) {
    if (!is_excused(holder.owner)) believe(holder.key, holder.owner);
  }
}

// A script that an error broke off may leave a queue without its expiry; the next one gives it.
void Judge::inspect_expiries() {
  if (server_.ever_broke_off()) return;
  for (const auto& [key, entry] : server_.data().entries()) {
    if (!entry.expires_ms) world_.fail("no expiry on " + key);
  }
}

void Judge::check_leftovers() {
  for (const auto& [key, entry] : server_.data().entries()) {
    if (!key.starts_with("lockc:{") || key.find("}:fence:") == std::string::npos) {
      world_.fail("left over: " + key);
    }
  }
  if (server_.has_listeners()) world_.fail("left over: a subscription");
}

}  // namespace lockc::sim
