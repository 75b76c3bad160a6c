#include "net/endpoint.h"

#include <charconv>
#include <optional>

namespace lockc {
namespace {

constexpr uint32_t kMaxDatabase = 1'000'000;  // a bound against slips; servers have 16 by default
constexpr size_t kMaxSocketPath = 107;        // sockaddr_un, unix(7)

Error invalid(std::string what) { return {Status::kInvalid, "malformed url: " + std::move(what)}; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  if (out.find('\0') != std::string::npos) return std::nullopt;
  return out;
}

std::optional<uint32_t> number(std::string_view text, uint32_t max) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value > max) return std::nullopt;
  return value;
}

std::optional<Error> read_login(std::string_view login, Endpoint& endpoint) {
  const size_t colon = login.find(':');
  const auto user = percent_decode(login.substr(0, colon));
  std::optional<std::string> password = std::string();
  if (colon != std::string_view::npos) password = percent_decode(login.substr(colon + 1));
  if (!user || !password) return invalid("bad percent-encoding before the @");
  endpoint.username = *user;
  endpoint.password = *password;
  return std::nullopt;
}

std::optional<Error> read_database(std::string_view text, Endpoint& endpoint) {
  const auto database = number(text, kMaxDatabase);
  if (!database) return invalid("the database is not a number up to 1000000");
  endpoint.database = *database;
  return std::nullopt;
}

std::optional<Error> read_host(std::string_view text, Endpoint& endpoint) {
  std::string_view host = text;
  std::optional<std::string_view> port;
  if (text.starts_with('[')) {
    const size_t close = text.find(']');
    if (close == std::string_view::npos) return invalid("the [ of the address has no ]");
    host = text.substr(1, close - 1);
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && rest[0] != ':') return invalid("something stands behind the ]");
    if (!rest.empty()) port = rest.substr(1);
  } else if (const size_t colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (port->find(':') != std::string_view::npos) return invalid("an IPv6 address needs [ and ]");
  }
  if (host.empty()) return invalid("the host is empty");
  for (const char c : host) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '%' || c == '\x7f') {
      return invalid("the host has a character that no host has");
    }
  }
  endpoint.host = host;
  if (port) {
    const auto value = number(*port, 65535);
    if (!value || *value == 0) return invalid("the port is not within 1 and 65535");
    endpoint.port = static_cast<uint16_t>(*value);
  }
  return std::nullopt;
}

std::optional<Error> read_tcp(std::string_view rest, Endpoint& endpoint) {
  if (rest.find_first_of("?#") != std::string_view::npos)
    return invalid("redis:// takes no ? or #");
  const size_t slash = rest.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view database = rest.substr(slash + 1);
    if (!database.empty()) {
      if (auto error = read_database(database, endpoint)) return error;
    }
    rest = rest.substr(0, slash);
  }
  return read_host(rest, endpoint);
}

std::optional<Error> read_unix(std::string_view rest, Endpoint& endpoint) {
  endpoint.unix_socket = true;
  const size_t question = rest.find('?');
  if (question != std::string_view::npos) {
    const std::string_view query = rest.substr(question + 1);
    if (!query.starts_with("db=")) return invalid("unix:// takes ?db=n and nothing else");
    if (auto error = read_database(query.substr(3), endpoint)) return error;
    rest = rest.substr(0, question);
  }
  const auto path = percent_decode(rest);
  if (!path || !path->starts_with('/')) return invalid("the socket's path is not absolute");
  if (path->size() > kMaxSocketPath) return invalid("the socket's path is longer than 107 bytes");
  endpoint.host = *path;
  return std::nullopt;
}

}  // namespace

Result<Endpoint> Endpoint::parse(std::string_view url) {
  constexpr std::string_view kTcp = "redis://";
  constexpr std::string_view kUnix = "unix://";
  if (url.starts_with("rediss://")) {
    return Error{Status::kUnsupported, "rediss:// (TLS) is not built into this version"};
  }
  const bool tcp = url.starts_with(kTcp);
  if (!tcp && !url.starts_with(kUnix))
    return invalid("it begins with neither redis:// nor unix://");
  std::string_view rest = url.substr(tcp ? kTcp.size() : kUnix.size());

  Endpoint endpoint;
  // A password may hold an unencoded @ or / by mistake: the last @ ends it, so that none of it can
  // be taken for a host and end up in a message.
  const size_t at = rest.rfind('@');
  if (at != std::string_view::npos) {
    if (auto error = read_login(rest.substr(0, at), endpoint)) return *error;
    rest.remove_prefix(at + 1);
  }
  if (auto error = tcp ? read_tcp(rest, endpoint) : read_unix(rest, endpoint)) return *error;
  return endpoint;
}

std::string Endpoint::name() const {
  if (unix_socket) return host;
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace lockc
