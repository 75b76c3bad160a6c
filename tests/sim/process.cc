#include "process.h"

#include <algorithm>
#include <utility>

#include "lock/inspect.h"

namespace lockc::sim {

Process::Core::Core(World& world, Transport& transport, const std::string& client,
                    const Options& options)
    : config{Endpoint(), options.times, {client, "lockc:" + client + ":sim"}},
      loop(world, transport, Random(world.below(UINT64_MAX))),
      node(loop, config, log, [this](bool changed) { registry.on_reconnected(changed); }),
      store(node, 60s),
      watchdog(loop, store, options.renewal),
      wake(loop, config, log,
           {[this] { registry.on_channel_confirmed(); }, [this] { registry.on_channel_lost(); },
            [this](const WakeMessage& message) { registry.on_message(message); },
            [this](std::string_view key) { registry.on_key_gone(key); }}),
      registry(loop, store, wake, watchdog, log,
               {.client = std::make_shared<const std::string>(client),
                .handover_max = options.handover_max,
                .handover_time = options.handover_time,
                .max_waiters = options.max_waiters}),
      records(node) {}

Process::Process(World& world, Transport& transport, const std::string& client,
                 const Options& options)
    : world_(world),
      name_(client),
      core_(std::make_unique<Core>(world, transport, client, options)) {}

void Process::deliver(Task task) {
  if (is_dead()) return;
  if (is_paused() || !inbox_.empty()) {
    inbox_.push_back(std::move(task));
  } else {
    turn(task);
  }
}

void Process::turn(const Task& task) {
  if (!std::exchange(stalled_in_turn_, false)) core_->loop.begin_turn();
  task();
  core_->loop.end_turn();
  arm();
}

void Process::pause(Duration span) {
  if (is_dead() || is_paused()) return;
  world_.trace(name_, "stands still for", std::to_string(span / 1ms), "ms");
  // As likely inside a turn as between two: then what comes next is judged by an old time.
  if (world_.chance(30)) {
    core_->loop.begin_turn();
    stalled_in_turn_ = true;
  }
  paused_until_ = world_.now() + span;
  stood_still_ += span;
  world_.at(paused_until_, [weak = std::weak_ptr(self_)] {
    if (const auto self = weak.lock()) (*self)->go_on();
  });
}

void Process::go_on() {
  if (is_dead()) return;
  world_.trace(name_, "goes on");
  if (inbox_.empty() || !stalled_in_turn_) inbox_.push_front([] {});
  while (!inbox_.empty() && !is_paused() && !is_dead()) {
    const Task task = std::move(inbox_.front());
    inbox_.pop_front();
    turn(task);
  }
}

void Process::arm() {
  const TimePoint next = core_->loop.timers().next();
  if (next == kNever || (armed_for_ <= next && armed_for_ > world_.now())) return;
  armed_for_ = std::max(next, world_.now());
  world_.at(armed_for_, [weak = std::weak_ptr(self_), when = armed_for_] {
    const auto self = weak.lock();
    if (self == nullptr || (*self)->armed_for_ != when) return;
    (*self)->armed_for_ = kNever;
    (*self)->deliver([] {});
  });
}

void Process::kill() {
  world_.trace(name_, "is killed");
  end();
}

void Process::end() {
  inbox_.clear();
  core_.reset();
}

void Process::inspect_key(const Key& key, std::function<void(Result<std::string>)> then) {
  lockc::inspect_key(core_->node, core_->store, key, std::move(then));
}

void Process::leave(Duration within, std::function<void(bool)> left) {
  world_.trace(name_, "closes its client");
  const auto end = [weak = std::weak_ptr(self_), left = std::move(left)](bool all_answered) {
    if (const auto self = weak.lock()) {
      (*self)->deliver([self, all_answered, left] { (*self)->hang_up(all_answered, left); });
    }
  };
  deliver([this, within, end] {
    is_closing_ = true;
    world_.in(within, [end] { end(false); });
    core_->registry.close([this, end] { world_.in(0ms, [end] { end(true); }); });
  });
}

void Process::hang_up(bool all_answered, const std::function<void(bool)>& left) {
  if (std::exchange(has_hung_up_, true)) return;
  core_->node.close();
  core_->wake.close();
  world_.in(0ms, [weak = std::weak_ptr(self_), all_answered, left] {
    const auto self = weak.lock();
    if (self == nullptr || (*self)->is_dead()) return;
    left(all_answered);
    (*self)->end();
  });
}

}  // namespace lockc::sim
