#include "net/resolve.h"

#include <netdb.h>
#include <pthread.h>
#include <sys/un.h>

#include <csignal>
#include <cstring>
#include <memory>
#include <new>
#include <thread>

namespace lockc {
namespace {

Addresses look_up(const std::string& host, uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  Addresses result;
  const int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (code != 0) {
    result.error = ::gai_strerror(code);
    return result;
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, &::freeaddrinfo);
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_addrlen > sizeof(sockaddr_storage)) continue;
    Address address;
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.size = entry->ai_addrlen;
    result.list.push_back(address);
  }
  return result;
}

Address unix_address(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof name.sun_path - 1);
  Address address;
  std::memcpy(&address.storage, &name, sizeof name);
  address.size = sizeof name;
  return address;
}

}  // namespace

Addresses resolve_literal(const Endpoint& endpoint) {
  if (endpoint.unix_socket) return {{unix_address(endpoint.host)}, {}};
  return look_up(endpoint.host, endpoint.port, AI_NUMERICHOST);
}

void resolve_name(const Endpoint& endpoint, std::function<void(Addresses)> done) {
  // The thread must not run the process's signal handlers.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([host = endpoint.host, port = endpoint.port, done = std::move(done)] {
      try {
        done(look_up(host, port, AI_ADDRCONFIG));
      } catch (const std::bad_alloc&) {
        // Nobody is told; whoever connects gives up at the end of its time.
      }
    }).detach();
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace lockc
