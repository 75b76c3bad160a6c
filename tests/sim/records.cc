#include "records.h"

#include <algorithm>

namespace lockc::sim {
namespace {

std::string field(const Dataset::Hash& record, const std::string& name) {
  const auto found = record.find(name);
  return found == record.end() ? "" : found->second;
}

uint64_t number(const std::string& text) { return text.empty() ? 0 : std::stoull(text); }

// That nothing was written.
bool is_certain(Status status) {
  return status == Status::kStale || status == Status::kConflict ||
         status == Status::kUnreachable || status == Status::kServerOom;
}

}  // namespace

void Records::executed(const Server::Step& step, const Dataset::Hash& was,
                       const Dataset::Hash& is) {
  Known& known = known_[step.keys.at(0)];
  if (was != known.record) known = {was, number(field(was, "token"))};  // after a crash
  if (is == was) return;
  check_landing(step, known, is);
  landed_[step.arguments.at(0)].insert(number(field(is, "version")));
  known = {is, std::max(known.token, number(step.arguments.at(1)))};
}

void Records::check_landing(const Server::Step& step, const Known& known, const Dataset::Hash& is) {
  const std::string& value = step.arguments.at(0);
  const uint64_t token = number(step.arguments.at(1));
  const std::string& expected = step.arguments.at(2);
  const uint64_t version = number(field(known.record, "version"));
  const auto fail = [&](const std::string& what) { world_.fail(value + ' ' + what); };
  if (token < known.token) {
    fail("of " + std::to_string(token) + " lands behind " + std::to_string(known.token));
  }
  if (!expected.empty() && number(expected) != version) fail("lands on another version");
  if (field(is, "value") != value) fail("lands as another value");
  if (number(field(is, "version")) <= version) fail("lands as an old version");
  if (number(field(is, "token")) != std::max(token, known.token)) fail("forgets the token");
  if (unsent_.contains(value)) fail("lands, and was told as never sent");
}

void Records::told(const std::string& value, const Result<uint64_t>& answer) {
  if (answer) {
    if (!has_landed(value, *answer)) world_.fail(value + " is told as written, and is not");
    return;
  }
  const Status status = answer.error().status;
  if (is_certain(status) && landed_.contains(value)) {
    world_.fail(value + " has landed, and is told as not written");
  }
  if (status == Status::kUnreachable) unsent_.insert(value);
}

bool Records::has_landed(const std::string& value, uint64_t version) const {
  const auto found = landed_.find(value);
  return found != landed_.end() && found->second.contains(version);
}

void Records::told(const Record& found) {
  if (found.version == 0 && found.value.empty() && found.token.value == 0) return;
  if (!has_landed(found.value, found.version)) {
    world_.fail("read, but never written: " + found.value);
  }
}

}  // namespace lockc::sim
