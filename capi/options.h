// Options structs across versions: one copy that respects both sides' sizes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/status.h"

namespace lockc::capi {

// Today's view of the caller's struct: members that it does not have are zero, which is their
// default; a longer struct must be zero where we do not know it.
template <class Options>
Result<Options> copy_options(const Options* given, const char* name) {
  Options copy{};
  if (given == nullptr) return copy;
  const size_t size = given->struct_size;
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  if (size < sizeof given->struct_size) {
    return Error{Status::kInvalid, std::string(name) + ".struct_size is " + std::to_string(size) +
                                       "; it has to be sizeof(" + name + ")"};
  }
  // Beyond the largest it is garbage, not a later version; and no struct ends inside a pointer.
  constexpr size_t kLargest = 4096;
  if (size > kLargest || size % alignof(Options) != 0) {
    return Error{Status::kInvalid, std::string(name) + ".struct_size is not a size"};
  }
  for (size_t i = sizeof(Options); i < size; ++i) {
    if (bytes[i] != 0) {
      return Error{Status::kInvalid, std::string(name) +
                                         " sets an option that this version of lockc "
                                         "does not know"};
    }
  }
  std::memcpy(&copy, bytes, std::min(size, sizeof copy));
  return copy;
}

}  // namespace lockc::capi
