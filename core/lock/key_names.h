// The server keys that belong to one lock. Plain values, any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/types.h"

namespace lockc {

// K itself and its helpers F, Q and S (protocol, "Names"), all in one hash slot of a cluster.
struct KeyNames {
  explicit KeyNames(const Key& key);

  std::string key;
  std::string fence;
  std::string queue;
  std::string seen;
};

// What stands in the braces of the helper keys: K's own hash tag where it has one, K where that is
// harmless, else the smallest number in K's slot.
std::string hash_tag(std::string_view key);

// The slot of a key by its whole bytes (CRC16, XMODEM; Redis Cluster specification, appendix A).
unsigned hash_slot(std::string_view bytes);

}  // namespace lockc
