// One client of one server, for any thread: opens the rooms below, and turns calls into work inside
// the loop. The C ABI is a thin layer on this.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "client/completion_queue.h"
#include "client/options.h"
#include "client/runner.h"
#include "lock/record.h"
#include "lock/registry.h"
#include "lock/store.h"
#include "lock/watchdog.h"
#include "net/loop.h"
#include "net/reactor.h"
#include "redis/node.h"
#include "redis/wake_channel.h"

namespace lockc {

class Client {
 public:
  // Checks the options and starts the background thread; sends nothing.
  static Result<std::shared_ptr<Client>> open(ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const ClientOptions& options() const { return options_; }
  TimePoint now() const { return clock_.now(); }

  // ---- blocking: submit and wait
  Error connect(Millis timeout);
  Completion acquire(AcquireRequest request);
  Error extend(const std::shared_ptr<Grant>& grant, Ttl ttl);
  Error release(const std::shared_ptr<Grant>& grant);
  // Sends the release and does not wait.
  Error release_nowait(const std::shared_ptr<Grant>& grant);
  Result<std::string> inspect(const Key& key);
  Result<Record> read(const Key& key);
  Result<uint64_t> write(const Key& key, RecordWrite write);

  // ---- by completion queue
  // The answer, if `at_once` and one free round trip brought it; else kPending, and queue will have
  // it.
  Completion acquire(AcquireRequest request, const std::shared_ptr<CompletionQueue>& queue,
                     uint64_t tag, bool at_once);
  void extend(const std::shared_ptr<Grant>& grant, Ttl ttl, Owed owed);
  void release(const std::shared_ptr<Grant>& grant, Owed owed);
  void cancel(CompletionQueue& queue, uint64_t tag);
  // Cancels what is outstanding there and gives back what nobody took out.
  void close(CompletionQueue& queue);

  // Releases what is held, ends what is outstanding, and stops. Waits at most reply_timeout.
  void close();
  bool is_closed() const { return closed_.load(std::memory_order_acquire); }

 private:
  explicit Client(ClientOptions options);
  void begin_anew() noexcept;
  Error wait_for(Completion::Kind kind, FunctionRef<void(Owed)> submit);
  template <class T>
  Result<T> ask(FunctionRef<void(Then<T>)> submit);

  const ClientOptions options_;
  const Log log_;
  const BootClock clock_;
  const Node::Config config_;
  Reactor reactor_;
  Loop loop_;
  Node node_;
  Store store_;
  Watchdog watchdog_;
  WakeChannel wake_;
  Registry registry_;
  RecordStore records_;
  Runner runner_;
  std::atomic<bool> closed_{false};
};

}  // namespace lockc
