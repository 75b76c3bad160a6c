// What memory that ran out leaves: everything owed is told, once, and the rooms are a new client's.
#include <gtest/gtest.h>

#include "../support/client_rig.h"

namespace lockc {
namespace {

using namespace test;

struct BeginAnewTest : testing::Test {
  ClientRig rig;
};

void expect_told_once(const Operation& operation) {
  EXPECT_EQ(operation.recorder->told.size(), 1U);
  EXPECT_EQ(operation.status(), Status::kNoMemory);
}

TEST_F(BeginAnewTest, Waiters_AreTold) {
  const Operation seated = rig.queued_up(rig.waiting(1min));
  const Operation behind = rig.acquire(rig.waiting(1min));
  rig.begin_anew();
  expect_told_once(seated);
  expect_told_once(behind);
  rig.advance(2min);
  expect_told_once(seated);
}

TEST_F(BeginAnewTest, RequestsUnderWay_AreTold) {
  const Operation held = rig.held(rig.request("held"));
  const Operation given_back = rig.held(rig.request("given back"));
  const Operation extension = rig.extend(held.grant(), 60s);
  const Operation release = rig.release(given_back.grant());
  const Operation ask = rig.acquire(rig.request("asked for"));
  rig.begin_anew();
  expect_told_once(extension);
  expect_told_once(release);
  expect_told_once(ask);
}

TEST_F(BeginAnewTest, Held_IsLostAndToldOnce) {
  AcquireRequest request = rig.request();
  const auto events = std::make_shared<Recorder>();
  request.events = events;
  const Operation one = rig.held(request);
  rig.begin_anew();
  ASSERT_EQ(events->told.size(), 1U);
  EXPECT_EQ(events->status(), Status::kLost);
  EXPECT_EQ(one.grant()->loss(), LossReason::kExpired);
  EXPECT_EQ(one.grant()->remaining(rig.clock.now()), Duration::zero());
  EXPECT_EQ(rig.release(one.grant()).status(), Status::kLost);
  EXPECT_EQ(events->told.size(), 1U);
}

TEST_F(BeginAnewTest, Afterwards_AcquiresByANewConnection) {
  rig.queued_up(rig.waiting(1min));
  const size_t links = rig.net.links.size();
  rig.begin_anew();
  const Operation after = rig.held(rig.request());
  EXPECT_EQ(after.status(), Status::kOk);
  EXPECT_GT(rig.net.links.size(), links);
}

TEST_F(BeginAnewTest, MaxWaiters_CountsFromNoneAgain) {
  ClientRig::Settings settings;
  settings.registry.max_waiters = 1;
  ClientRig limited(settings);
  const Operation before = limited.acquire(limited.waiting(1min));
  limited.begin_anew();
  const Operation after = limited.acquire(limited.waiting(1min));
  EXPECT_FALSE(after.is_told());
}

TEST_F(BeginAnewTest, WhileClosing_IsIdle) {
  const Operation one = rig.held(rig.request());
  auto recorder = std::make_shared<Recorder>();
  rig.turn([&] {
    auto idle = std::make_shared<Owed>(recorder, Completion::Kind::kRelease, 0);
    rig.registry.close([idle] { idle->tell(Status::kOk); });
  });
  EXPECT_FALSE(recorder->is_told());
  rig.begin_anew();
  EXPECT_TRUE(recorder->is_told());
}

}  // namespace
}  // namespace lockc
