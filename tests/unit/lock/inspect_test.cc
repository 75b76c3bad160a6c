#include "lock/inspect.h"

#include <gtest/gtest.h>

#include <optional>

#include "../support/client_rig.h"

namespace lockc {
namespace {

using namespace test;

struct InspectTest : testing::Test {
  std::string inspect(const std::string& reply) {
    std::optional<Result<std::string>> told;
    rig.turn([&] {
      inspect_key(rig.node, rig.store, *Key::make("", "k"),
                  [&](auto found) { told.emplace(found); });
    });
    EXPECT_EQ(rig.answer(reply).script, &scripts::inspect);
    if (!told) return "nothing";
    return *told ? **told : std::string(status_name(told->error().status));
  }
  ClientRig rig;
};

TEST_F(InspectTest, FreeKey) {
  EXPECT_EQ(
      inspect(array({bulk("none"), "$-1\r\n", integer(-2), bulk("0"), integer(5000)})),
      R"({"key":"k","state":"free","type":"none","owner":null,"client_name":null,"pttl_ms":-2,)"
      R"("token":null,"queue":[],"grace_ms":null})");
}

TEST_F(InspectTest, ForeignHolderWithAQueue) {
  EXPECT_EQ(
      inspect(array({bulk("string"), bulk("somebody"), integer(800), bulk("41"), integer(5000),
                     bulk("lc1:A:1:x:10:1"), bulk("4000000"), bulk("9999"), integer(1)})),
      R"({"key":"k","state":"foreign","type":"string","owner":"somebody","client_name":null,)"
      R"("pttl_ms":800,"token":41,"queue":[{"owner":"lc1:A:1:x:10:1","position":0,)"
      R"("age_ms":1000,"live":true}],"grace_ms":null})");
}

TEST_F(InspectTest, HolderThatNeverExpires_IsAZombie) {
  const std::string json =
      inspect(array({bulk("string"), bulk("somebody"), integer(-1), bulk("0"), integer(1)}));
  EXPECT_NE(json.find(R"("state":"zombie")"), std::string::npos) << json;
}

TEST_F(InspectTest, Record_IsNoForeignHolderThoughItExpires) {
  EXPECT_EQ(inspect(array({bulk("record"), "$-1\r\n", integer(800), "$-1\r\n", integer(1)})),
            R"({"key":"k","state":"record","type":"hash","owner":null,"client_name":null,)"
            R"("pttl_ms":800,"token":null,"queue":[],"grace_ms":null})");
}

TEST_F(InspectTest, OtherHashes_AreForeignHoldersWhereTheyExpire) {
  const auto hash = [this](int64_t pttl) {
    return inspect(array({bulk("hash"), "$-1\r\n", integer(pttl), "$-1\r\n", integer(1)}));
  };
  EXPECT_NE(hash(800).find(R"("state":"foreign")"), std::string::npos) << hash(800);
  EXPECT_NE(hash(-1).find(R"("state":"other")"), std::string::npos) << hash(-1);
}

TEST_F(InspectTest, ClockAndTicketsOfNoSense_GiveAnAgeOfNothing) {
  const std::string json =
      inspect(array({bulk("string"), bulk("somebody"), integer(1), bulk("0"), integer(INT64_MIN),
                     bulk("V"), bulk("18446744073709551615"), bulk("0"), integer(0)}));
  EXPECT_NE(json.find(R"("age_ms":0)"), std::string::npos) << json;
}

TEST_F(InspectTest, BytesThatAreNoUtf8_AreReplaced) {
  const std::string json =
      inspect(array({bulk("string"), bulk("\xff"), integer(1), bulk("0"), integer(1)}));
  EXPECT_NE(json.find("\xef\xbf\xbd"), std::string::npos) << json;
}

TEST_F(InspectTest, ForgottenScript_IsSentAgain) {
  inspect(array({bulk("none"), "$-1\r\n", integer(-2), bulk("0"), integer(1)}));
  EXPECT_EQ(inspect(error("NOSCRIPT x")), "nothing");
  EXPECT_EQ(rig.call().script, &scripts::inspect);
}

TEST_F(InspectTest, Refused_TellsTheStatus) { EXPECT_EQ(inspect(error("NOPERM x")), "E_DENIED"); }

}  // namespace
}  // namespace lockc
