// Who believes to hold which key, and whether that is right: one at a time, with growing tokens,
// never for longer than the server keeps the key, and told once when it is lost. What the core
// cannot promise (a server that lost its data, a clock set forward) is excused here and nowhere
// else.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lock/grant.h"
#include "process.h"
#include "server.h"
#include "world.h"

namespace lockc::sim {

// The hold that an acquire is to bring, from before it is granted; its loss is told here.
class Hold final : public Sink {
 public:
  Hold(World& world, const Process& process, const AcquireRequest& request)
      : key(request.key),
        owner_number(request.owner),
        fenced(request.fenced),
        world_(world),
        process_(process) {}

  void begin(std::shared_ptr<Grant> grant) { grant_ = std::move(grant); }
  // Its release has begun.
  void let_go() { let_go_ = true; }
  // ... and nobody waits for its answer, which may still be a loss.
  void let_go_unanswered() { let_go_ = hears_behind_ = true; }
  // The world ends: grants tell their holds, so neither would go while the other knows it.
  void forget() { grant_.reset(); }
  void complete(Completion news) override;

  const std::shared_ptr<Grant>& grant() const { return grant_; }
  bool is_over() const { return let_go_ || process_.is_dead(); }
  bool is_lost() const { return grant_->loss() != LossReason::kNone; }
  Duration remaining() const { return grant_->remaining(world_.now()); }
  // One and the same grant as the other's, for an owner that entered again.
  bool is_shared_with(const Hold& other) const;
  void inspect();
  void check_told();

  const Key key;
  const uint64_t owner_number;  // 0: not re-entrant
  const bool fenced;

 private:
  World& world_;
  const Process& process_;
  std::shared_ptr<Grant> grant_;
  TimePoint until_{};  // the proven end, as last seen
  int told_ = 0;
  bool let_go_ = false;
  bool hears_behind_ = false;
};

class Holders {
 public:
  Holders(World& world, Server& server) : world_(world), server_(server) {}
  ~Holders();
  Holders(const Holders&) = delete;
  Holders& operator=(const Holders&) = delete;

  // False: it is the grant of one that holds already, for an owner that entered again.
  bool granted(const Process& process, const std::shared_ptr<Hold>& hold);
  void let_go_unanswered(const std::shared_ptr<Hold>& hold);
  // Nobody else can believe the same.
  bool is_alone(const Hold& hold) const;
  // A client that is none of lockc's believes in its lock until then; the result ends that.
  std::shared_ptr<bool> plain_granted(const std::string& key, const std::string& owner,
                                      TimePoint until);
  // After every event.
  void inspect();
  // Once no answer is to come any more.
  void check_let_go();
  size_t grants() const { return grants_; }

 private:
  struct PlainHolder {
    std::string key;
    std::string owner;
    TimePoint until;
    std::shared_ptr<bool> released;
  };

  void check_token(const Hold& hold);
  void check_alone();
  void check_server_agrees(const std::string& key, const std::string& owner, Duration remaining);

  World& world_;
  Server& server_;
  std::vector<std::shared_ptr<Hold>> holds_;
  std::vector<std::shared_ptr<Hold>> let_go_;  // of which losses may be told behind
  std::vector<std::weak_ptr<Hold>> ever_;      // all that were granted
  std::vector<PlainHolder> plain_holders_;
  std::map<std::string, uint64_t> last_token_;
  size_t grants_ = 0;
};

}  // namespace lockc::sim
