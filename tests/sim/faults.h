// What goes wrong in a world, and what else its users would not wish for: a random choice of kinds,
// at random times, until it is told to stop.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "network.h"
#include "process.h"
#include "server.h"
#include "world.h"

namespace lockc::sim {

class Faults {
 public:
  using Processes = std::vector<std::unique_ptr<Process>>;

  // What the scenario does, as it knows more than they.
  struct Hands {
    Task replace;                         // starts a process in the place of one that ended
    std::function<void(Process&)> close;  // has it close its client and end
    Task cancel_all;                      // whoever waits, waits no more
  };
  Faults(World& world, Server& server, Network& network, Processes& processes, Hands hands);
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  void begin();
  // Nothing goes wrong that would cost a turn.
  bool are_harmless() const { return harmless_; }
  // Heals what can be healed; nothing new happens.
  void stop();
  // By how much the server's clock was set back, in all.
  Duration set_back() const { return set_back_; }

 private:
  using Kind = void (Faults::*)();
  void choose_kinds();
  void strike();
  Process& someone();

  void cut() { network_.cut_one(); }
  void silence() { network_.silence_one(); }
  void stall();
  void partition();
  void crash() { crash(Server::Loss::kNothing); }
  void crash_and_forget() { crash(Server::Loss::kEverything); }
  void crash_unsaved() { crash(Server::Loss::kLastMoments); }
  void crash(Server::Loss loss);
  void save_every_second();
  void set_clock_back();
  void set_clock_forward();
  void pause();
  void kill();
  void close();
  void cancel_all() { hands_.cancel_all(); }
  void forget_scripts() { server_.forget_scripts(); }
  void fill_memory();
  void break_off_scripts();

  World& world_;
  Server& server_;
  Network& network_;
  Processes& processes_;
  const Hands hands_;
  std::vector<Kind> kinds_;
  Duration every_{};
  Duration set_back_{};
  bool harmless_ = true;
  bool stopped_ = false;
};

}  // namespace lockc::sim
