#include "scenario.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "faults.h"
#include "judge.h"
#include "network.h"
#include "plain_client.h"
#include "process.h"
#include "user.h"
#include "world.h"

namespace lockc::sim {
namespace {

// Once nothing goes wrong any more, every waiter has its turn by then: behind dead queue entries,
// of which each may cost the longest ttl, and behind each other.
constexpr Duration kLiveliness = 120s;
constexpr Duration kLongestExpiry = 90s;  // of anything but a fence

// What owner numbers the users of a process have.
enum class Numbers { kNone, kOwn, kShared };

class Scenario {
 public:
  Scenario(uint64_t seed, ScriptEngine& engine, bool tracing, const Server::Mutation& mutate)
      : world_(seed, tracing),
        server_(world_, engine, mutate),
        slowest_(slowest()),
        network_(world_, server_, slowest_),
        judge_(world_, server_),
        plain_(world_, judge_, server_, habits_),
        faults_(world_, server_, network_, processes_,
                {[this] { start_process(); }, [this](Process& process) { close(process); },
                 [this] { cancel_all(); }}) {}

  Verdict run() {
    set_up();
    world_.run_for(world_.between(2s, 10s));
    if (!world_.has_failed()) calm_down();
    if (!world_.has_failed()) close_all();
    return {world_.failure(), world_.recent(), world_.digest(), judge_.holders.grants()};
  }

 private:
  Duration slowest() {
    static constexpr Duration kSlowest[] = {500us, 5ms, 30ms, 150ms};
    return world_.pick(kSlowest);
  }

  void set_up() {
    world_.set_inspector([this] { judge_.inspect(); });
    set_options();
    habits_.keys = 1 + world_.below(2);
    habits_.pause_between = world_.chance(50) ? 20ms : 500ms;
    habits_.answer_within = 4 * (options_.times.connect_timeout + options_.times.reply_timeout);
    server_.may_publish = !world_.chance(10);
    server_.may_kill = !world_.chance(20);
    server_.notifies = world_.chance(30);
    server_.set_rate(0.992 + 0.001 * static_cast<double>(world_.below(17)));
    static constexpr Numbers kNumbers[] = {Numbers::kNone, Numbers::kNone, Numbers::kOwn,
                                           Numbers::kShared};
    numbers_ = world_.pick(kNumbers);
    users_each_ = 1 + world_.below(4);
    const size_t count = 1 + world_.below(4);
    for (size_t i = 0; i < count; ++i) start_process();
    if (world_.chance(30)) plain_.begin();
    faults_.begin();
    if (faults_.are_harmless()) judge_.turns.count(options_.handover_max);
  }

  void set_options() {
    static constexpr Millis kTimeouts[] = {400ms, 1s};
    static constexpr uint32_t kHandovers[] = {1, 2, 8, 8, 64};
    static constexpr Millis kHandoverTimes[] = {20ms, 200ms};
    options_.times = {world_.pick(kTimeouts), world_.pick(kTimeouts)};
    options_.handover_max = world_.pick(kHandovers);
    options_.handover_time = world_.pick(kHandoverTimes);
    if (world_.chance(20)) options_.max_waiters = 2;
    if (world_.chance(20)) options_.renewal.every = 100ms;
    if (world_.chance(20)) options_.renewal.batch = 1;
  }

  void start_process() {
    std::string name = std::to_string(processes_.size() + 1);
    name = "CLIENT" + std::string(16 - name.size(), '-') + name;  // 22 characters, as real ones
    ports_.push_back(std::make_unique<Network::Port>(network_));
    processes_.push_back(std::make_unique<Process>(world_, *ports_.back(), name, options_));
    ports_.back()->host = processes_.back().get();
    for (size_t i = 0; i < users_each_; ++i) {
      const auto user =
          std::make_shared<User>(world_, judge_, *processes_.back(), habits_, number_of_user(i));
      users_.push_back(user);
      user->begin();
    }
  }

  uint64_t number_of_user(size_t index) const {
    switch (numbers_) {
      case Numbers::kNone:
        return 0;
      case Numbers::kOwn:
        return kSharedNumber + 1 + index;
      case Numbers::kShared:
        return kSharedNumber;
    }
    return 0;
  }

  void cancel_all() {
    world_.trace("all waits are cancelled");
    std::erase_if(users_, [](const auto& user) { return user.expired(); });
    for (const auto& weak : users_) {
      if (const auto user = weak.lock()) user->stop_waiting();
    }
  }

  void calm_down() {
    world_.trace("calm from now on");
    faults_.stop();
    habits_.calm = true;
    const TimePoint end = world_.now() + kLiveliness + faults_.set_back();
    while (judge_.open_operations() > 0 && world_.now() < end && !world_.has_failed()) {
      world_.run_for(250ms);
    }
    if (!world_.has_failed()) judge_.check_answered();
    world_.run_for(20s);  // what is held is given back
  }

  void close(Process& process) {
    process.leave(options_.times.reply_timeout, [this, &process](bool) {
      judge_.check_answered(&process);
      if (process.registry().entries() > 0) world_.fail("a closed client keeps a key");
    });
  }

  void close_all() {
    for (const auto& process : processes_) {
      if (process->is_dead() || process->is_closing()) continue;
      process->leave(5s, [this, &process](bool all_answered) {
        if (!all_answered) world_.fail("a closed client waits for answers for ever");
        if (process->registry().entries() > 0) world_.fail("a closed client keeps a key");
      });
    }
    world_.run_for(6s);
    for (const auto& process : processes_) {
      if (!process->is_dead()) world_.fail("a closed client does not end");
    }
    world_.run_for(kLongestExpiry + faults_.set_back());
    if (!world_.has_failed()) judge_.check_leftovers();
  }

  World world_;
  Server server_;
  const Duration slowest_;  // way from one end of the network to the other
  Network network_;
  Judge judge_;
  Habits habits_;
  Process::Options options_{};
  Numbers numbers_ = Numbers::kNone;
  size_t users_each_ = 1;
  std::vector<std::unique_ptr<Network::Port>> ports_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<std::weak_ptr<User>> users_;
  PlainClient plain_;
  Faults faults_;
};

}  // namespace

Verdict simulate(uint64_t seed, ScriptEngine& engine, bool tracing,
                 const Server::Mutation& mutate) {
  return Scenario(seed, engine, tracing, mutate).run();
}

uint64_t first_broken(uint64_t count, ScriptEngine& engine, const Server::Mutation& mutate) {
  for (uint64_t seed = 1; seed <= count; ++seed) {
    if (!simulate(seed, engine, false, mutate).broken_rule.empty()) return seed;
  }
  return 0;
}

}  // namespace lockc::sim
