#include "base/types.h"

#include <algorithm>
#include <charconv>

namespace lockc {
namespace {

constexpr std::string_view kReserved = "lockc:";

void append(std::string& text, uint64_t number) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  text.append(digits, end);
}

}  // namespace

Result<Key> Key::make(std::string_view prefix, std::string_view name) {
  if (name.empty()) return Error{Status::kInvalid, "the key is empty"};
  // Looked at before a byte of it is: a wrong length must not be read along.
  if (prefix.size() > kMaxSize || name.size() > kMaxSize - prefix.size()) {
    return Error{Status::kInvalid, "the key has " + std::to_string(name.size()) + " bytes and " +
                                       std::to_string(prefix.size()) +
                                       " of prefix, more than 4096 together"};
  }
  std::string text;
  text.reserve(prefix.size() + name.size());
  text.append(prefix).append(name);
  if (text.starts_with(kReserved)) {
    return Error{Status::kInvalid, "keys that begin with lockc: belong to lockc itself"};
  }
  return Key(std::move(text));
}

std::string Key::quoted() const {
  constexpr size_t kLongest = 64;
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : std::string_view(text_).substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || c == '"' || c == '\\' || byte == 0x7F) {
      out.append("\\x").append(1, kHex[byte >> 4U]).append(1, kHex[byte & 15U]);
    } else {
      out += c;
    }
  }
  return out.append(text_.size() > kLongest ? "...\"" : "\"");
}

Result<Ttl> Ttl::make(int64_t ms) {
  if (ms < kMin.count() || ms > kMax.count()) {
    return Error{Status::kInvalid, "ttl is " + std::to_string(ms) +
                                       " ms, not within 10 ms and one year (31536000000 ms)"};
  }
  return Ttl(Millis(ms));
}

Duration Ttl::proven() const {
  const Duration whole = millis_;
  return whole - whole / 100 - Millis(3);
}

Owner::Owner(std::string_view client, uint64_t seq, Ttl ttl, uint32_t block)
    : tokens_(std::max(block, 1U)) {
  text_.reserve(client.size() + 40);
  text_.append("lc1:").append(client).append(":");
  append(text_, seq);
  text_ += ":x:";
  append(text_, static_cast<uint64_t>(ttl.millis().count()));
  text_ += ':';
  append(text_, block);
}

}  // namespace lockc
