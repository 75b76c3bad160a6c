// The first requests on a connection: who we are, which database, what server this is.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "net/connection.h"
#include "net/endpoint.h"

namespace lockc {

struct ServerIdentity {
  std::string client_id;  // of this connection, for CLIENT KILL; "" if the server does not say
  std::string run_id;     // new with each start of the server process; "" if it does not say
};

// What one client is to all servers it talks to.
struct Identity {
  std::string client;           // 22 characters, in owner values and the wake channel
  std::string connection_name;  // shown by CLIENT LIST
};

// Sends AUTH, SELECT, CLIENT SETNAME, CLIENT ID and INFO in one write and tells `done` once, unless
// the connection ends before. The last three are conveniences: a server that refuses them serves as
// well. kUnsupported: the server is older than 6.2.
void log_in(Connection& connection, const Endpoint& endpoint, const Identity& identity,
            std::function<void(Result<ServerIdentity>)> done);

// The version in INFO's text must be 6.2 or newer; a text without one passes. Exposed for tests.
Result<std::monostate> check_version(std::string_view info);

}  // namespace lockc
