#include "base/json.h"

#include <gtest/gtest.h>

namespace lockc::json {
namespace {

using namespace std::string_literals;

TEST(JsonText, PlainTextAndUtf8_StayAsTheyAre) {
  EXPECT_EQ(text(""), R"("")");
  EXPECT_EQ(text("orders:42"), R"("orders:42")");
  EXPECT_EQ(text("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x94\x92"),
            "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x94\x92\"");
}

TEST(JsonText, QuotesAndControlCharacters_AreEscaped) {
  EXPECT_EQ(text("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(text("\n\x1f\0"s), R"("\u000a\u001f\u0000")");
}

TEST(JsonText, WhatIsNotUtf8_IsReplacedByteByByte) {
  const std::string sign = "\xef\xbf\xbd";
  for (const std::string bad : {"\x80", "\xc1", "\xff", "\xe2\x82", "\xe0\x9f\xbf", "\xed\xa0\x80",
                                "\xf4\x90\x80\x80", "\xc3("}) {
    EXPECT_EQ(text(bad).substr(1, sign.size()), sign) << bad;
  }
  EXPECT_EQ(text("a\xff\xfe\x62"), "\"a" + sign + sign + "b\"");
}

TEST(JsonObject, MembersComeInTheOrderOfTheirAdding) {
  EXPECT_EQ(Object().done(), "{}");
  EXPECT_EQ(Object().add("b", "1").add("a", "[]").done(), R"({"b":1,"a":[]})");
}

}  // namespace
}  // namespace lockc::json
