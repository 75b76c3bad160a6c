#include "lock/record.h"

#include <gmock/gmock.h>

#include <optional>

#include "../support/client_rig.h"

namespace lockc {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

struct RecordTest : testing::Test {
  void read() {
    rig.turn([&] { records.read(key, [&](auto told) { record.emplace(std::move(told)); }); });
  }
  void write(RecordWrite wanted = {"v"}) {
    rig.turn([&] {
      records.write(key, std::move(wanted), [&](auto told) { version.emplace(std::move(told)); });
    });
  }
  std::string written(const std::string& reply) {
    write();
    rig.answer(reply);
    if (!version) return "nothing";
    return *version ? std::to_string(**version) : std::string(status_name(version->error().status));
  }

  ClientRig rig;
  RecordStore records{rig.node};
  const Key key = *Key::make("", "k");
  std::optional<Result<Record>> record;
  std::optional<Result<uint64_t>> version;
};

TEST_F(RecordTest, Read_TellsValueVersionAndToken) {
  read();
  EXPECT_THAT(rig.call().keys, ElementsAre("k"));
  EXPECT_THAT(rig.call().arguments, ElementsAre("8388608"));
  rig.answer(array({bulk("7"), bulk("42"), bulk("value")}));
  EXPECT_EQ((*record)->value, "value");
  EXPECT_EQ((*record)->version, 7U);
  EXPECT_EQ((*record)->token.value, 42U);
}

TEST_F(RecordTest, Write_SaysWhatMustHold) {
  write({"v"});
  EXPECT_THAT(rig.call().keys, ElementsAre("k"));
  EXPECT_THAT(rig.answer(array({integer(1), bulk("7")})).arguments, ElementsAre("v", "0", "", "0"));
  write({"", {42}, 0, *Ttl::make(5000)});
  EXPECT_THAT(rig.call().arguments, ElementsAre("", "42", "0", "5000"));
}

TEST_F(RecordTest, Written_TellsTheNewVersion) {
  EXPECT_EQ(written(array({integer(1), bulk("9007199254740991")})), "9007199254740991");
}

TEST_F(RecordTest, RefusedWrite_TellsWhyWithoutAText) {
  EXPECT_EQ(written(array({integer(2), bulk("43")})), "STALE");
  EXPECT_EQ(version->error().message, "");
  EXPECT_EQ(written(array({integer(3), bulk("0")})), "CONFLICT");
  EXPECT_EQ(version->error().message, "");
}

TEST_F(RecordTest, ReplyOfAnotherShape_IsAServerError) {
  for (const auto& reply : {integer(1), array({}), array({integer(4), bulk("1")}),
                            array({integer(1), bulk("x")}), array({integer(1)})}) {
    EXPECT_EQ(written(reply), "E_SERVER");
  }
  for (const auto& reply :
       {bulk("v"), array({bulk("1"), bulk("1")}), array({bulk("1"), bulk("1"), "$-1\r\n"})}) {
    read();
    rig.answer(reply);
    EXPECT_EQ(record->error().status, Status::kServer);
  }
}

TEST_F(RecordTest, Error_NamesTheKey) {
  EXPECT_EQ(written(error("LOCKCRECORD x")), "E_WRONG_TYPE");
  EXPECT_THAT(version->error().message, HasSubstr("\"k\": "));
}

TEST_F(RecordTest, ForgottenScript_IsSentAgainOnce) {
  EXPECT_EQ(written(array({integer(1), bulk("7")})), "7");
  version.reset();
  write({"w", {42}, 7});
  EXPECT_TRUE(rig.answer(error("NOSCRIPT x")).by_sha);
  EXPECT_FALSE(version);
  EXPECT_FALSE(rig.call().by_sha);
  EXPECT_THAT(rig.answer(error("NOSCRIPT x")).arguments, ElementsAre("w", "42", "7", "0"));
  EXPECT_EQ(version->error().status, Status::kNotReady);
}

TEST_F(RecordTest, WriteWithoutAnAnswer_IsUncertainAndNeverSentAgain) {
  write();
  rig.call().link->close();
  rig.settle();
  EXPECT_EQ(version->error().status, Status::kUncertain);
  EXPECT_THAT(rig.calls(), ElementsAre());
}

TEST_F(RecordTest, RequestBehindALostWrite_GoesBehindTheEndOfItsConnection) {
  write();
  const auto lost = rig.call().link;
  lost->close();
  read();
  rig.net.links.back()->open();
  for (const char* reply : {"+OK\r\n", ":2\r\n", "$12\r\nrun_id:run-1\r\n"}) {
    rig.net.links.back()->answer(reply);
  }
  const auto& requests = rig.net.links.back()->unanswered;
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_THAT(requests[0], ElementsAre("CLIENT", "KILL", "ID", "1"));
  EXPECT_EQ(read_call(rig.net.links.back(), requests[1])->script, &scripts::record_read);
}

}  // namespace
}  // namespace lockc
