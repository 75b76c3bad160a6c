// What callers ask for and how they are answered. Requests are plain values; sinks take answers
// inside the loop and must not block.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/status.h"
#include "base/types.h"

namespace lockc {

class Grant;
class Sink;

inline constexpr Millis kForever{-1};

struct AcquireRequest {
  Key key;
  Ttl ttl;
  bool renew = true;
  bool fair = false;
  bool spin = false;
  bool fenced = true;
  Millis wait{0};      // 0: one try; kForever
  Millis max_hold{0};  // 0: no bound
  uint32_t max_tries = 0;
  uint64_t owner = 0;              // 0: not re-entrant
  std::shared_ptr<Sink> events{};  // where the grant's loss is told; may be null
  uint64_t events_tag = 0;
};

struct Completion {
  enum class Kind : int32_t { kAcquire = 1, kExtend = 2, kRelease = 3, kLost = 4 };
  uint64_t tag = 0;
  Kind kind = Kind::kAcquire;
  Error outcome;                 // kOk: done
  std::shared_ptr<Grant> grant;  // of a successful acquire
};

class Sink {
 public:
  virtual ~Sink() = default;
  // One more answer will come.
  virtual void expect() {}
  // Where memory is too short for the answer, it is kNoMemory: of that much it is sure since
  // expect(). Throws bad_alloc if a grant was in it.
  virtual void complete(Completion completion) = 0;
  // One that was expected will not come.
  virtual void dismiss() {}
};

// The same outcome, with the key in its message.
inline Error about(const Key& key, Error outcome) {
  if (!outcome.message.empty()) outcome.message = join(key.quoted(), outcome.message);
  return outcome;
}

// An answer still owed: told exactly once, by whoever takes it. One that is dropped untold, which
// only want of memory brings about, says so by itself.
class Owed {
 public:
  Owed() = default;
  Owed(std::shared_ptr<Sink> sink, Completion::Kind kind, uint64_t tag) : kind_(kind), tag_(tag) {
    if (sink != nullptr) sink->expect();
    sink_ = std::move(sink);
  }
  Owed(Owed&&) = default;
  Owed& operator=(Owed&&) = delete;
  ~Owed() { tell(Status::kNoMemory); }

  explicit operator bool() const { return sink_ != nullptr; }
  void tell(Error outcome, std::shared_ptr<Grant> grant = nullptr) {
    if (const auto sink = std::exchange(sink_, nullptr)) {
      sink->complete({tag_, kind_, std::move(outcome), std::move(grant)});
    }
  }
  void tell(Status status) { tell(Error{status, {}}); }
  // Tells another sink in this one's place, as long as nothing was told.
  void redirect(std::shared_ptr<Sink> sink) {
    if (sink_ == nullptr) return;
    sink->expect();
    sink_.swap(sink);
    sink->dismiss();
  }
  // Nothing will be told.
  void waive() {
    if (const auto sink = std::exchange(sink_, nullptr)) sink->dismiss();
  }

 private:
  std::shared_ptr<Sink> sink_;
  Completion::Kind kind_ = Completion::Kind::kAcquire;
  uint64_t tag_ = 0;
};

}  // namespace lockc
