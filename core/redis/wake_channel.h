// This client's pub/sub channel on one server, over a connection of its own: grants and hints for
// its waiters arrive here. Connects when it is wanted, and again while it is. Inside the loop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "net/backoff.h"
#include "net/connection.h"
#include "redis/node.h"

namespace lockc {

// "<V> <first> <n> <K>", fields parted by one space, K last and raw. first = 0: a hint to poll now.
struct WakeMessage {
  std::string_view owner;
  uint64_t first = 0;
  uint32_t count = 0;
  std::string_view key;
  static std::optional<WakeMessage> parse(std::string_view payload);
};

class WakeChannel {
 public:
  struct Events {
    std::function<void()> confirmed;  // the server has the subscription; also after each reconnect
    std::function<void()> lost;       // messages may be missed from now on
    std::function<void(const WakeMessage&)> message;
    std::function<void(std::string_view key)> key_gone = [](std::string_view) {
    };  // a watched key was deleted or has expired
  };

  WakeChannel(Loop& loop, const Node::Config& config, const Log& log, Events events);
  ~WakeChannel();
  WakeChannel(const WakeChannel&) = delete;
  WakeChannel& operator=(const WakeChannel&) = delete;

  // For a caller that reads it by itself; nullptr: it is not connected.
  std::shared_ptr<Connection> connection() const { return connection_; }
  const std::string& channel() const { return channel_; }
  // Somebody waits: subscribe, if that is not done yet.
  void want();
  bool is_confirmed() const { return state_ == State::kConfirmed; }
  // This user may not subscribe here: waiters have to poll.
  bool is_denied() const { return denied_; }
  // Behind a holder that is not lockc: tells key_gone, where the server's keyspace notifications
  // are on (its default is off) and this user may hear them. Counted; forgotten when the
  // subscription is lost.
  void watch(const std::string& key);
  void unwatch(const std::string& key);
  // The heartbeat of the subscription: without an answer it is taken for dead.
  void ping();
  // Another server may answer now: what comes over this subscription counts no more.
  void reset();
  // For good.
  void close();
  // Ends the subscription without telling anyone: for want of memory. Nobody wants it any more.
  void abandon() noexcept;

 private:
  enum class State { kOff, kConnecting, kConfirmed };

  void open();
  void subscribe();
  void send(std::string_view verb, std::string_view channel);
  void take(resp::View push);
  void closed(const Error& why);

  Loop& loop_;
  const Node::Config& config_;
  const Log& log_;
  Events events_;
  const std::string channel_;
  std::shared_ptr<Connection> connection_;
  State state_ = State::kOff;
  bool denied_ = false;
  bool wanted_ = false;
  const std::string keyspace_;  // channel of a key's notifications, but for the key
  std::map<std::string, unsigned> watched_;
  Backoff backoff_;
  Timer retry_;
  Timer pong_;
};

}  // namespace lockc
