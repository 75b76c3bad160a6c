#include "redis/login.h"

#include <array>
#include <charconv>
#include <optional>

#include "redis/errors.h"

namespace lockc {
namespace {

std::string_view field(std::string_view info, std::string_view name) {
  size_t at = 0;
  while (at < info.size()) {
    size_t end = info.find("\r\n", at);
    if (end == std::string_view::npos) end = info.size();
    const std::string_view line = info.substr(at, end - at);
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ':') {
      return line.substr(name.size() + 1);
    }
    at = end + 2;
  }
  return {};
}

// Shared by the replies of one log-in; the last one tells the result.
struct LogIn {
  ServerIdentity identity;
  std::optional<Error> refused;
  std::function<void(Result<ServerIdentity>)> done;
};

Connection::OnReply must_succeed(std::shared_ptr<LogIn> login, std::string what) {
  return [login = std::move(login), what = std::move(what)](const Result<resp::View>& reply) {
    if (!reply || login->refused || !reply->is_error()) return;
    Error error = reply_error(reply->text());
    // A refused AUTH is a denial in whatever words; the words may name the user, so they stay out.
    if (what == "AUTH") {
      login->refused = error.status == Status::kNotReady
                           ? error
                           : Error{Status::kDenied, "the server refused the user or password"};
    } else {
      login->refused = Error{error.status, join(what + " failed", error.message)};
    }
  };
}

void finish(LogIn& login, const Result<resp::View>& reply) {
  if (!reply) return;  // the connection has ended and its owner knows
  if (!login.refused && reply->is_error()) {
    const Error error = reply_error(reply->text());
    const bool no_login = reply->text().starts_with("NOAUTH");
    if (no_login || error.status == Status::kNotReady) login.refused = error;
  }
  if (!login.refused && !reply->is_error()) {
    const auto version = check_version(reply->text());
    if (!version) login.refused = version.error();
    login.identity.run_id = field(reply->text(), "run_id");
  }
  if (login.refused) {
    login.done(*login.refused);
  } else {
    login.done(std::move(login.identity));
  }
}

}  // namespace

Result<std::monostate> check_version(std::string_view info) {
  const std::string_view version = field(info, "redis_version");
  unsigned major = 0;
  unsigned minor = 0;
  const char* end = version.data() + version.size();
  const auto [dot, error] = std::from_chars(version.data(), end, major);
  if (error != std::errc{} || dot == end) return std::monostate{};
  std::from_chars(dot + 1, end, minor);
  if (major > 6 || (major == 6 && minor >= 2)) return std::monostate{};
  constexpr size_t kLongest = 40;
  return Error{
      Status::kUnsupported,
      "the server has version " + std::string(version.substr(0, kLongest)) + ", older than 6.2"};
}

void log_in(Connection& connection, const Endpoint& endpoint, const Identity& identity,
            std::function<void(Result<ServerIdentity>)> done) {
  auto login = std::make_shared<LogIn>();
  login->done = std::move(done);
  if (!endpoint.password.empty() && endpoint.username.empty()) {
    connection.send_first(std::array<std::string_view, 2>{"AUTH", endpoint.password},
                          must_succeed(login, "AUTH"));
  } else if (!endpoint.username.empty()) {
    connection.send_first(
        std::array<std::string_view, 3>{"AUTH", endpoint.username, endpoint.password},
        must_succeed(login, "AUTH"));
  }
  if (endpoint.database != 0) {
    const std::string database = std::to_string(endpoint.database);
    connection.send_first(std::array<std::string_view, 2>{"SELECT", database},
                          must_succeed(login, "SELECT " + database));
  }
  connection.send_first(
      std::array<std::string_view, 3>{"CLIENT", "SETNAME", identity.connection_name},
      [login](const Result<resp::View>& reply) {
        if (!reply || login->refused || !reply->is_error()) return;
        // A full server says so to whatever comes first, and hangs up: nothing follows.
        Error error = reply_error(reply->text());
        if (error.status != Status::kNotReady) return;
        login->refused = std::move(error);
        login->done(*login->refused);
      });
  connection.send_first(std::array<std::string_view, 2>{"CLIENT", "ID"},
                        [login](const Result<resp::View>& reply) {
                          if (!reply || reply->type() != resp::View::Type::kInteger) return;
                          login->identity.client_id = std::to_string(reply->integer());
                        });
  connection.send_first(std::array<std::string_view, 2>{"INFO", "server"},
                        [login](const Result<resp::View>& reply) { finish(*login, reply); });
}

}  // namespace lockc
