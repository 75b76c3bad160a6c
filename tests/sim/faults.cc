#include "faults.h"

#include <utility>

namespace lockc::sim {

Faults::Faults(World& world, Server& server, Network& network, Processes& processes, Hands hands)
    : world_(world),
      server_(server),
      network_(network),
      processes_(processes),
      hands_(std::move(hands)) {}

void Faults::begin() {
  choose_kinds();
  if (kinds_.empty()) return;
  static constexpr Duration kEvery[] = {100ms, 300ms, 1s, 3s};
  every_ = world_.pick(kEvery);
  world_.in(world_.between(0ms, every_), [this] { strike(); });
}

void Faults::choose_kinds() {
  static constexpr Kind kAny[] = {&Faults::cut,   &Faults::silence,        &Faults::stall,
                                  &Faults::crash, &Faults::forget_scripts, &Faults::pause,
                                  &Faults::kill,  &Faults::fill_memory,    &Faults::partition};
  static constexpr unsigned kShares[] = {0, 15, 40, 100};
  const unsigned share = world_.pick(kShares);
  for (const Kind kind : kAny) {
    if (world_.chance(share)) kinds_.push_back(kind);
  }
  // Each of these costs a promise, or would together with the next.
  static constexpr Kind kCostly[] = {&Faults::crash_and_forget,  &Faults::crash_unsaved,
                                     &Faults::crash_unsaved,     &Faults::set_clock_back,
                                     &Faults::set_clock_back,    &Faults::set_clock_forward,
                                     &Faults::break_off_scripts, &Faults::break_off_scripts};
  if (world_.chance(60)) {
    kinds_.push_back(world_.pick(kCostly));
    if (kinds_.back() == &Faults::crash_unsaved) save_every_second();
  }
  harmless_ = kinds_.empty();
  if (world_.chance(20)) kinds_.push_back(&Faults::close);
  if (world_.chance(20)) kinds_.push_back(&Faults::cancel_all);
}

void Faults::strike() {
  if (stopped_) return;
  (this->*kinds_[world_.below(kinds_.size())])();
  world_.in(world_.between(0ms, every_ * 2), [this] { strike(); });
}

void Faults::stop() {
  stopped_ = true;
  if (!server_.is_up()) server_.start();
  server_.is_full = false;
  server_.breaks_off_percent = 0;
}

Process& Faults::someone() { return *processes_[world_.below(processes_.size())]; }

void Faults::stall() { network_.stall_one(world_.between(1ms, 3s)); }
void Faults::partition() { network_.partition(someone(), world_.between(10ms, 4s)); }
void Faults::pause() { someone().pause(world_.between(1ms, world_.chance(50) ? 300ms : 5s)); }

void Faults::crash(Server::Loss loss) {
  if (!server_.is_up()) return;
  server_.crash(loss);
  world_.in(world_.between(2ms, 2s), [this] {
    if (!server_.is_up()) server_.start();
  });
}

// As an append-only file is synchronized; the first time is now.
void Faults::save_every_second() {
  server_.save();
  if (!stopped_) world_.in(1s, [this] { save_every_second(); });
}

void Faults::set_clock_back() {
  const Duration by = world_.between(1ms, 2s);
  world_.trace("server's clock is set back");
  set_back_ += by;
  server_.step_clock(-by);
}

void Faults::set_clock_forward() {
  world_.trace("server's clock is set forward");
  server_.note_clock_jump();
  server_.step_clock(world_.between(1ms, 5s));
}

void Faults::kill() {
  Process& victim = someone();
  if (victim.is_dead()) return;
  if (world_.chance(30)) network_.lose(victim);
  victim.kill();
  hands_.replace();
}

void Faults::close() {
  Process& leaver = someone();
  if (leaver.is_dead() || leaver.is_closing()) return;
  hands_.close(leaver);
  hands_.replace();
}

void Faults::fill_memory() {
  server_.is_full = true;
  world_.in(world_.between(1ms, 1s), [this] { server_.is_full = false; });
}

void Faults::break_off_scripts() {
  server_.breaks_off_percent = 30;
  world_.in(world_.between(1ms, 1s), [this] { server_.breaks_off_percent = 0; });
}

}  // namespace lockc::sim
