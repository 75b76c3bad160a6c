#include "base/status.h"

#include <gtest/gtest.h>

namespace lockc {
namespace {

TEST(StatusName, KnownNumber_IsItsNameInTheAbi) {
  EXPECT_EQ(status_name(Status::kOk), "OK");
  EXPECT_EQ(status_name(Status::kNotHeld), "NOT_HELD");
  EXPECT_EQ(status_name(Status::kStale), "STALE");
  EXPECT_EQ(status_name(Status::kConflict), "CONFLICT");
  EXPECT_EQ(status_name(Status::kServerOom), "E_SERVER_OOM");
}

TEST(StatusName, OtherNumber_IsUnknown) {
  EXPECT_EQ(status_name(static_cast<Status>(99)), "UNKNOWN");
  EXPECT_EQ(status_name(static_cast<Status>(-13)), "UNKNOWN");
}

TEST(Join, BothParts_AColonBetween) { EXPECT_EQ(join("a", "b"), "a: b"); }

TEST(Join, OnePart_StandsAlone) {
  EXPECT_EQ(join("a", ""), "a");
  EXPECT_EQ(join("", "b"), "b");
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> value = 7;
  const Result<int> error = Error{Status::kBusy, {}};
  EXPECT_TRUE(value.ok());
  EXPECT_EQ(*value, 7);
  EXPECT_FALSE(error.ok());
  EXPECT_EQ(error.error().status, Status::kBusy);
}

}  // namespace
}  // namespace lockc
