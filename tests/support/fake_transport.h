// A network in memory: each connection ends in a FakeLink, where the test is the server. Events
// reach the client in a turn of its loop, as the real transport's do.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "net/loop.h"
#include "net/resp.h"
#include "net/transport.h"

namespace lockc::test {

using Request = std::vector<std::string>;

// The server's end of one connection.
class FakeLink {
 public:
  explicit FakeLink(Loop& loop) : loop_(loop) {}

  // ---- what the test does, each in a turn
  void open() {
    turn([this] {
      open_ = true;
      events_->on_open();
    });
  }
  // The reply to the oldest unanswered request.
  void answer(std::string_view reply) {
    if (unanswered.empty()) throw std::logic_error("nothing to answer");
    unanswered.pop_front();
    push(reply);
  }
  void push(std::string_view bytes) {
    turn([&] { events_->on_bytes(bytes); });
  }
  void close(const std::string& why = "the server closed the connection") {
    turn([&] {
      open_ = false;
      events_->on_closed(why);
    });
  }
  // Lets write() take at most so many bytes from now on.
  void set_room(size_t bytes) {
    room_ = bytes;
    if (bytes > 0 && is_open()) turn([this] { events_->on_writable(); });
  }

  // ---- what the test sees
  bool is_open() const { return open_ && events_ != nullptr; }
  bool is_dropped() const { return events_ == nullptr; }  // the client has closed it
  bool is_reading() const { return reading_; }
  size_t writes() const { return writes_; }
  std::deque<Request> unanswered;
  bool lends = false;  // whether its stream can be borrowed

 private:
  friend class FakeStream;

  void turn(const std::function<void()>& event) {
    loop_.begin_turn();
    if (events_ != nullptr) event();
    loop_.end_turn();
  }
  size_t take(std::string_view bytes) {
    const std::string_view taken = bytes.substr(0, open_ ? room_ : 0);
    room_ -= taken.size();
    if (taken.empty()) return 0;
    ++writes_;
    if (!parser_.feed(taken)) throw std::logic_error("the client wrote no RESP");
    for (;;) {
      auto request = parser_.next();
      if (!request) throw std::logic_error("the client wrote no RESP");
      if (!*request) return taken.size();
      Request& texts = unanswered.emplace_back();
      for (size_t i = 0; i < (*request)->view().size(); ++i) {
        texts.emplace_back((*request)->view()[i].text());
      }
    }
  }

  Loop& loop_;
  StreamEvents* events_ = nullptr;
  resp::Parser parser_;
  bool open_ = false;
  bool reading_ = false;
  size_t room_ = std::string::npos;
  size_t writes_ = 0;
};

class FakeStream final : public Stream {
 public:
  FakeStream(std::shared_ptr<FakeLink> link, StreamEvents& events) : link_(std::move(link)) {
    link_->events_ = &events;
  }
  ~FakeStream() override { link_->events_ = nullptr; }
  FakeStream(const FakeStream&) = delete;
  FakeStream& operator=(const FakeStream&) = delete;

  size_t write(std::string_view bytes) override { return link_->take(bytes); }
  void set_reading(bool reading) override { link_->reading_ = reading; }
  // A socket that nobody can read, where the test lets it be borrowed at all.
  std::shared_ptr<Socket> borrow() override {
    return link_->lends ? std::make_shared<Socket>(-1) : nullptr;
  }
  void give_back() override {}
  std::shared_ptr<Socket> socket() override { return nullptr; }

 private:
  std::shared_ptr<FakeLink> link_;
};

class FakeTransport final : public Transport {
 public:
  // The loop that uses this transport; before the first connect().
  void set_loop(Loop& loop) { loop_ = &loop; }

  std::unique_ptr<Stream> connect(const Endpoint&, StreamEvents& events) override {
    links.push_back(std::make_shared<FakeLink>(*loop_));
    return std::make_unique<FakeStream>(links.back(), events);
  }

  std::vector<std::shared_ptr<FakeLink>> links;  // all there ever were, in the order of connect()

 private:
  Loop* loop_ = nullptr;
};

}  // namespace lockc::test
