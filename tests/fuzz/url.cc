// Any text as the URL of a server. It is refused, or read into what can be written as a URL that
// means the same; and no message tells a secret that stands in it.
#include <string>
#include <string_view>

#include "check.h"
#include "net/endpoint.h"

namespace lockc::fuzz {
namespace {

constexpr std::string_view kSecret = "s3cret-W0rd";

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out.append("%").append(1, kHex[byte >> 4U]).append(1, kHex[byte & 15U]);
  }
  return out;
}

std::string url_of(const Endpoint& endpoint) {
  const std::string login =
      percent_encoded(endpoint.username) + ":" + percent_encoded(endpoint.password) + "@";
  const std::string database = std::to_string(endpoint.database);
  if (endpoint.unix_socket) {
    return "unix://" + login + percent_encoded(endpoint.host) + "?db=" + database;
  }
  const bool brackets = endpoint.host[0] == '[' || endpoint.host.find(':') != std::string::npos;
  const std::string host = brackets ? "[" + endpoint.host + "]" : endpoint.host;
  return "redis://" + login + host + ":" + std::to_string(endpoint.port) + "/" + database;
}

bool operator==(const Endpoint& a, const Endpoint& b) {
  return a.unix_socket == b.unix_socket && a.host == b.host && a.port == b.port &&
         a.username == b.username && a.password == b.password && a.database == b.database;
}

void check(const Endpoint& endpoint) {
  must(!endpoint.host.empty(), "a server has a host");
  must(endpoint.unix_socket || endpoint.port != 0, "a server has a port");
  for (const std::string& text : {endpoint.host, endpoint.username, endpoint.password}) {
    must(text.find('\0') == std::string::npos, "what goes to C functions has no zero in it");
  }
  const auto again = Endpoint::parse(url_of(endpoint));
  must(again.ok() && *again == endpoint, "what was read can be written and read again");
}

void parse(std::string_view url) {
  const auto endpoint = Endpoint::parse(url);
  if (endpoint) return check(*endpoint);
  const Error& error = endpoint.error();
  must(error.status == Status::kInvalid || error.status == Status::kUnsupported,
       "a URL is invalid or unsupported");
  must(!error.message.empty(), "a refusal says why");
  must_be_tellable(error.status, error.message);
}

void parse_behind_secret(std::string_view scheme, std::string_view rest) {
  if (rest.find(kSecret) != std::string_view::npos) return;
  std::string url(scheme);
  url.append("user:").append(kSecret).append("@").append(rest);
  const auto endpoint = Endpoint::parse(url);
  const std::string told = endpoint ? endpoint->name() : endpoint.error().message;
  must(told.find(kSecret) == std::string::npos, "no message quotes a password");
}

}  // namespace
}  // namespace lockc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  lockc::fuzz::parse(text);
  lockc::fuzz::parse_behind_secret("redis://", text);
  lockc::fuzz::parse_behind_secret("unix://", text);
  return 0;
}
