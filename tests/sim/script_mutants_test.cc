// The simulation is as good as the bugs it finds: each of these, put into the scripts on purpose,
// must break a rule in one of the first worlds.
#include <gtest/gtest.h>

#include "scenario.h"

namespace lockc::sim {
namespace {

struct Mutant {
  const char* name;
  std::string from;  // in the text as it is sent: without comments and indentation
  std::string to;
};

void PrintTo(const Mutant& mutant, std::ostream* out) { *out << mutant.name; }

class ScriptMutant : public testing::TestWithParam<Mutant> {};

TEST_P(ScriptMutant, IsFound) {
  const Mutant& mutant = GetParam();
  bool met = false;
  const auto mutate = [&](std::string text) {
    const size_t at = text.find(mutant.from);
    if (at == std::string::npos) return text;
    met = true;
    return text.replace(at, mutant.from.size(), mutant.to);
  };
  ScriptEngine engine;
  const uint64_t seed = first_broken(kSeedsForMutants, engine, mutate);
  ASSERT_TRUE(met) << "no script has this text any more";
  ASSERT_NE(seed, 0U) << "nothing noticed it in " << kSeedsForMutants << " worlds";
  std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed),
              simulate(seed, engine, false, mutate).broken_rule.c_str());
}

INSTANTIATE_TEST_SUITE_P(
    Simulation, ScriptMutant,
    testing::Values(
        Mutant{"TellsBeforeTheKeyIsSet", "call('SET', K, v, 'PX', ttl)\nreturn first, n, fence",
               "redis.pcall('PUBLISH', 'lockc:wake:' .. parse(v), "
               "v .. ' ' .. first .. ' ' .. n .. ' ' .. K)\n"
               "call('SET', K, v, 'PX', ttl)\nreturn first, n, fence"},
        Mutant{"ShortensAnExpiry",
               "if pcall('PEXPIRE', K, ttl, 'GT') ~= 1 and "
               "call('PTTL', K) <= tonumber(ttl) then",
               "if true then"},
        Mutant{"DeletesAnothersKey", "if owner == V and call('EXISTS', Q) == 0 then",
               "if call('EXISTS', Q) == 0 then"},
        Mutant{"TrustsTheClockForTokens", "if last >= us then", "if false then"},
        Mutant{"ServesTheLastFirst", "math.max(us, tonumber(tail or 0) + 1)",
               "9007199254740992 - us"},
        Mutant{"PassesOverTheHead", "local from, count = 0, 1", "local from, count = 1, 1"},
        Mutant{"RenewalCreatesTheKey", "if pcall('GET', K) == V then",
               "if not pcall('GET', K) then call('SET', K, V, 'PX', ttl) end\n"
               "if pcall('GET', K) == V then"},
        Mutant{"LetsALateWriterPass", "if token > 0 and token < last then", "if false then"},
        Mutant{"InspectionCleansUp", "local result = {",
               "call('PEXPIRE', Q, 60000)\nlocal result = {"},
        Mutant{"LeavesAQueueForEver", "call('PEXPIRE', S, math.max(call('PTTL', S), keep))\n", ""}),
    [](const auto& mutant) { return std::string(mutant.param.name); });

}  // namespace
}  // namespace lockc::sim
