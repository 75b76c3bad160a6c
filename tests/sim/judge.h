// Looks on and knows the rules: every operation is answered once and in time, whoever holds does so
// rightly, whoever waits has its turn, no late write lands, and nothing stays at the server for
// ever.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "audit.h"
#include "holders.h"
#include "lock/operation.h"
#include "process.h"
#include "records.h"
#include "server.h"
#include "turns.h"
#include "world.h"

namespace lockc::sim {

class Judge {
 public:
  Judge(World& world, Server& server)
      : holders(world, server),
        turns(world),
        records(world),
        world_(world),
        server_(server),
        audit_(world, server, turns, records) {}
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  // Where the answer to one operation goes: once, and within `allowed`, not counting the time that
  // its process stood still. kForever: no bound. `then` runs inside the process's loop.
  std::shared_ptr<Sink> expect(Process& process, std::string what, Duration allowed,
                               std::function<void(Completion)> then);
  // Operations without an answer, of processes that live.
  size_t open_operations() const;
  // None is left, of this process or, if nullptr, of any.
  void check_answered(const Process* process = nullptr);

  // After every event.
  void inspect();
  // When all have ended and all leases are over: every loss is told, and only fences and records
  // are left at the server.
  void check_leftovers();

  Holders holders;
  Turns turns;
  Records records;

 private:
  struct Answer;
  void check_expiries();

  World& world_;
  Server& server_;
  Audit audit_;
  std::vector<std::shared_ptr<Answer>> answers_;  // those owed, and some others
};

}  // namespace lockc::sim
