// The seam between lockc and the network: a simulation stands in for sockets here. All of it is
// used inside the loop, by one thread at a time, except Socket.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "net/endpoint.h"

namespace lockc {

// A connected socket that a blocked caller may read while the loop looks away. Shared by the stream
// and at most one such reader, so that its number cannot be reused under the reader.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int fd() const { return fd_; }
  // Blocks for bytes, at most until `wait` is over (kForever: no bound). Returns their number, 0
  // when the other side has closed, -1 on errors, kNothing when the time is over or a signal came.
  static constexpr Duration kForever = Duration::max();
  static constexpr long kNothing = -2;
  long read(char* buffer, size_t size, Duration wait) const;
  // Blocks until all is written; false: the connection is broken.
  bool write(std::string_view bytes) const;
  // Returns how many went without blocking. A broken connection takes none; the next read tells
  // why.
  size_t write_now(std::string_view bytes) const;

 private:
  const int fd_;
};

// What happens on a stream; told inside the loop.
class StreamEvents {
 public:
  virtual void on_open() = 0;
  virtual void on_bytes(std::string_view bytes) = 0;
  virtual void on_writable() = 0;                      // write() took less than all before
  virtual void on_closed(const std::string& why) = 0;  // the last event

 protected:
  ~StreamEvents() = default;
};

// One byte stream to a server. Destroying it closes it; no event comes afterwards.
class Stream {
 public:
  virtual ~Stream() = default;
  // Takes as many bytes as go without blocking. A broken stream takes none and tells on_closed
  // later.
  virtual size_t write(std::string_view bytes) = 0;
  // Whether the loop reads. It does not while a caller has borrowed the socket, nor needs to while
  // no answer is expected; that the other side closed is told in any case, unless borrowed.
  virtual void set_reading(bool reading) = 0;
  // For a caller that reads by itself, nullptr where that is impossible. What it got is given to
  // StreamEvents by the one who borrowed. Ends set_reading(true).
  virtual std::shared_ptr<Socket> borrow() = 0;
  virtual void give_back() = 0;
  // For a caller that writes by itself; nullptr where that is impossible.
  virtual std::shared_ptr<Socket> socket() = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  // Begins to connect. events must outlive the stream.
  virtual std::unique_ptr<Stream> connect(const Endpoint& endpoint, StreamEvents& events) = 0;
};

}  // namespace lockc
