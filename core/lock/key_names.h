// The server keys that belong to one lock. Constant values, any thread.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/types.h"

namespace lockc {

// K itself and its helpers F, Q and S (protocol, "Names"), all in one hash slot of a cluster.
class KeyNames {
 public:
  explicit KeyNames(const Key& key);
  KeyNames(const KeyNames&) = delete;
  KeyNames& operator=(const KeyNames&) = delete;

  std::string_view key() const { return names_[0]; }
  std::string_view fence() const { return names_[1]; }
  std::string_view queue() const { return names_[2]; }
  std::string_view seen() const { return names_[3]; }
  // All of them, as the scripts take them.
  const std::array<std::string_view, 4>& all() const { return names_; }

 private:
  std::string text_;  // of all; made in one piece, since every request makes it
  std::array<std::string_view, 4> names_;
};

// What stands in the braces of the helper keys: K's own hash tag where it has one, K where that is
// harmless, else the smallest number in K's slot. Looks at the key as long as it lives.
class HashTag {
 public:
  explicit HashTag(std::string_view key);
  HashTag(const HashTag&) = delete;
  HashTag& operator=(const HashTag&) = delete;
  std::string_view text() const { return text_; }

 private:
  std::array<char, 8> digits_;
  std::string_view text_;
};

// The slot of a key by its whole bytes (CRC16, XMODEM; Redis Cluster specification, appendix A).
unsigned hash_slot(std::string_view bytes);

}  // namespace lockc
