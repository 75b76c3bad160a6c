// How a fuzz target says that a rule is broken: by the end of the process, which libFuzzer takes
// for a crash and keeps the input of.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/status.h"

namespace lockc::fuzz {

inline void must(bool holds, const char* rule) {
  if (holds) return;
  std::fprintf(stderr, "broken rule: %s\n", rule);
  std::abort();
}

// What is true of every outcome, whoever caused it.
inline void must_be_tellable(Status status, std::string_view message) {
  constexpr size_t kLongest = 1'000;
  must(status_name(status) != "UNKNOWN", "an outcome has a status of the list");
  must(status != Status::kInternal, "nothing from outside makes a bug in lockc");
  must(message.size() <= kLongest, "a message is short, whatever it quotes");
}

}  // namespace lockc::fuzz
