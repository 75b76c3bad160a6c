// lockc for C++17: RAII over the C ABI of lockc.h, header only; link with liblockc.
//
//   lockc::Client client("redis://localhost:6379/0");
//   lockc::Lock lock = client.acquire("orders:42");      // waits; throws lockc::Error
//   save(order, lock.token());                           // renewed until `lock` goes out of scope
//
// Conventions
//   Failure    A function throws lockc::Error, or, where an Outcome& is its last argument, never
//              throws and tells there. Destructors never throw; only ~Client and ~Queue may wait.
//   Handles    Client, Lock and Queue are move-only. A handle that was moved from, or is empty,
//              answers Status::kInvalid. A Lock or Queue may outlive its Client: it then answers
//              Status::kClosed.
//   Units      lockc::Duration is whole milliseconds. Zero, false, empty: the default.
//   Threads    [any] from any thread at any time; [one] by one thread at a time per object.
//   Keys       Any bytes; 1..4096 once the prefix is applied, not beginning with "lockc:".
#ifndef LOCKC_HPP
#define LOCKC_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lockc/fence.hpp"
#include "lockc/lockc.h"
#include "lockc/options.hpp"
#include "lockc/outcome.hpp"

namespace lockc {
namespace detail {

lockc_acquire_options to_c(const AcquireOptions& options) noexcept;

}  // namespace detail

// One grant of one key. Going out of scope gives it back behind the caller's back, without
// waiting; release() does it in the open.
class Lock {
 public:
  Lock() noexcept = default;  // holds nothing
  explicit Lock(lockc_lock* owned) noexcept : lock_(owned) {}

  // [any] The fencing token: larger for every later grant of the same key. 0: unfenced.
  std::uint64_t token() const noexcept { return lockc_lock_token(get()); }

  // [any] Proven remaining validity, without I/O. Zero: not held (any more).
  Duration remaining() const noexcept { return Duration(lockc_lock_remaining_ms(get())); }

  // [any] True while the lease is proven.
  bool held() const noexcept { return remaining() > Duration::zero(); }

  // [any] Why it was lost; kNot while it is held and after an ordinary release.
  LostReason lost_reason() const noexcept {
    return static_cast<LostReason>(lockc_lock_lost_reason(get()));
  }

  // [any] The value at the key while it is held; lives as long as this lock. "": memory is short.
  std::string_view owner() const noexcept {
    const char* owner = lockc_lock_owner(get());
    return owner == nullptr ? std::string_view() : std::string_view(owner);
  }

  // [any] Makes the lease last at least ttl from now; blocks for one answer. Throws Error:
  // kLost, kNotHeld, or a failure.
  void extend(Duration ttl) {
    Outcome outcome;
    extend(ttl, outcome);
    if (!outcome) throw Error(outcome);
  }
  void extend(Duration ttl, Outcome& outcome) noexcept {
    outcome = detail::ask(
        [&](lockc_error** error) { return lockc_lock_extend(get(), ttl.count(), error); });
  }

  // [any] Gives the grant back; blocks for one answer. True: given back. False: it was no longer
  // ours (kLost) or had been released before (kNotHeld). Throws Error for a failure.
  bool release() {
    Outcome outcome;
    release(outcome);
    if (outcome.failed()) throw Error(outcome);
    return static_cast<bool>(outcome);
  }
  void release(Outcome& outcome) noexcept {
    outcome = detail::ask([&](lockc_error** error) { return lockc_lock_release(get(), error); });
  }

  // [any] Gives the grant back without waiting for the answer, and never blocks. True: on its way.
  // False: known already to be lost or released. A loss that only the answer tells comes as any
  // does, by Event::kLost and lost_reason(). Throws Error for a failure.
  bool release_nowait() {
    Outcome outcome;
    release_nowait(outcome);
    if (outcome.failed()) throw Error(outcome);
    return static_cast<bool>(outcome);
  }
  void release_nowait(Outcome& outcome) noexcept {
    outcome =
        detail::ask([&](lockc_error** error) { return lockc_lock_release_nowait(get(), error); });
  }

  // True unless empty or moved from; says nothing about the lease.
  explicit operator bool() const noexcept { return lock_ != nullptr; }

  // The C handle, still owned by this object.
  lockc_lock* get() const noexcept { return lock_.get(); }

 private:
  detail::Handle<lockc_lock> lock_;
};

// Connections to one server and the locks held through them.
class Client {
 public:
  // [any] Checks its arguments and starts; sends nothing. An empty url: the environment's
  // LOCKC_URL, else redis://127.0.0.1:6379. Throws Error: kInvalid, kUnsupported, kNoMemory.
  explicit Client(const std::string& url = {}, const ClientOptions& options = {}) {
    const lockc_client_options c = detail::to_c(options);
    lockc_client* client = nullptr;
    const Outcome outcome = detail::ask([&](lockc_error** error) {
      return lockc_client_open(&client, detail::or_null(url), &c, error);
    });
    client_.reset(client);
    if (!outcome) throw Error(outcome);
  }

  // [any] Blocks until one connection stands, at most `timeout`. Throws Error.
  void connect(Duration timeout) {
    Outcome outcome;
    connect(timeout, outcome);
    if (!outcome) throw Error(outcome);
  }
  void connect(Duration timeout, Outcome& outcome) noexcept {
    outcome = detail::ask(
        [&](lockc_error** error) { return lockc_client_connect(get(), timeout.count(), error); });
  }

  // [any] Waits for the lock as options.wait says. Throws Error for anything but a grant: kTimeout,
  // kBusy (wait is zero) or a failure. With an Outcome&: an empty Lock for anything but a grant.
  Lock acquire(std::string_view key, const AcquireOptions& options = {}) {
    Outcome outcome;
    Lock lock = acquire(key, options, outcome);
    if (!outcome) throw Error(outcome, key);
    return lock;
  }
  Lock acquire(std::string_view key, const AcquireOptions& options, Outcome& outcome) noexcept {
    const lockc_acquire_options c = detail::to_c(options);
    lockc_lock* lock = nullptr;
    outcome = detail::ask([&](lockc_error** error) {
      return lockc_client_acquire(&lock, get(), key.data(), key.size(), &c, error);
    });
    return Lock(lock);
  }

  // [any] Asks once, whatever options.wait says. Nothing: another owner has it. Throws Error for a
  // failure. With an Outcome&: nothing for a failure too.
  std::optional<Lock> try_acquire(std::string_view key, const AcquireOptions& options = {}) {
    Outcome outcome;
    std::optional<Lock> lock = try_acquire(key, options, outcome);
    if (outcome.failed()) throw Error(outcome);
    return lock;
  }
  std::optional<Lock> try_acquire(std::string_view key, AcquireOptions options,
                                  Outcome& outcome) noexcept {
    options.wait = Duration::zero();
    Lock lock = acquire(key, options, outcome);
    if (!outcome) return std::nullopt;
    return lock;
  }

  // [any] What the server knows of a key, as JSON; blocks for one answer. Throws Error.
  std::string inspect(std::string_view key) {
    lockc_text* text = nullptr;
    const Outcome outcome = detail::ask([&](lockc_error** error) {
      return lockc_client_inspect(&text, get(), key.data(), key.size(), error);
    });
    const detail::Handle<lockc_text> owned(text);
    if (!outcome) throw Error(outcome);
    return lockc_text_data(text);
  }

  // [any] What the record at a key holds; blocks for one answer. Version 0: there is none. Throws
  // Error.
  Record read(std::string_view key) {
    Outcome outcome;
    Record record = read(key, outcome);
    if (!outcome) throw Error(outcome, key);
    return record;
  }
  Record read(std::string_view key, Outcome& outcome) noexcept {
    lockc_record* record = nullptr;
    outcome = detail::ask([&](lockc_error** error) {
      return lockc_client_read(&record, get(), key.data(), key.size(), error);
    });
    try {
      return detail::take(record);
    } catch (const std::bad_alloc&) {
      outcome = Outcome(LOCKC_E_NOMEM);
      return {};
    }
  }

  // [any] Writes a record, and returns its new version; blocks for one answer. Throws Error:
  // kStale, kConflict, or a failure. After kUncertain it may be written; it is never sent twice.
  std::uint64_t write(std::string_view key, std::string_view value,
                      const WriteOptions& options = {}) {
    Outcome outcome;
    const std::uint64_t version = write(key, value, options, outcome);
    if (!outcome) throw Error(outcome, key);
    return version;
  }
  std::uint64_t write(std::string_view key, std::string_view value, const WriteOptions& options,
                      Outcome& outcome) noexcept {
    const lockc_write_options c = detail::to_c(options);
    std::uint64_t version = 0;
    outcome = detail::ask([&](lockc_error** error) {
      return lockc_client_write(&version, get(), key.data(), key.size(), value.data(), value.size(),
                                &c, error);
    });
    return version;
  }

  // [one] Gives back what is held, ends what is outstanding with kClosed, and the client; waits for
  // the server's answers at most reply_timeout. The destructor does the same.
  void close() noexcept { client_.reset(); }

  // The C handle, still owned by this object.
  lockc_client* get() const noexcept { return client_.get(); }

 private:
  detail::Handle<lockc_client> client_;
};

// One result taken out of a Queue.
struct Completion {
  std::uint64_t tag;
  Event event;
  Outcome outcome;
  Lock lock;  // of a successful kAcquire; else empty
};

// The completion queue of one event loop: every accepted request yields exactly one Completion.
// A request that is refused throws Error, and no completion follows.
class Queue {
 public:
  explicit Queue(const Client& client) {
    lockc_queue* queue = nullptr;
    const Outcome outcome = detail::ask(
        [&](lockc_error** error) { return lockc_queue_open(&queue, client.get(), error); });
    queue_.reset(queue);
    if (!outcome) throw Error(outcome);
  }

  // [any] Readable while completions wait; to be polled, never read.
  int fd() const noexcept { return lockc_queue_fd(get()); }

  // [any] Asks for a lock without waiting for it.
  void acquire(std::uint64_t tag, std::string_view key, const AcquireOptions& options = {}) {
    submit(nullptr, tag, key, options);
  }

  // [any] The same, but may make one round trip here if a connection is free. kOk: `now` is the
  // lock; kPending: the completion will come; else it is the answer. But for kPending no completion
  // follows.
  Status acquire_now(Lock& now, std::uint64_t tag, std::string_view key,
                     const AcquireOptions& options = {}) {
    lockc_lock* lock = nullptr;
    const Status status = submit(&lock, tag, key, options);
    now = Lock(lock);
    return status;
  }

  // [any] The lock may be destroyed before the completion comes.
  void extend(std::uint64_t tag, const Lock& lock, Duration ttl) {
    accept([&](lockc_error** error) {
      return lockc_queue_extend(get(), tag, lock.get(), ttl.count(), error);
    });
  }
  void release(std::uint64_t tag, const Lock& lock) {
    accept([&](lockc_error** error) { return lockc_queue_release(get(), tag, lock.get(), error); });
  }

  // [any] Ends an acquire that still waits: its completion says kCancelled. Else does nothing.
  void cancel(std::uint64_t tag) noexcept { lockc_queue_cancel(get(), tag); }

  // [one] Takes out up to at_most completions. Waits for the first at most `timeout`; none: for
  // ever. May return none early when a signal was handled. Throws Error: kInvalid, kForked.
  std::vector<Completion> poll(std::optional<Duration> timeout = std::nullopt,
                               std::size_t at_most = 64) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    const std::int64_t timeout_ms = std::min(detail::wait_ms(timeout), kMost);
    // All memory is taken before the completions are, so that none can be lost for want of it.
    std::vector<lockc_completion> taken(std::min(at_most, std::size_t{kMost}));
    std::vector<Completion> completions;
    completions.reserve(taken.size());
    const std::int32_t count =
        lockc_queue_poll(get(), taken.data(), static_cast<std::int32_t>(taken.size()),
                         static_cast<std::int32_t>(timeout_ms));
    if (count < 0) throw Error(Outcome(count));
    std::for_each_n(taken.begin(), count, [&](const lockc_completion& c) {
      completions.push_back(
          {c.tag, static_cast<Event>(c.kind), Outcome(c.status, c.error), Lock(c.lock)});
    });
    return completions;
  }

  // The C handle, still owned by this object.
  lockc_queue* get() const noexcept { return queue_.get(); }

 private:
  template <typename Call>
  static Status accept(Call call) {
    const Outcome outcome = detail::ask(call);
    if (outcome.failed()) throw Error(outcome);
    return outcome.status();
  }

  Status submit(lockc_lock** now, std::uint64_t tag, std::string_view key,
                const AcquireOptions& options) {
    const lockc_acquire_options c = detail::to_c(options);
    return accept([&](lockc_error** error) {
      return lockc_queue_acquire(get(), tag, now, key.data(), key.size(), &c, error);
    });
  }

  detail::Handle<lockc_queue> queue_;
};

inline lockc_acquire_options detail::to_c(const AcquireOptions& options) noexcept {
  lockc_acquire_options c = {};
  c.struct_size = sizeof c;
  if (options.renew) c.flags |= *options.renew ? LOCKC_RENEW : LOCKC_NO_RENEW;
  if (options.spin) c.flags |= LOCKC_SPIN;
  if (options.permissive) c.flags |= LOCKC_PERMISSIVE;
  if (!options.fenced) c.flags |= LOCKC_UNFENCED;
  c.kind = options.fair ? LOCKC_FAIR : LOCKC_EXCLUSIVE;
  c.max_tries = options.max_tries;
  c.ttl_ms = options.ttl.count();
  c.wait_ms = wait_ms(options.wait);
  c.max_hold_ms = options.max_hold.count();
  c.owner = options.owner;
  c.events = options.events == nullptr ? nullptr : options.events->get();
  c.events_tag = options.events_tag;
  return c;
}

}  // namespace lockc

#endif  // LOCKC_HPP
