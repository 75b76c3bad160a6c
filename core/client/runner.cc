#include "client/runner.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "lock/registry.h"

namespace lockc {
namespace {

// Whether what the caller waits for now is the reply to a request of its own, not a wake message.
bool awaits_reply(const Slot& slot) {
  if (slot.is_done()) return false;
  if (slot.waiter == nullptr) return true;
  const auto claim = slot.waiter->claim.lock();
  return claim != nullptr && claim->awaits_answer();
}

bool same(const std::weak_ptr<Connection>& a, const std::shared_ptr<Connection>& b) {
  return !a.owner_before(b) && !b.owner_before(a);
}

// Looks at a lock that is taken; about as many as one turn takes.
constexpr int kTriesToEnter = 50;

// One caller more, while it lives.
class Counted {
 public:
  explicit Counted(std::atomic<unsigned>& callers) : callers_(callers) { ++callers_; }
  ~Counted() { --callers_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::atomic<unsigned>& callers_;
};

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

Runner::Runner(const Clock& clock, Reactor& reactor, Loop& loop, Node& node, WakeChannel& wake,
               std::function<void()> begin_anew)
    : clock_(clock),
      reactor_(reactor),
      loop_(loop),
      node_(node),
      wake_(wake),
      begin_anew_(std::move(begin_anew)) {}

Runner::~Runner() { stop(); }

void Runner::start() {
  // The thread must not run the process's signal handlers.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { background(); });
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Runner::stop() {
  if (!thread_.joinable()) return;
  {
    const Lock lock(mutex_);
    stopping_ = true;
  }
  reactor_.wake();
  thread_.join();
}

// Turns are short: a thread that finds somebody inside does better to look again for a moment than
// to sleep, which takes longer than the turn.
Runner::Lock Runner::enter() {
  Lock lock(mutex_, std::defer_lock);
  for (int tries = 0; tries < kTriesToEnter; ++tries) {
    if (lock.try_lock()) return lock;
    relax();
  }
  lock.lock();
  return lock;
}

// Those who have news are woken outside: the first thing they do may be to come in again.
void Runner::leave(Lock lock) {
  const auto woken = sleepers_.take();
  lock.unlock();
  Sleepers::wake(woken);
}

void Runner::background() {
  ::pthread_setname_np(::pthread_self(), "lockc");
  Lock lock(mutex_);
  while (!stopping_) {
    const TimePoint until = loop_.timers().next();
    sleeps_until_ = until;
    leave(std::move(lock));
    reactor_.wait(until, clock_);
    lock = Lock(mutex_);
    sleeps_until_ = TimePoint();
    attempt([this] {
      loop_.begin_turn();
      reactor_.dispatch();
      loop_.end_turn();
    });
  }
  leave(std::move(lock));
}

void Runner::inside(FunctionRef<void()> task) {
  Lock lock = enter();
  turn(task);
  leave(std::move(lock));
}

void Runner::turn(FunctionRef<void()> task) noexcept {
  attempt([&] {
    loop_.begin_turn();
    task();
    end_turn();
  });
}

void Runner::attempt(FunctionRef<void()> work) noexcept {
  try {
    work();
  } catch (...) {
    begin_anew_();
  }
}

void Runner::end_turn() {
  loop_.end_turn();
  wake_for_timers();
}

void Runner::wake_for_timers() {
  if (loop_.timers().next() < sleeps_until_) {
    sleeps_until_ = TimePoint();
    reactor_.wake();
  }
}

// Never blocks: what the socket has no room for is left to the loop.
void Runner::send(FunctionRef<void()> task) {
  Lock lock = enter();
  Connection::Unsent unsent;
  std::shared_ptr<Connection> carrier;
  attempt([&] {
    loop_.begin_turn();
    node_.forget_latest();
    task();
    loop_.run_deferred();
    carrier = node_.latest();
    if (carrier != nullptr) {
      carrier->leave_last();
      unsent = carrier->take_unsent();
    }
    loop_.flush();
    wake_for_timers();
  });
  leave(std::move(lock));
  if (unsent.socket == nullptr) return;
  const std::string_view bytes = unsent.bytes;
  const size_t written = unsent.socket->write_now(bytes);
  if (written == bytes.size() && carrier->wrote_all(true)) return;
  inside([&] { carrier->wrote_but(bytes.substr(written)); });
}

void Runner::call(Slot& slot, FunctionRef<void()> submit) {
  const Counted counted(callers_);
  Lead lead = begin(slot, submit, false);
  for (;;) {
    if (lead) {
      lead = lead.is_channel ? watch_channel(slot, lead) : read_for_all(slot, lead, false);
    } else if (slot.is_done()) {
      return;
    } else {
      slot.sleep();
      lead = slot.take_lead();
    }
  }
}

bool Runner::call_once(Slot& slot, FunctionRef<void()> submit, FunctionRef<void()> otherwise) {
  if (const Lead lead = begin(slot, submit, true)) read_for_all(slot, lead, true);
  if (slot.is_done()) return true;
  Lock lock = enter();
  const bool done = slot.is_done();
  if (!done) attempt(otherwise);
  leave(std::move(lock));
  return done || slot.is_done();
}

// One turn that makes the caller's request, which is then written outside. The borrowing comes
// before the flush, which would else tell the background thread to watch for the reply.
Lead Runner::begin(Slot& slot, FunctionRef<void()> submit, bool once) {
  Lock lock = enter();
  Lead lead;
  Connection::Unsent unsent;
  std::shared_ptr<Connection> carrier;
  attempt([&] {
    loop_.begin_turn();
    node_.forget_latest();
    node_.expect(callers_);
    submit();
    loop_.run_deferred();
    if (!slot.is_done()) carrier = node_.latest();
    if (carrier != nullptr) {
      slot.carrier = carrier;
      unsent = carrier->take_unsent();
      if (!once || carrier->awaited() == 1) {
        lead = {carrier, carrier->borrow(), read_limit(slot), lookout_.looks(callers_)};
      }
    }
    loop_.flush();
    wake_for_timers();
  });
  if (!lead && !once) lead = block(slot);
  leave(std::move(lock));
  if (unsent.socket != nullptr) write_for_all(*carrier, std::move(unsent));
  return lead;
}

// A write takes longer than all else in a turn, so it happens outside; what other callers have for
// the same connection by then leaves together in the next one.
void Runner::write_for_all(Connection& connection, Connection::Unsent unsent) {
  while (unsent.socket != nullptr) {
    const bool succeeded = unsent.socket->write(unsent.bytes);
    if (connection.wrote_all(succeeded)) return;
    Lock lock = enter();
    unsent = {};
    if (succeeded) {
      unsent = connection.wrote();
    } else {
      turn([&] { connection.write_failed(); });
    }
    leave(std::move(lock));
  }
}

// Reads replies, whoever they are for, until the caller's own has come; then somebody else has to.
Lead Runner::read_for_all(Slot& slot, Lead lead, bool once) {
  std::array<char, 16384> buffer;
  for (bool mine = !slot.is_done();;) {
    Lookout::Seen seen;
    if (mine) {
      seen = Lookout::read(*lead.socket, buffer.data(), buffer.size(), lead.limit, lead.looks);
    }
    Lock lock = enter();
    lookout_.learn(seen.looks);
    auto unsent = feed(lead, buffer.data(), seen.got);
    mine = awaits_reply(slot) && lead.connection->outstanding() > 0;
    Lead next;
    if (mine) {
      lead.limit = read_limit(slot);
      lead.looks = lookout_.looks(callers_);
    } else {
      hand_on(lead);
      if (!once) next = block(slot);
    }
    leave(std::move(lock));
    if (unsent.socket != nullptr) write_for_all(*lead.connection, std::move(unsent));
    if (!mine) return next;
  }
}

// A caller that alone waits for a grant reads the wake channel by itself: a hop less at each
// hand-over.
Lead Runner::watch_channel(Slot& slot, const Lead& lead) {
  std::array<char, 16384> buffer;
  for (bool watches = true;;) {
    kick_.wait_with(*lead.socket);
    const long got = lead.socket->read(buffer.data(), buffer.size(), Duration::zero());
    Lock lock = enter();
    slot.unwatch();
    feed(lead, buffer.data(), got);
    watches = !slot.is_done() && !lead.connection->is_closed();
    Lead next;
    if (watches) {
      slot.watch(kick_);
    } else {
      lead.connection->give_back();
      next = block(slot);
    }
    leave(std::move(lock));
    if (!watches) return next;
  }
}

// ---- inside

// The caller has nothing to read: it sleeps, or watches the wake channel if nobody else waits.
Lead Runner::block(Slot& slot) {
  if (slot.is_done()) return {};
  if (blocked_.empty() && slot.waiter != nullptr && !awaits_reply(slot)) {
    Lead lead{wake_.connection(), nullptr, Socket::kForever, 0, true};
    if (lead.connection != nullptr) lead.socket = lead.connection->borrow();
    if (lead) {
      slot.watch(kick_);
      return lead;
    }
  }
  blocked_.add(slot);
  return {};
}

Connection::Unsent Runner::feed(const Lead& lead, const char* bytes, long got) {
  Connection::Unsent unsent;
  attempt([&] {
    loop_.begin_turn();
    lead.connection->feed({bytes, static_cast<size_t>(std::max(got, 0L))}, got);
    loop_.run_deferred();
    unsent = lead.connection->take_unsent(true);
    loop_.flush();
    wake_for_timers();
  });
  return unsent;
}

// To a caller that sleeps for a reply on this connection, or to the background thread.
void Runner::hand_on(const Lead& lead) {
  // Somebody may wait for a reply that comes by another connection: a poll that a timer has sent.
  // Here nothing may be left to come, and nobody may read what does not.
  if (lead.connection->outstanding() == 0) return lead.connection->give_back();
  // The one that blocked last has the longest to go.
  for (Slot* slot = blocked_.last(); slot != nullptr; slot = Slot::Blocked::before(*slot)) {
    if (same(slot->carrier, lead.connection) && awaits_reply(*slot)) {
      return slot->lead(
          {lead.connection, lead.socket, read_limit(*slot), lookout_.looks(callers_)});
    }
  }
  lead.connection->give_back();
}

// How long the caller may sit in a read: the background thread ends connections that do not answer,
// and so wakes it; but an acquire's own deadline may be nearer.
Duration Runner::read_limit(const Slot& slot) const {
  if (slot.waiter == nullptr || slot.waiter->request.wait <= Millis::zero())
    return Socket::kForever;
  const TimePoint now = loop_.now();
  const TimePoint deadline = after(slot.waiter->began, slot.waiter->request.wait);
  if (deadline - now > Duration(node_.reply_timeout())) return Socket::kForever;
  return std::max<Duration>(deadline - now, Millis(1));
}

}  // namespace lockc
