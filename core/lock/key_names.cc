#include "lock/key_names.h"

#include <cstdint>
#include <vector>

namespace lockc {
namespace {

// The bytes of key that Redis Cluster hashes: the first {...} if it is not empty, else all.
std::string_view hashed_part(std::string_view key) {
  const size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

// For each slot the smallest number whose decimal digits are in it; the last slot is reached by
// 109757. Made once, for keys that need it.
const std::vector<uint32_t>& smallest_numbers() {
  static const std::vector<uint32_t> numbers = [] {
    constexpr size_t kSlots = 16384;
    constexpr uint32_t kNone = UINT32_MAX;
    std::vector<uint32_t> smallest(kSlots, kNone);
    size_t found = 0;
    for (uint32_t n = 0; found < kSlots; ++n) {
      uint32_t& number = smallest[hash_slot(std::to_string(n))];
      if (number != kNone) continue;
      number = n;
      ++found;
    }
    return smallest;
  }();
  return numbers;
}

std::string helper(std::string_view tag, std::string_view noun, std::string_view key) {
  std::string name;
  name.reserve(tag.size() + key.size() + 18);
  return name.append("lockc:{").append(tag).append("}:").append(noun).append(":").append(key);
}

}  // namespace

unsigned hash_slot(std::string_view bytes) {
  unsigned crc = 0;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned>(static_cast<unsigned char>(c)) << 8U;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 0x8000U) != 0 ? (crc << 1U) ^ 0x1021U : crc << 1U;
    }
    crc &= 0xFFFFU;
  }
  return crc % 16384;
}

std::string hash_tag(std::string_view key) {
  const std::string_view part = hashed_part(key);
  if (part.size() != key.size() || key.find('}') == std::string_view::npos)
    return std::string(part);
  return std::to_string(smallest_numbers()[hash_slot(key)]);
}

KeyNames::KeyNames(const Key& k) : key(k.text()) {
  const std::string tag = hash_tag(key);
  fence = helper(tag, "fence", key);
  queue = helper(tag, "queue", key);
  seen = helper(tag, "seen", key);
}

}  // namespace lockc
