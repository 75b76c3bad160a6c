#include "lock/inspect.h"

#include <array>

#include "base/json.h"

namespace lockc {
namespace {

constexpr std::string_view kOurs = "lc1:";
constexpr std::string_view kRecord = "record";  // the script's word, where TYPE's is "hash"
constexpr const char* kNull = "null";

std::string_view state_of(const Inspection& seen) {
  if (seen.type == "none") return "free";
  if (seen.type == kRecord) return "record";
  if (seen.type == "string") {
    if (seen.pttl_ms < 0) return "zombie";
    return seen.owner.starts_with(kOurs) ? "held" : "foreign";
  }
  // Redisson keeps its locks in hashes, always with an expiry.
  return seen.type == "hash" && seen.pttl_ms >= 0 ? "foreign" : "other";
}

// The name that the client in owner gave its connections, out of CLIENT LIST's text; as JSON.
std::string client_name(std::string_view owner, std::string_view list) {
  if (!owner.starts_with(kOurs)) return kNull;
  const std::string_view rest = owner.substr(kOurs.size());
  const std::string mark = " name=lockc:" + std::string(rest.substr(0, rest.find(':'))) + ":";
  const size_t at = list.find(mark);
  if (at == std::string_view::npos) return kNull;
  const std::string_view name = list.substr(at + mark.size());
  return json::text(name.substr(0, name.find(' ')));
}

std::string queue_of(const Inspection& seen) {
  std::string list;
  for (size_t i = 0; i < seen.queue.size(); ++i) {
    const Inspection::Entry& entry = seen.queue[i];
    if (i > 0) list += ',';
    list += json::Object()
                .add("owner", json::text(entry.owner))
                .add("position", std::to_string(i))
                .add("age_ms", std::to_string(entry.age_ms))
                .add("live", entry.live ? "true" : "false")
                .done();
  }
  return "[" + list + "]";
}

std::string to_json(const Key& key, const Inspection& seen, std::string_view clients) {
  return json::Object()
      .add("key", json::text(key.text()))
      .add("state", json::text(state_of(seen)))
      .add("type", json::text(seen.type == kRecord ? "hash" : seen.type))
      .add("owner", seen.has_owner ? json::text(seen.owner) : kNull)
      .add("client_name", client_name(seen.owner, clients))
      .add("pttl_ms", std::to_string(seen.pttl_ms))
      .add("token", seen.token == 0 ? kNull : std::to_string(seen.token))
      .add("queue", queue_of(seen))
      .add("grace_ms", kNull)
      .done();
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
