// One server: its command connections, and the order of requests that name one owner value.
// Lives inside the loop.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/log.h"
#include "net/backoff.h"
#include "net/connection.h"
#include "redis/login.h"
#include "redis/script.h"

namespace lockc {

// Where requests that name one owner value must go (protocol, client rule 2): while one that may
// grant it is unanswered, behind it on its connection. Shared by the claim and its requests under
// way. A release counts, too, for the sake of who asks for the key next.
struct Route {
  uint64_t link = 0;                    // the connection of the unanswered requests
  unsigned unanswered = 0;              // of those that may grant, or end, the value
  uint64_t last = 0;                    // the number of the last of these there
  std::vector<std::string> unfinished;  // CLIENT IDs of broken connections that may still act
};

class Node {
 public:
  struct Config {
    Endpoint endpoint;
    Connection::Settings settings;
    Identity identity;
  };
  using OnReply = std::function<void(Result<resp::View>)>;

  // Measured: up to three callers do best on connections of their own. More share two, so that the
  // server reads many requests at once, from one while it is written to by the other.
  static constexpr size_t kMaxLinks = 4;
  static constexpr unsigned kCrowd = 4;
  static constexpr size_t kLinksOfACrowd = 2;

  // reconnected: a connection stands again after one broke; `changed`: another server process than
  // before answers at this address, or perhaps.
  Node(Loop& loop, const Config& config, const Log& log,
       std::function<void(bool changed)> reconnected);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  using Texts = std::span<const std::string_view>;
  // How a request stands to others that name the same owner value.
  struct Order {
    std::shared_ptr<Route> behind =
        nullptr;  // of the value it names; nullptr: any connection serves
    std::shared_ptr<Route> before = nullptr;   // of the value it may grant, or ends
    std::shared_ptr<Route> follows = nullptr;  // of another value, which it must not overtake
  };
  // Runs a script, by its digest once the server knows it. on_reply gets the answer, or an Error:
  // the server's refusal by reply_error(), kUnreachable (not sent) or kUncertain (sent, no answer).
  // Never called before run() returns. What stands in an order gets is_noscript() errors, too, and
  // is to be run again by whoever knows that order; all else is sent again here, by its text.
  void run(const Script& script, Texts keys, Texts arguments, const Order& order, OnReply on_reply);
  // The same for any other command.
  void command(Texts request, const Order& order, OnReply on_reply);
  // Takes back the last request that may grant, if it still waits for a connection: then it is as
  // if it had never been made. False: it may be executed.
  bool withdraw(Route& route);

  // Opens a connection if there is none; tells when one is ready or what hindered it.
  void connect(std::function<void(Result<std::monostate>)> done);

  // How many callers are about that read their answers by themselves.
  void expect(unsigned callers) { crowded_ = callers >= kCrowd; }

  Millis reply_timeout() const { return config_.settings.reply_timeout; }

  // Ends all connections; every request from now on fails.
  void close();
  // Ends them without telling anyone: for want of memory.
  void abandon() noexcept;

  // The connection that the last request went to since forget_latest(), for a caller that wants to
  // read the answer by itself; nullptr: there was none, or it has ended.
  std::shared_ptr<Connection> latest() const { return latest_.lock(); }
  void forget_latest() { latest_.reset(); }

 private:
  struct Link;

  OnReply or_by_text(const Script& script, Texts keys, Texts arguments, OnReply on_reply);
  void send(Texts request, const Script* script, const Order& order, OnReply on_reply);
  Link* pick(const Order& order);
  Link* link_of(const Route* route);
  Link& open_link();
  void link_ready(uint64_t serial, ServerIdentity server);
  void link_closed(uint64_t serial, const Error& why);
  Link* find(uint64_t serial);
  void tell_connected(const Result<std::monostate>& result);
  void fail_later(OnReply on_reply);

  Loop& loop_;
  const Config& config_;
  const Log& log_;
  std::function<void(bool)> reconnected_;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<std::function<void(Result<std::monostate>)>> connecting_;
  std::weak_ptr<Connection> latest_;
  std::unordered_set<const Script*> loaded_;  // EVALSHA will do
  bool takes_digests_ = true;
  std::string run_id_;
  bool closed_ = false;
  bool crowded_ = false;
  bool was_connected_ = false;
  bool broken_ = false;  // a connection ended since the last one became ready
  uint64_t next_serial_ = 1;
  Backoff backoff_;
  TimePoint down_until_{};
  Error down_reason_;
};

}  // namespace lockc
