// Where a server is and how to log in there, read from a URL. Plain values, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace lockc {

struct Endpoint {
  std::string host = "127.0.0.1";  // a name or address; the path of a unix socket if unix_socket
  uint16_t port = 6379;
  bool unix_socket = false;
  std::string username;
  std::string password;
  uint32_t database = 0;

  // redis://[user[:password]@]host[:port][/db] or unix://[user[:password]@]/path[?db=n]; user,
  // password and path percent-encoded, IPv6 in brackets. kInvalid, or kUnsupported for rediss://.
  // No message quotes the user or the password.
  static Result<Endpoint> parse(std::string_view url);

  // "host:port" or the socket's path, for messages.
  std::string name() const;
};

}  // namespace lockc
