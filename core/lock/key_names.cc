#include "lock/key_names.h"

#include <charconv>
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

HashTag::HashTag(std::string_view key) : text_(hashed_part(key)) {
  if (text_.size() != key.size() || key.find('}') == std::string_view::npos) return;
  const auto end =
      std::to_chars(digits_.begin(), digits_.end(), smallest_numbers()[hash_slot(key)]);
  text_ = {digits_.data(), static_cast<size_t>(end.ptr - digits_.data())};
}

KeyNames::KeyNames(const Key& key) {
  constexpr std::array<std::string_view, 3> kNouns = {"}:fence:", "}:queue:", "}:seen:"};
  constexpr std::string_view kBegin = "lockc:{";
  const HashTag tag(key.text());
  // What the views look at must stay where it is.
  text_.reserve(4 * key.text().size() + 3 * (kBegin.size() + tag.text().size() + kNouns[0].size()));
  names_[0] = text_.append(key.text());
  for (size_t i = 0; i < kNouns.size(); ++i) {
    const size_t begin = text_.size();
    text_.append(kBegin).append(tag.text()).append(kNouns[i]).append(key.text());
    names_[i + 1] = std::string_view(text_).substr(begin);
  }
}

}  // namespace lockc
