// What the tests of lockc.hpp share: the suite's server, keys of their own, the clock.
#ifndef LOCKC_TESTS_CPP_TEST_SUPPORT_H
#define LOCKC_TESTS_CPP_TEST_SUPPORT_H

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>

#include "lockc/lockc.hpp"

using namespace std::chrono_literals;

// A key that no other test uses.
inline std::string fresh_key() {
  static int count = 0;
  return "test:cpp:" + std::to_string(getpid()) + ":" + std::to_string(++count);
}

// What the server knows of the key, as `"state": "..."` would name it.
inline bool is_free(lockc::Client& client, const std::string& key) {
  return client.inspect(key).find("\"free\"") != std::string::npos;
}

// Asks again and again, for what only the server can show.
template <typename Condition>
bool within(std::chrono::milliseconds limit, Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    usleep(5000);
  }
  return true;
}

// The status that `call` throws; kOk if it doesn't throw.
template <typename Call>
lockc::Status thrown_by(Call call) {
  try {
    call();
  } catch (const lockc::Error& error) {
    EXPECT_STRNE(error.what(), "");
    return error.status();
  }
  return lockc::Status::kOk;
}

#endif
