#include "inspection.h"

#include <nlohmann/json.hpp>

#include "records.h"

namespace lockc::sim {
namespace {

using Json = nlohmann::json;

// What is wrong with it; "": nothing.
std::string fault_of(const Key& key, const Json& told) {
  if (told.at("key") != key.text()) return "tells of another key";
  const auto state = told.at("state").get<std::string>();
  if (Records::is_record(key.text()) && state != "free") {
    const bool so = state == "record" && told.at("owner").is_null() && told.at("pttl_ms") == -1;
    return so ? "" : "takes a record for something else";
  }
  const bool ours =
      told.at("owner").is_string() && told["owner"].get<std::string>().starts_with("lc1:");
  if (state == "free" ? told["owner"].is_string() || told.at("pttl_ms") != -2
                      : state != (ours ? "held" : "foreign")) {
    return "its state contradicts the rest";
  }
  if (state != "free" && told.at("pttl_ms") < 0) return "its holder has no expiry";
  if (!told.at("token").is_number_unsigned() && !told["token"].is_null()) return "a strange token";
  if (ours && told.at("client_name") != nullptr && told["client_name"] != "sim") {
    return "names another client";
  }
  size_t position = 0;
  for (const Json& entry : told.at("queue")) {
    if (entry.at("position") != position++) return "its queue is out of order";
    if (entry.at("age_ms") < 0) return "a waiter from the future";
    if (!entry.at("live").is_boolean() || !entry.at("owner").is_string()) return "a strange waiter";
  }
  return {};
}

}  // namespace

void check_inspection(World& world, const Key& key, const std::string& json) {
  std::string fault;
  try {
    fault = fault_of(key, Json::parse(json));
  } catch (const Json::exception& error) {
    fault = error.what();
  }
  if (!fault.empty()) world.fail("inspect: " + fault + ": " + json);
}

}  // namespace lockc::sim
