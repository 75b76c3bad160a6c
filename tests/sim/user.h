// A random user of lockc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "habits.h"
#include "judge.h"
#include "process.h"
#include "world.h"

namespace lockc::sim {

// One thread of a process's program: acquires, holds, perhaps enters again, writes under its
// token, gives back, again and again; and looks at keys now and then.
class User : public std::enable_shared_from_this<User> {
 public:
  // `number`: that of its thread, for re-entry; 0: it never enters again.
  User(World& world, Judge& judge, Process& process, const Habits& habits, uint64_t number)
      : world_(world), judge_(judge), process_(process), habits_(habits), number_(number) {}

  void begin() { later(habits_.pause_between, &User::act); }
  // It waits no more, if it waits.
  void stop_waiting() { later(0ms, &User::cancel); }

 private:
  using Step = void (User::*)();
  void later(Duration within, Step step);
  void later(Duration within, Task task);
  void act();
  void acquire();
  AcquireRequest choose();
  void ask(AcquireRequest request, Duration allowed, std::function<void(Completion)> then);
  void cancel();
  void on_acquired(Completion completion);
  void use();
  bool may_enter_again() const;
  void enter_again();
  void on_entered_again(const Completion& completion);
  void extend();
  bool may_write() const;
  void write();
  void release();
  void release_nowait(const std::shared_ptr<Hold>& hold);
  void go_on();
  std::string some_key();
  void inspect();
  void read();

  World& world_;
  Judge& judge_;
  Process& process_;
  const Habits& habits_;
  const uint64_t number_;
  std::weak_ptr<Waiter> waiter_;              // the core owns it
  std::shared_ptr<Hold> asked_;               // what the acquire under way is to bring
  std::vector<std::shared_ptr<Hold>> holds_;  // of one key; several where it entered again
  uint64_t version_ = 0;                      // of the last record that it wrote
  bool fair_ = false;
  Millis ttl_{};
};

}  // namespace lockc::sim
