// Names to addresses without blocking the loop.
#pragma once

#include <sys/socket.h>

#include <functional>
#include <string>
#include <vector>

#include "net/endpoint.h"

namespace lockc {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  int family() const { return storage.ss_family; }
};

struct Addresses {
  std::vector<Address> list;  // in the order to try them
  std::string error;          // set if list is empty
};

// Unix paths and numeric addresses: at once, without a look-up. Empty if endpoint needs one.
Addresses resolve_literal(const Endpoint& endpoint);

// Looks the name up on a thread of its own, which calls `done` there. getaddrinfo(3) can neither be
// bounded nor cancelled, so that thread is not waited for: it owns all that it touches, and the
// library is never unmapped (-z nodelete).
void resolve_name(const Endpoint& endpoint, std::function<void(Addresses)> done);

}  // namespace lockc
