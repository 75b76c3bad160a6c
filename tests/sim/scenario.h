// One simulation from its seed to its verdict.
#pragma once

#include <cstdint>
#include <string>

#include "script_engine.h"
#include "server.h"

namespace lockc::sim {

struct Verdict {
  std::string broken_rule;  // "": all rules held
  std::string trace;        // the last events, where they were asked for
  uint64_t digest = 0;      // equal for equal runs
  size_t grants = 0;
};

// `mutate` may damage the scripts on their way to the server.
Verdict simulate(uint64_t seed, ScriptEngine& engine, bool tracing = false,
                 const Server::Mutation& mutate = nullptr);

// So many worlds find each mutant: the rarest shows in about one of a thousand.
inline constexpr uint64_t kSeedsForMutants = 10'000;

// The first of the seeds 1 .. count that breaks a rule; 0: none does.
uint64_t first_broken(uint64_t count, ScriptEngine& engine,
                      const Server::Mutation& mutate = nullptr);

}  // namespace lockc::sim
