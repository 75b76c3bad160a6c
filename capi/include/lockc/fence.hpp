// lockc for C++17: the resource's side of fencing. What a Fence lets pass, what a Record holds.
#ifndef LOCKC_FENCE_HPP
#define LOCKC_FENCE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "lockc/lockc.h"
#include "lockc/options.hpp"
#include "lockc/outcome.hpp"

namespace lockc {

// The largest token that a resource of this process has seen: it refuses every smaller one.
class Fence {
 public:
  Fence() {
    lockc_fence* fence = nullptr;
    const Outcome outcome =
        detail::ask([&](lockc_error** error) { return lockc_fence_new(&fence, error); });
    fence_.reset(fence);
    if (!outcome) throw Error(outcome);
  }

  // [any] Lets the token pass and remembers it. Throws Error: kStale for one that is smaller than
  // any before; kInvalid for 0, that of an unfenced lock.
  void check(std::uint64_t token) {
    Outcome outcome;
    check(token, outcome);
    if (!outcome) throw Error(outcome);
  }
  void check(std::uint64_t token, Outcome& outcome) noexcept {
    outcome = Outcome(lockc_fence_check(get(), token));
  }

  // [any] The largest so far; 0: none.
  std::uint64_t token() const noexcept { return lockc_fence_token(get()); }

  // The C handle, still owned by this object.
  lockc_fence* get() const noexcept { return fence_.get(); }

 private:
  detail::Handle<lockc_fence> fence_;
};

// What Client::read found at a key.
struct Record {
  std::string value = {};     // any bytes
  std::uint64_t version = 0;  // 0: there is no record
  std::uint64_t token = 0;    // the largest that wrote it; 0: none did
};

// What Client::write asks for besides writing.
struct WriteOptions {
  std::uint64_t token = 0;                              // kStale if a larger one wrote before
  std::optional<std::uint64_t> version = std::nullopt;  // kConflict unless it has this one; 0: none
  Duration ttl = {};  // it expires so long after; default: as it is
};

namespace detail {

inline lockc_write_options to_c(const WriteOptions& options) noexcept {
  lockc_write_options c = {};
  c.struct_size = sizeof c;
  c.token = options.token;
  if (options.version) {
    c.flags |= LOCKC_IF_VERSION;
    c.version = *options.version;
  }
  c.ttl_ms = options.ttl.count();
  return c;
}

// Copies what `record` holds, and frees it; an empty Record for nullptr.
inline Record take(lockc_record* record) {
  const Handle<lockc_record> owned(record);
  std::size_t size = 0;
  const char* value = lockc_record_value(record, &size);
  return {std::string(value, size), lockc_record_version(record), lockc_record_token(record)};
}

}  // namespace detail
}  // namespace lockc

#endif  // LOCKC_FENCE_HPP
