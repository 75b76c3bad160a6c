// Any answers to an inspection: those of the script and of CLIENT LIST, parted by `. What comes out
// is an error or the JSON object that lockc.h promises.
#include "lock/inspect.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "../support/client_rig.h"
#include "check.h"
#include "input.h"

namespace lockc::fuzz {
namespace {

using nlohmann::json;

void check_queue(const json& queue) {
  must(queue.is_array(), "queue is an array");
  for (size_t i = 0; i < queue.size(); ++i) {
    must(queue[i].at("owner").is_string(), "a waiter has an owner value");
    must(queue[i].at("position") == i, "waiters stand in order");
    must(queue[i].at("age_ms").is_number_integer() && queue[i].at("age_ms") >= 0,
         "nobody began to wait in the future");
    must(queue[i].at("live").is_boolean(), "a waiter is live or not");
  }
}

void check_json(const std::string& text) {
  const json object = json::parse(text, nullptr, false);
  must(object.is_object() && object.size() == 9, "an object of nine members");
  const std::set<std::string> states = {"free", "held", "foreign", "zombie", "record", "other"};
  must(states.contains(object.at("state").get<std::string>()), "state is one of six");
  must(object.at("key") == "k", "key is what was asked for");
  must(object.at("type").is_string(), "type is a text");
  for (const char* name : {"owner", "client_name"}) {
    must(object.at(name).is_null() || object.at(name).is_string(), "a text or nothing");
  }
  must(object.at("pttl_ms").is_number_integer(), "pttl_ms is a number");
  const json& token = object.at("token");
  must(token.is_null() || (token.is_number_unsigned() && token != 0U), "a token is more than 0");
  must(object.at("grace_ms").is_null(), "there is no grace");
  check_queue(object.at("queue"));
}

void run(Input input) {
  test::ClientRig rig;
  std::optional<Result<std::string>> told;
  rig.turn([&] {
    inspect_key(rig.node, rig.store, *Key::make("", "k"), [&](auto found) {
      must(!told.has_value(), "an inspection is answered once");
      told.emplace(std::move(found));
    });
  });
  rig.settle();
  const auto link = rig.net.links.at(0);
  for (int i = 0; i < 2 && link->is_open() && !link->unanswered.empty(); ++i) {
    link->answer(input.until('`'));
  }
  rig.turn([&] { rig.node.close(); });
  must(told.has_value(), "an inspection is answered");
  if (*told) return check_json(**told);
  must_be_tellable(told->error().status, told->error().message);
}

}  // namespace
}  // namespace lockc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  lockc::fuzz::run(lockc::fuzz::Input(data, size));
  return 0;
}
