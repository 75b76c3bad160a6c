// An options struct of the C ABI, made of text: a list of "letter value;", where A is the first
// member, B the second, and so on. A value is a number, or any bytes. ~ stands for what a later
// version has behind today's members.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "input.h"

namespace lockc::fuzz {

struct Member {
  size_t offset;
  size_t size;
  int64_t low;  // what is accepted, besides 0
  int64_t high;
  bool is_text;
};
template <class Options, class Value>
Member member(Value Options::*pointer, int64_t low = INT64_MIN, int64_t high = INT64_MAX) {
  static const Options sample{};
  const auto* begin = reinterpret_cast<const char*>(&sample);
  const auto* place = reinterpret_cast<const char*>(&(sample.*pointer));
  return {static_cast<size_t>(place - begin), sizeof(Value), low, high,
          std::is_same_v<Value, const char*>};
}

template <class Options>
class OptionsImage {
 public:
  OptionsImage(const std::vector<Member>& members, Input input)
      : members_(members), bytes_(sizeof(Options)) {
    set(members_[0], sizeof(Options));
    while (!input.empty()) {
      const char letter = input.letter();
      const std::string_view value = input.until(';');
      const auto index = static_cast<size_t>(letter - 'A');
      if (letter == '~') {
        bytes_.insert(bytes_.end(), value.begin(), value.end());
        set(members_[0], static_cast<int64_t>(bytes_.size()));
      } else if (index < members_.size()) {
        set(members_[index], value);
      }
    }
  }

  // The value of a member as the library sees it: 0 where the struct ends before it.
  int64_t value(const Member& member) const {
    if (member.offset + member.size > size()) return 0;
    return member.size == 4 ? read<int32_t>(member) : read<int64_t>(member);
  }
  bool is_accepted(const Member& member) const {
    const int64_t given = value(member);
    return given == 0 || (given >= member.low && given <= member.high);
  }
  void set(const Member& member, int64_t value) {
    std::memcpy(&bytes_[member.offset], &value, member.size);
  }

  // The struct in memory of its very size, so that a byte read too far is seen.
  std::shared_ptr<const Options> place() const {
    constexpr size_t kLargest = 4096;
    const size_t length =
        size() < sizeof(uint32_t) || size() > kLargest ? sizeof(uint32_t) : size();
    void* memory = std::malloc(length);
    std::memset(memory, 0, length);
    std::memcpy(memory, bytes_.data(), std::min(length, bytes_.size()));
    return {static_cast<const Options*>(memory),
            [](const Options* options) { std::free(const_cast<Options*>(options)); }};
  }

 private:
  size_t size() const { return read<uint32_t>(members_[0]); }
  template <class Number>
  Number read(const Member& member) const {
    Number value;
    std::memcpy(&value, &bytes_[member.offset], sizeof value);
    return value;
  }
  void set(const Member& member, std::string_view value) {
    if (member.is_text) {
      const char* text = texts_.emplace_back(value).c_str();
      return set(member, reinterpret_cast<intptr_t>(text));
    }
    int64_t number = 0;
    const char* end = value.data() + value.size();
    if (std::from_chars(value.data(), end, number).ptr != end) {
      std::memcpy(&number, value.data(), std::min(value.size(), sizeof number));
    }
    set(member, number);
  }

  const std::vector<Member>& members_;
  std::vector<char> bytes_;
  std::deque<std::string> texts_;
};

}  // namespace lockc::fuzz
