// All rules hold, whatever the dice bring. SEEDS=n looks at the worlds 1 .. n, SEED=s at one of
// them, with its last events.
#include <gtest/gtest.h>

#include <cstdlib>

#include "scenario.h"

namespace lockc::sim {
namespace {

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string report(uint64_t seed, ScriptEngine& engine) {
  const Verdict verdict = simulate(seed, engine, true);
  return verdict.trace + "broken: " + verdict.broken_rule +
         "\nrepeat it by: make sim SEED=" + std::to_string(seed);
}

TEST(Simulation, EveryRuleHoldsInEveryWorld) {
  ScriptEngine engine;
  const uint64_t only = number_from("SEED", 0);
  const uint64_t first = only != 0 ? only : number_from("FIRST", 1);
  const uint64_t last = only != 0 ? only : first + number_from("SEEDS", 2'000) - 1;
  size_t grants = 0;
  for (uint64_t seed = first; seed <= last; ++seed) {
    const Verdict verdict = simulate(seed, engine);
    grants += verdict.grants;
    if (!verdict.broken_rule.empty()) FAIL() << report(seed, engine);
  }
  std::printf("%llu worlds, %zu grants\n", static_cast<unsigned long long>(last - first + 1),
              grants);
}

TEST(Simulation, OneSeed_RunsTheSameAgain) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    ScriptEngine one;
    ScriptEngine other;
    EXPECT_EQ(simulate(seed, one).digest, simulate(seed, other, true).digest) << "seed " << seed;
  }
}

}  // namespace
}  // namespace lockc::sim
