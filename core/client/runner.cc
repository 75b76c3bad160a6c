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
  return claim != nullptr && claim->route().unanswered > 0;
}

// How long the caller may sit in a read: the background thread ends connections that do not answer,
// and so wakes it; but an acquire's own deadline may be nearer.
Duration read_limit(const Slot& slot, TimePoint now, Millis reply_timeout) {
  if (slot.waiter == nullptr || slot.waiter->request.wait <= Millis::zero())
    return Socket::kForever;
  const TimePoint deadline = after(slot.waiter->began, slot.waiter->request.wait);
  if (deadline - now > Duration(reply_timeout)) return Socket::kForever;
  return std::max<Duration>(deadline - now, Millis(1));
}

}  // namespace

Runner::Runner(const Clock& clock, Reactor& reactor, Loop& loop)
    : clock_(clock), reactor_(reactor), loop_(loop) {}

Runner::~Runner() { stop(); }

void Runner::start(Node& node, WakeChannel& wake) {
  node_ = &node;
  wake_ = &wake;
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

void Runner::background() {
  ::pthread_setname_np(::pthread_self(), "lockc");
  Lock lock(mutex_);
  while (!stopping_) {
    const TimePoint until = loop_.timers().next();
    sleeps_until_ = until;
    lock.unlock();
    reactor_.wait(until, clock_);
    lock.lock();
    sleeps_until_ = TimePoint();
    loop_.begin_turn();
    reactor_.dispatch();
    loop_.end_turn();
  }
}

void Runner::inside(FunctionRef<void()> task) {
  const Lock lock(mutex_);
  loop_.begin_turn();
  task();
  end_turn();
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

// One turn that makes the caller's request and sends it. The borrowing comes before the flush,
// which would else tell the background thread to watch for the reply.
Runner::Lead Runner::begin(Lock& lock, Slot& slot, FunctionRef<void()> submit, bool only_free) {
  loop_.begin_turn();
  node_->forget_latest();
  submit();
  loop_.run_deferred();
  Lead lead{slot.is_done() ? nullptr : node_->latest(), nullptr};
  Connection::Unsent unsent;
  if (lead.connection != nullptr) {
    slot.carrier = lead.connection;
    const bool free = lead.connection->outstanding() == 1;
    if (free || !only_free) lead.socket = lead.connection->borrow();
    unsent = lead.connection->take_unsent();
  }
  loop_.flush();
  wake_for_timers();
  if (unsent.socket != nullptr) write_for_all(lock, *lead.connection, std::move(unsent));
  return lead;
}

// A write takes longer than all else in a turn, so it happens outside; what other callers have for
// the same connection by then leaves together in the next one.
void Runner::write_for_all(Lock& lock, Connection& connection, Connection::Unsent unsent) {
  while (unsent.socket != nullptr) {
    lock.unlock();
    const bool succeeded = unsent.socket->write(unsent.bytes);
    lock.lock();
    if (!succeeded) loop_.begin_turn();
    unsent = connection.wrote(succeeded);
    if (!succeeded) end_turn();
  }
}

void Runner::call(Slot& slot, FunctionRef<void()> submit) {
  Lock lock(mutex_);
  Lead lead = begin(lock, slot, submit, false);
  if (lead) read_for_all(lock, slot, lead);
  while (!slot.is_done()) {
    if (blocked_.empty()) watch_channel(lock, slot);
    if (slot.is_done()) return;
    const auto place = blocked_.insert(blocked_.end(), &slot);
    lock.unlock();
    slot.sleep();
    lock.lock();
    blocked_.erase(place);
    lead.socket = slot.take_lead();
    if (!lead) continue;
    lead.connection = slot.carrier.lock();
    if (lead.connection != nullptr) read_for_all(lock, slot, lead);
  }
}

bool Runner::call_once(Slot& slot, FunctionRef<void()> submit, FunctionRef<void()> otherwise) {
  Lock lock(mutex_);
  const Lead lead = begin(lock, slot, submit, true);
  if (lead) read_for_all(lock, slot, lead);
  if (slot.is_done()) return true;
  otherwise();
  return slot.is_done();
}

// A caller that alone waits for a grant reads the wake channel by itself: a hop less at each
// hand-over.
void Runner::watch_channel(Lock& lock, Slot& slot) {
  if (slot.waiter == nullptr || awaits_reply(slot)) return;
  Lead lead{wake_->connection(), nullptr};
  if (lead.connection != nullptr) lead.socket = lead.connection->borrow();
  if (!lead) return;
  std::array<char, 16384> buffer;
  while (!slot.is_done() && !lead.connection->is_closed()) {
    slot.watch(kick_);
    lock.unlock();
    kick_.wait_with(*lead.socket);
    const long got = lead.socket->read(buffer.data(), buffer.size(), Duration::zero());
    lock.lock();
    slot.unwatch();
    loop_.begin_turn();
    const auto size = static_cast<size_t>(std::max(got, 0L));
    lead.connection->feed({buffer.data(), size}, got);
    end_turn();
  }
  lead.connection->give_back();
}

// Reads replies, whoever they are for, until the caller's own has come; then somebody else has to.
void Runner::read_for_all(Lock& lock, Slot& slot, const Lead& lead) {
  std::array<char, 16384> buffer;
  while (awaits_reply(slot) && lead.connection->outstanding() > 0) {
    const Duration limit = read_limit(slot, loop_.now(), node_->reply_timeout());
    lock.unlock();
    const long got = lead.socket->read(buffer.data(), buffer.size(), limit);
    lock.lock();
    loop_.begin_turn();
    const auto size = static_cast<size_t>(std::max(got, 0L));
    lead.connection->feed({buffer.data(), size}, got);
    end_turn();
  }
  hand_on(lead);
}

// To a caller that sleeps for a reply on this connection, or to the background thread.
void Runner::hand_on(const Lead& lead) {
  // The one that blocked last has the longest to go.
  for (auto at = blocked_.rbegin(); at != blocked_.rend(); ++at) {
    Slot& slot = **at;
    if (slot.carrier.lock() == lead.connection && awaits_reply(slot)) return slot.lead(lead.socket);
  }
  lead.connection->give_back();
}

}  // namespace lockc
