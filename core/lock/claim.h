// One owner value at the server, from the first request that names it to the last answer about it:
// asks, waits in the queue, holds, renews, gives back. What a holder sees of it are Grants; who
// sits in it is the Registry's business. Lives inside the loop.
#pragma once

#include <cstdint>
#include <forward_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lock/grant.h"
#include "lock/operation.h"
#include "lock/store.h"
#include "net/backoff.h"
#include "net/timers.h"

namespace lockc {

class Registry;
struct Entry;
struct Waiter;

class Claim final : public std::enable_shared_from_this<Claim> {
 public:
  // What an owner value says; waiters may pass it on only among equals.
  struct Terms {
    Ttl ttl;
    uint32_t block;  // tokens wanted for local hand-over; 0: unfenced
    bool renew;
    bool operator==(const Terms&) const = default;
  };
  enum class State : uint8_t {
    kAsking,   // a waiter sits in it; an acquire is under way or a timer runs for the next
    kHeld,     // granted, and the lease is proven
    kLost,     // it was held; its holder has not let go yet
    kClosing,  // dead here; the release is repeated until answered or the lease is surely over
    kDone,
  };

  Claim(Registry& registry, uint64_t seq, Key key, const Terms& terms);

  // The name of its client, and what tells its owner value from others of that.
  const std::shared_ptr<const std::string>& client() const;
  uint64_t seq() const { return seq_; }
  const Key& key() const { return key_; }
  Owner owner() const;
  const Terms& terms() const { return terms_; }
  State state() const { return state_; }
  // An acquire or release of it is unanswered.
  bool awaits_answer() const { return route_ != nullptr && route_->unanswered > 0; }
  // Held, and provably so at this turn.
  bool valid() const;
  TimePoint valid_until() const { return valid_until_; }

  std::shared_ptr<Waiter> seat;  // kAsking: whom a grant goes to
  uint64_t reentrant = 0;        // the owner number of its holder, if it has one
  Entry* entry = nullptr;        // whose waiters share this claim; nullptr: it is one waiter's own

  // ---- asking
  void ask();
  // Asks behind the release of `previous`, of the same key, as long as that is unanswered.
  void follow(const Claim& previous) { asking_->follows = previous.route_; }
  // Begins as the second value of a requeue of `previous`, whose release owes an answer.
  void ask_by_requeue(Claim& previous, Owed owed, std::shared_ptr<Grant> released);
  void on_message(uint64_t first, uint32_t count);
  void on_channel_confirmed();
  void on_channel_lost();
  // A holder that is not lockc has gone, by a keyspace notification.
  void on_key_gone();
  // Another waiter has taken the seat.
  void resume();
  // Nobody waits any more: undoes whatever the server may have done.
  void give_up();
  // What to tell a waiter whose time is over: the trouble that kept it, or plainly TIMEOUT.
  Error why_not();

  // ---- held
  // A new grant of the held lease, by the next token of its block.
  std::shared_ptr<Grant> issue(const AcquireRequest& request);
  // Another handle of the same grant, for a re-entrant owner.
  std::shared_ptr<Grant> issue_again(const AcquireRequest& request);
  // A further holder may take over here: tokens are left, and enough of the lease.
  bool may_hand_over() const;
  void extend(const std::shared_ptr<Grant>& grant, Ttl ttl, Owed owed);
  void check_lease();
  void on_reconnected();
  void lose(LossReason reason);
  // Out of memory: its grants are lost, and it asks the server for nothing any more.
  void abandon() noexcept;

  // ---- giving back
  // Takes grant off; true: it was the last one.
  bool let_go(const Grant& grant);
  void close(Owed owed, std::shared_ptr<Grant> released);
  // The client closes: what waits for its next try has its last one now.
  void close_at_once();
  // Another caller wants to know the end of a release under way.
  void also_tell(Owed owed);

 private:
  void ask_plainly(TimePoint sent);
  void on_answer(TimePoint sent, const Result<AcquireAnswer>& answer);
  void on_trouble(const Error& error);
  void on_busy(const AcquireAnswer& answer);
  void on_queued(TimePoint sent, const AcquireAnswer& answer);
  bool hold_by_message(uint64_t first, uint32_t count);
  void hold(uint64_t first, uint32_t count, TimePoint valid_until);
  void prove(TimePoint until);
  void renew_now();
  void on_renewed(TimePoint sent, const Result<bool>& ours);
  void schedule_lease();
  bool wants_renewal() const;
  void tell_lost(LossReason reason);
  void send_release();
  void on_released(const Result<bool>& ours);
  void tell_released(const Error& outcome, bool final);
  void finish();
  void on_timer();
  bool wants_queue() const;
  void watch_key(bool watch);
  Millis poll_bound() const;
  Millis window() const;
  Named named();
  void begin_closing();

  Registry& registry_;
  const uint64_t seq_;
  const Key key_;
  const Terms terms_;
  std::shared_ptr<Route> route_;  // while requests are under way whose order counts
  Timer timer_;

  State state_ = State::kAsking;
  bool in_flight_ = false;       // an acquire is unanswered
  bool queued_ = false;          // the last answer said so
  bool maybe_executed_ = false;  // an acquire got no answer
  uint32_t left_ = 0;            // kHeld: further grants that the lease and the settings allow

  // What is needed only while it asks, and only while it gives back: most claims are held.
  struct Asking {
    explicit Asking(const Registry& registry);
    bool ask_again = false;  // something happened while an acquire was in flight
    bool watches = false;    // the key's notifications, behind a foreign holder
    uint32_t tries = 0;
    uint32_t noscripts = 0;
    std::optional<Error> trouble;
    std::optional<TimePoint> answered;  // when an answer was last of use
    TimePoint began;
    std::string ticket = "0";
    TimePoint ticket_sent{};
    std::optional<uint64_t> mark;  // of the last poll answered with one, sent at marked
    TimePoint marked{};
    // A grant message that overtook the answer to the poll before it, on the other connection.
    std::optional<std::pair<uint64_t, uint32_t>> early;
    Backoff backoff;
    std::shared_ptr<Route> follows;
  };
  std::unique_ptr<Asking> asking_;  // kAsking

  // kHeld
  uint64_t next_token_ = 0;
  TimePoint granted_at_{};
  TimePoint valid_until_{};
  TimePoint renew_at_ = kNever;
  std::forward_list<std::shared_ptr<Grant>> grants_;  // more than one for a re-entrant owner

  struct Closing {
    std::vector<Owed> owed;
    std::shared_ptr<Grant> released;
    TimePoint close_by{};
    bool closed_valid = false;  // the lease was proven when the release was first sent
    bool told_unknown = false;
    uint32_t sends = 0;
    uint32_t refusals = 0;
    uint32_t noscripts = 0;
  };
  std::unique_ptr<Closing> closing_;  // kClosing
};

}  // namespace lockc
