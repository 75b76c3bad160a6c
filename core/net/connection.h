// One pipelined RESP connection, from connect to its end; it is never opened again. Requests of one
// turn leave in one write, replies come back in order, a timed-out connection is closed at once.
// Lives inside the loop.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "net/loop.h"
#include "net/resp.h"
#include "net/transport.h"

namespace lockc {

class Connection final : public StreamEvents, public std::enable_shared_from_this<Connection> {
 public:
  // What becomes of a request: its reply, kUnreachable (no byte of it was sent) or kUncertain.
  using OnReply = std::function<void(Result<resp::View>)>;

  struct Settings {
    Millis connect_timeout;
    Millis reply_timeout;
  };
  // Told once each, inside the loop.
  struct Events {
    std::function<void()> opened;              // the socket is connected
    std::function<void(const Error&)> closed;  // behind the ends of all its requests
  };

  static std::shared_ptr<Connection> open(Loop& loop, const Endpoint& endpoint,
                                          const Settings& settings, Events events);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Queues a request; it leaves at the end of the turn, or when ready() was called. Returns its
  // number.
  uint64_t send(std::span<const std::string_view> arguments, OnReply on_reply);
  // Forgets a request that still waits for ready(): its on_reply is never called. False: too late.
  bool withdraw(uint64_t number);
  // The log-in is over: what was queued behind it may go. Requests by send_first() do not wait for
  // it.
  void send_first(std::span<const std::string_view> arguments, OnReply on_reply);
  void ready();
  // For subscriptions: every reply from now on goes to on_push, requests get none of their own.
  void set_push(std::function<void(resp::View)> on_push) { on_push_ = std::move(on_push); }

  void close(const Error& why);
  // Ends without telling anyone: for want of memory.
  void abandon() noexcept;
  void flush();

  // For a caller that writes outside the loop what this connection has collected; socket is nullptr
  // where it cannot, has nothing to write, or another caller does it: the one that writes now, or
  // the reader, which is asked with `reads` each time it has read.
  struct Unsent {
    std::shared_ptr<Socket> socket;
    std::string bytes;
  };
  Unsent take_unsent(bool reads = false);
  // Follows its write. True: that was all; this one may be called outside the loop, on any thread.
  // Else there is more that was collected meanwhile, which wrote() gives, or it was a failure,
  // which write_failed() sees to; both inside.
  bool wrote_all(bool succeeded);
  Unsent wrote();
  void write_failed();
  // ... or it did not wait: the loop writes the rest. Inside.
  void wrote_but(std::string_view rest);

  bool is_ready() const { return ready_ && !closed_; }
  bool is_closed() const { return closed_; }
  size_t outstanding() const { return pending_.size() + held_.size(); }
  // Nobody waits for the answer to the last request.
  void leave_last();
  // Requests whose answer somebody waits for.
  size_t awaited() const { return outstanding() - left_; }

  // For a caller that reads the replies by itself; nullptr: it cannot, or another one does.
  std::shared_ptr<Socket> borrow();
  bool is_borrowed() const { return borrowed_; }
  // What the borrower read (as Socket::read told it); then give_back() at the latest when
  // outstanding() is 0.
  void feed(std::string_view bytes, long result);
  void give_back();

 private:
  struct Pending {
    OnReply on_reply;
    TimePoint sent;
    uint64_t begins_at;  // its first byte's place in the stream
    bool left = false;   // nobody waits for its answer
  };

  Connection(Loop& loop, const Settings& settings, Events events);
  void on_open() override;
  void on_bytes(std::string_view bytes) override;
  void on_writable() override { flush(); }
  void on_closed(const std::string& why) override;

  void enqueue(std::span<const std::string_view> arguments, OnReply on_reply);
  void take(resp::View reply);
  void check_time();
  void mark_dirty();
  bool left_to_writer();
  bool waits_for_reader() const;

  Loop& loop_;
  const Settings settings_;
  Events events_;
  std::string name_;
  std::unique_ptr<Stream> stream_;
  resp::Parser parser_;
  std::function<void(resp::View)> on_push_;

  std::string out_;             // formatted, not yet taken by the stream
  uint64_t out_begins_at_ = 0;  // place in the stream of out_'s first byte
  std::deque<Pending> pending_;
  size_t left_ = 0;  // of these
  struct Held {
    uint64_t number;
    std::string request;
    OnReply on_reply;
  };
  std::deque<Held> held_;  // behind the log-in
  uint64_t next_number_ = 1;
  Timer timer_;
  TimePoint opened_by_;
  bool open_ = false;
  bool ready_ = false;
  bool closed_ = false;
  bool dirty_ = false;
  bool borrowed_ = false;
  // Whether a caller writes (nobody else may then), and must come back for what was collected
  // since.
  enum class Writer { kNone, kWrites, kWritesMore };
  std::atomic<Writer> writer_{Writer::kNone};
};

}  // namespace lockc
