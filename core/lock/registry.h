// Who in this client holds and waits for which key: one entry per key with its local waiters in
// order, of whom one stands in the server's queue. Grants, hand-overs and wake messages meet here.
// Lives inside the loop.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/log.h"
#include "lock/claim.h"
#include "lock/operation.h"
#include "lock/store.h"
#include "lock/watchdog.h"
#include "redis/wake_channel.h"

namespace lockc {

// One acquire that is not answered yet.
struct Waiter : std::enable_shared_from_this<Waiter> {
  Waiter(AcquireRequest r, Owed o, Registry& registry);

  AcquireRequest request;
  Owed owed;
  const TimePoint began;
  Registry& registry;
  Timer deadline;
  Entry* entry = nullptr;                              // set while it stands in entry->waiting
  std::list<std::shared_ptr<Waiter>>::iterator place;  // there
  std::weak_ptr<Claim> claim;                          // set while it sits in one
  bool counted = false;                                // against max_waiters
};

// One key and the waiters of this client that share a claim to it.
struct Entry {
  std::list<std::shared_ptr<Waiter>> waiting;
  std::shared_ptr<Claim> claim;  // asking or held
};

class Registry {
 public:
  struct Settings {
    std::shared_ptr<const std::string> client;  // its name: 22 characters
    uint32_t handover_max = 8;
    Millis handover_time{20};
    Millis spin_min{2};
    Millis spin_max{250};
    uint32_t max_waiters = 0;
  };

  Registry(Loop& loop, Store& store, WakeChannel& wake, Watchdog& watchdog, const Log& log,
           Settings settings);
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // The answer goes to owed, possibly before this returns. The result is for cancel() and
  // carrier().
  std::shared_ptr<Waiter> acquire(AcquireRequest request, Owed owed);
  // Ends a wait; does nothing once it was answered.
  void cancel(const std::shared_ptr<Waiter>& waiter, Error why);
  void extend(const std::shared_ptr<Grant>& grant, Ttl ttl, Owed owed);
  void release(const std::shared_ptr<Grant>& grant, Owed owed);
  // The same for a caller that waits for no answer: it gets what is known at once, kLost or
  // kNotHeld, else kOk. A loss that only the server knows of is told as news of the grant.
  Status release_nowait(const std::shared_ptr<Grant>& grant);

  // Ends all waits with kClosed and gives back all that is held; then idle() once nothing is owed
  // any more.
  void close(std::function<void()> idle);
  size_t entries() const { return entries_.size(); }
  // Out of memory, somewhere in a turn: ends everything here, without the server.
  void abandon() noexcept;

  // From the wake channel and the node.
  void on_channel_confirmed();
  void on_channel_lost();
  void on_message(const WakeMessage& message);
  void on_key_gone(std::string_view key);
  // Every lease is checked at once; and what came from another server's channel counts no more.
  void on_reconnected(bool server_changed);

 private:
  friend class Claim;
  friend struct Waiter;

  std::vector<std::shared_ptr<Claim>> all_claims() const;
  std::shared_ptr<Claim> find_claim(std::string_view key, uint64_t seq) const;
  void ask_all();
  bool enter_again(const AcquireRequest& request, Owed& owed);
  Claim::Terms terms_of(const AcquireRequest& request) const;
  std::shared_ptr<Claim> make_claim(const std::shared_ptr<Waiter>& waiter, Entry* entry);
  void seat_next(const Key& key, Entry& entry);
  std::shared_ptr<Waiter> take_first(Entry& entry);
  std::shared_ptr<Claim> claim_for_first(Entry& entry);
  void leave_seat(Claim& claim);
  void answer(Waiter& waiter, Error outcome, std::shared_ptr<Grant> grant = nullptr);
  void detach(Claim& claim);
  void forget_if_unused(const Key& key);
  void on_deadline(Waiter& waiter);
  void let_go(const std::shared_ptr<Grant>& grant, Owed owed);
  void forget_owner(const Claim& claim);
  void pass_on(Claim& claim, const std::shared_ptr<Grant>& released, Owed owed);

  // Told by claims.
  void on_granted(Claim& claim);
  void on_refused(Claim& claim, Error why);
  void on_lost(Claim& claim);
  void on_done(Claim& claim);
  void tell_if_idle();

  Loop& loop_;
  Store& store_;
  WakeChannel& wake_;
  Watchdog& watchdog_;
  const Log& log_;
  const Settings settings_;
  uint64_t next_seq_ = 1;
  bool is_told_ = true;  // releases can wake our waiters
  uint32_t waiters_ = 0;
  bool closed_ = false;
  std::function<void()> idle_;
  std::unordered_map<std::string, Entry> entries_;
  // Claims that no entry has, by the seq in the owner value: those of one waiter alone, those that
  // are lost and those that are being given back.
  std::unordered_map<uint64_t, std::shared_ptr<Claim>> others_;
  std::map<std::pair<std::string, uint64_t>, std::weak_ptr<Claim>> reentrant_;
  // By key, the last claim that closes with nobody waiting for its end: whoever let it go may ask
  // for the key again at once.
  std::unordered_map<std::string, Claim*> left_;
};

}  // namespace lockc
