// Looks on and knows the rules: exclusion, order of tokens, every operation answered once and in
// time, an expiry on every key. What the core cannot promise (a server that lost its data, a clock
// set forward) is excused here and nowhere else.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lock/grant.h"
#include "lock/operation.h"
#include "process.h"
#include "server.h"
#include "world.h"

namespace lockc::sim {

class Judge {
 public:
  Judge(World& world, Server& server) : world_(world), server_(server) {}
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  // ---- operations
  // Where the answer to one operation goes: once, and within `allowed`, not counting the time that
  // its process stood still. kForever: no bound. `then` runs inside the process's loop.
  std::shared_ptr<Sink> expect(Process& process, std::string what, Duration allowed,
                               std::function<void(Completion)> then);
  // Operations without an answer, of processes that live.
  size_t open_operations() const;
  void check_all_answered();

  // ---- holders
  void granted(const Process& process, const std::shared_ptr<Grant>& grant, bool fenced);
  // A client that is none of lockc's believes in its lock until then; the result ends that.
  std::shared_ptr<bool> plain_granted(const std::string& key, const std::string& owner,
                                      TimePoint until);

  // After every event.
  void inspect();
  // When all have ended and all leases are over: only fences are left at the server.
  void check_leftovers();

  size_t grants() const { return grants_; }

 private:
  struct Answer;
  struct Holder {
    std::string key;
    std::shared_ptr<Grant> grant;
    const Process* process = nullptr;
  };
  struct PlainHolder {
    std::string key;
    std::string owner;
    TimePoint until;
    std::shared_ptr<bool> released;
  };

  bool is_excused(const std::string& owner) const;
  void inspect_exclusion();
  void inspect_expiries();

  World& world_;
  Server& server_;
  std::vector<std::shared_ptr<Answer>> answers_;
  std::vector<Holder> holders_;
  std::vector<PlainHolder> plain_holders_;
  std::map<std::string, uint64_t> last_token_;
  size_t grants_ = 0;
};

}  // namespace lockc::sim
