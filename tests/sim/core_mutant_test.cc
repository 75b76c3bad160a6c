// Built with one source of the core damaged on purpose (CMakeLists.txt): the simulation must
// notice.
#include <gtest/gtest.h>

#include "scenario.h"

namespace lockc::sim {
namespace {

TEST(CoreMutant, IsFound) {
  ScriptEngine engine;
  const uint64_t seed = first_broken(kSeedsForMutants, engine);
  ASSERT_NE(seed, 0U) << "nothing noticed it in " << kSeedsForMutants << " worlds";
  std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed),
              simulate(seed, engine).broken_rule.c_str());
}

}  // namespace
}  // namespace lockc::sim
