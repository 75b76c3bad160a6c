// A descriptor that ends a wait on a socket from another thread.
#pragma once

#include "net/transport.h"

namespace lockc {

class Kick {
 public:
  Kick();
  ~Kick();
  Kick(const Kick&) = delete;
  Kick& operator=(const Kick&) = delete;

  void ring() const;
  // Blocks until socket has something to read or ring() was called since the last wait.
  void wait_with(const Socket& socket) const;

 private:
  const int fd_;
};

}  // namespace lockc
