// One socket of the reactor, from the first connect attempt to its end. Lives inside the loop.
#pragma once

#include <memory>
#include <string>

#include "net/reactor.h"
#include "net/resolve.h"
#include "net/transport.h"

namespace lockc {

class SocketStream final : public Stream {
 public:
  SocketStream(Reactor& reactor, uint64_t serial, StreamEvents& events);
  ~SocketStream() override;

  uint64_t serial() const { return serial_; }
  // Tries the addresses one after the other.
  void connect(Addresses addresses);
  void on_events(uint32_t events);

  size_t write(std::string_view bytes) override;
  void set_reading(bool reading) override;
  std::shared_ptr<Socket> borrow() override;
  void give_back() override;
  std::shared_ptr<Socket> socket() override;

 private:
  enum class State { kResolving, kConnecting, kOpen, kClosed };

  void connect_next();
  void connected();
  void read_all();
  void close(const std::string& why);
  void watch();

  Reactor& reactor_;
  const uint64_t serial_;
  StreamEvents& events_;
  State state_ = State::kResolving;
  Addresses addresses_;
  size_t next_address_ = 0;
  std::string last_failure_;
  std::shared_ptr<Socket> socket_;
  uint32_t watched_ = 0;     // what epoll is told to watch for this socket now
  bool registered_ = false;  // epoll knows the socket
  bool reading_ = false;
  bool borrowed_ = false;
  bool write_blocked_ = false;
};

}  // namespace lockc
