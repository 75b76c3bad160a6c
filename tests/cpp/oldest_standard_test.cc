// The header in C++17: it compiles, and its handles are move-only and move without throwing.
#include <gtest/gtest.h>

#include <type_traits>

#include "lockc/lockc.hpp"

static_assert(__cplusplus == 201703L);

namespace {

template <typename Handle>
constexpr bool kMovesOnly =
    std::is_nothrow_move_constructible_v<Handle>&& std::is_nothrow_move_assignable_v<Handle> &&
    !std::is_copy_constructible_v<Handle> && std::is_nothrow_destructible_v<Handle>;

static_assert(kMovesOnly<lockc::Client> && kMovesOnly<lockc::Lock> && kMovesOnly<lockc::Queue> &&
              kMovesOnly<lockc::Outcome> && kMovesOnly<lockc::Completion> &&
              kMovesOnly<lockc::Fence>);
static_assert(std::is_aggregate_v<lockc::WriteOptions>);
static_assert(std::is_aggregate_v<lockc::ClientOptions>);
static_assert(std::is_aggregate_v<lockc::AcquireOptions>);
static_assert(std::is_base_of_v<std::runtime_error, lockc::Error>);

TEST(OldestStandard, OptionsAreSetMemberByMember) {
  lockc::ClientOptions options;
  options.connect_timeout = std::chrono::seconds(1);
  lockc::Client client("redis://127.0.0.1:1", options);
  lockc::AcquireOptions once;
  once.wait = lockc::Duration::zero();
  lockc::Outcome outcome;
  EXPECT_FALSE(client.acquire("key", once, outcome));
  EXPECT_EQ(outcome.status(), lockc::Status::kUnreachable);
}

}  // namespace
