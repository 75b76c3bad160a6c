// The real transport: non-blocking sockets under epoll. One thread waits outside the loop; all else
// happens inside it. Sockets are close-on-exec and never raise SIGPIPE.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/transport.h"

namespace lockc {

class SocketStream;

class Reactor final : public Transport {
 public:
  Reactor();
  ~Reactor() override;

  std::unique_ptr<Stream> connect(const Endpoint& endpoint, StreamEvents& events) override;

  // Waits for events, at most until `until` on `clock`; not inside the loop. One thread.
  void wait(TimePoint until, const Clock& clock);
  // Tells the streams what wait() found; inside the loop, by the same thread.
  void dispatch();
  // Ends a wait() early. Any thread.
  void wake();
  // Runs task in a dispatch() soon. Any thread.
  void post(std::function<void()> task);

 private:
  friend class SocketStream;
  struct Mailbox;

  const int epoll_;
  // Shared with name look-ups, which may outlive the reactor.
  const std::shared_ptr<Mailbox> mailbox_;
  std::array<epoll_event, 64> ready_;  // what wait() found, by serial
  size_t ready_count_ = 0;
  std::unordered_map<uint64_t, SocketStream*> streams_;  // by serial: events may be stale
  uint64_t next_serial_ = 1;
};

}  // namespace lockc
