// What goes wrong in a world: a random choice of kinds, at random times, until it is told to stop.
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

  // `replace` starts a new process in the place of one that was killed.
  Faults(World& world, Server& server, Network& network, Processes& processes, Task replace);
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  void begin();
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
  void crash();
  void crash_and_forget();
  void restart_within(Duration span);
  void set_clock_back();
  void set_clock_forward();
  void pause();
  void kill();
  void forget_scripts() { server_.forget_scripts(); }
  void fill_memory();
  void break_off_scripts();

  World& world_;
  Server& server_;
  Network& network_;
  Processes& processes_;
  const Task replace_;
  std::vector<Kind> kinds_;
  Duration every_{};
  Duration set_back_{};
  bool stopped_ = false;
};

}  // namespace lockc::sim
