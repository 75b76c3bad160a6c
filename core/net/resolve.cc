#include "net/resolve.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/un.h>

#include <csignal>
#include <cstring>
#include <memory>
#include <new>
#include <thread>

namespace lockc {
namespace {

Addresses look_up(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV;
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

template <class Name>
Address make_address(const Name& name) {
  Address address;
  std::memcpy(&address.storage, &name, sizeof name);
  address.size = sizeof name;
  return address;
}

Address unix_address(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof name.sun_path - 1);
  return make_address(name);
}

}  // namespace

// Not by getaddrinfo(3), not even for numbers: whatever stands in for it may take its time.
Addresses resolve_literal(const Endpoint& endpoint) {
  if (endpoint.unix_socket) return {{unix_address(endpoint.host)}, {}};
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(endpoint.port);
  if (::inet_pton(AF_INET, endpoint.host.c_str(), &four.sin_addr) == 1) {
    return {{make_address(four)}, {}};
  }
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(endpoint.port);
  if (::inet_pton(AF_INET6, endpoint.host.c_str(), &six.sin6_addr) == 1) {
    return {{make_address(six)}, {}};
  }
  return {};
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
        done(look_up(host, port));
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
