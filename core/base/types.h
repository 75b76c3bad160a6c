// The words of the field as types of their own, so that the compiler tells a key from an owner and
// a token from a time. Plain values, any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/status.h"

namespace lockc {

// The user's name of what is locked, prefix applied: 1..4096 bytes of any value.
class Key {
 public:
  static constexpr size_t kMaxSize = 4096;
  // kInvalid: empty, too long, or in lockc's own name space.
  static Result<Key> make(std::string_view prefix, std::string_view name);

  const std::string& text() const { return text_; }
  // For messages: in quotes, control characters and quotes as \xHH, cut after 64 bytes.
  std::string quoted() const;
  auto operator<=>(const Key&) const = default;

 private:
  explicit Key(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

// The lifetime of a lease at the server: 10 ms to one year of 365 days.
class Ttl {
 public:
  static constexpr Millis kMin{10};
  static constexpr Millis kMax = std::chrono::hours(24 * 365);
  static Result<Ttl> make(int64_t ms);

  Millis millis() const { return millis_; }
  // What a client may count on from before it sent: the server's clock may run 1 % faster, and
  // expiry has a grain of 1 ms at either end (protocol, client rule 6). One more is never counted,
  // so that a rest that is told in whole milliseconds, rounded up, is proven too.
  Duration proven() const;
  auto operator<=>(const Ttl&) const = default;

 private:
  explicit Ttl(Millis millis) : millis_(millis) {}
  Millis millis_;
};

// The fencing number of a grant: strictly growing per key. 0 is no token.
struct FencingToken {
  static constexpr uint64_t kEnd = uint64_t{1} << 53U;  // scripts count exactly below it
  uint64_t value = 0;
  auto operator<=>(const FencingToken&) const = default;
};

// The value at the key while a grant lasts. New for each request, it says all that another client
// needs to grant it: lc1:<client>:<seq>:<mode>:<ttl>:<block>.
class Owner {
 public:
  Owner(std::string_view client, uint64_t seq, Ttl ttl, uint32_t block);

  const std::string& text() const { return text_; }
  // That a grant to it carries where the clock allows.
  uint32_t tokens() const { return tokens_; }
  bool operator==(const Owner&) const = default;

 private:
  std::string text_;
  uint32_t tokens_;
};

}  // namespace lockc
