#include "lock/inspect.h"

#include <array>
#include <memory>
#include <nlohmann/json.hpp>

namespace lockc {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kOurs = "lc1:";

std::string_view state_of(const Inspection& seen) {
  if (seen.type == "none") return "free";
  if (seen.type == "string") {
    if (seen.pttl_ms < 0) return "zombie";
    return seen.owner.starts_with(kOurs) ? "held" : "foreign";
  }
  // Redisson keeps its locks in hashes, always with an expiry.
  return seen.type == "hash" && seen.pttl_ms >= 0 ? "foreign" : "other";
}

// The name that the client in owner gave its connections, out of CLIENT LIST's text.
Json client_name(std::string_view owner, std::string_view list) {
  if (!owner.starts_with(kOurs)) return nullptr;
  const std::string_view rest = owner.substr(kOurs.size());
  const std::string mark = " name=lockc:" + std::string(rest.substr(0, rest.find(':'))) + ":";
  const size_t at = list.find(mark);
  if (at == std::string_view::npos) return nullptr;
  const std::string_view name = list.substr(at + mark.size());
  return name.substr(0, name.find(' '));
}

std::string to_json(const Key& key, const Inspection& seen, std::string_view clients) {
  Json queue = Json::array();
  for (size_t i = 0; i < seen.queue.size(); ++i) {
    const Inspection::Entry& entry = seen.queue[i];
    queue.push_back(
        {{"owner", entry.owner}, {"position", i}, {"age_ms", entry.age_ms}, {"live", entry.live}});
  }
  const Json object = {
      {"key", key.text()},
      {"state", state_of(seen)},
      {"type", seen.type},
      {"owner", seen.has_owner ? Json(seen.owner) : Json(nullptr)},
      {"client_name", client_name(seen.owner, clients)},
      {"pttl_ms", seen.pttl_ms},
      {"token", seen.token == 0 ? Json(nullptr) : Json(seen.token)},
      {"queue", queue},
      {"grace_ms", nullptr},
  };
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

void inspect_key(Node& node, Store& store, const Key& key, Then<std::string> then) {
  store.inspect(KeyNames(key),
                [&node, key, then = std::move(then)](const Result<Inspection>& seen) {
                  if (!seen) return then(seen.error());
                  if (!seen->owner.starts_with(kOurs)) return then(to_json(key, *seen, {}));
                  node.command(std::array<std::string_view, 2>{"CLIENT", "LIST"}, {},
                               [key, seen = *seen, then](const Result<resp::View>& list) {
                                 then(to_json(key, seen, list ? list->text() : std::string_view()));
                               });
                });
}

}  // namespace lockc
