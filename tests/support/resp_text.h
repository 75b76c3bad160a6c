// Replies as a server writes them, built from their parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockc::test {

inline std::string status(const std::string& text) { return "+" + text + "\r\n"; }
inline std::string error(const std::string& text) { return "-" + text + "\r\n"; }
inline std::string integer(int64_t value) { return ":" + std::to_string(value) + "\r\n"; }
inline std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}
inline std::string array(const std::vector<std::string>& elements) {
  std::string text = "*" + std::to_string(elements.size()) + "\r\n";
  for (const std::string& element : elements) text += element;
  return text;
}

// What lockc's scripts answer (core/lock/scripts).
inline std::string granted(uint64_t first, int64_t count = 1) {
  return array({integer(1), bulk(std::to_string(first)), integer(count)});
}
inline std::string granted_whole(uint64_t first) { return integer(static_cast<int64_t>(first)); }
inline std::string busy(int64_t pttl = 1000, bool lockc = true) {
  return array({integer(0), integer(pttl), integer(0), integer(lockc ? 1 : 0)});
}
struct Queued {
  int64_t pttl = 20'000;
  int64_t position = 0;
  std::string ticket = "7";
  uint64_t mark = 100;
  bool lockc = true;
};
inline std::string queued(const Queued& with = {}) {
  return array({integer(2), integer(with.pttl), integer(with.position), bulk(with.ticket),
                bulk(std::to_string(with.mark)), integer(with.lockc ? 1 : 0)});
}
inline std::string released(bool ours = true) {
  return array({integer(ours ? 1 : 0), integer(0), integer(0)});
}
inline std::string requeued(bool ours, const std::string& acquired) {
  return array({integer(ours ? 1 : 0), acquired});
}
inline std::string renewed(const std::vector<bool>& ours) {
  std::vector<std::string> elements;
  for (size_t i = 0; i < ours.size(); ++i) {
    if (!ours[i]) elements.push_back(integer(static_cast<int64_t>(i) + 1));
  }
  return array(elements);
}

}  // namespace lockc::test
