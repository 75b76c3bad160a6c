// The bytes of one run, read as text, so that seeds and crashes can be read by people. Whatever the
// bytes are, they mean something.
#pragma once

#include <cstdint>
#include <string_view>

namespace lockc::fuzz {

class Input {
 public:
  explicit Input(std::string_view bytes) : rest_(bytes) {}
  Input(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  bool empty() const { return rest_.empty(); }
  // The next byte; '\0' at the end.
  char letter() {
    if (rest_.empty()) return '\0';
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  // The next byte as 0 to 9: a digit means itself.
  unsigned digit() { return static_cast<unsigned char>(letter() - '0') % 10U; }
  // All up to the next `end`, which is dropped; the rest if there is none.
  std::string_view until(char end) {
    const std::string_view text = rest_.substr(0, rest_.find(end));
    rest_.remove_prefix(text.size() < rest_.size() ? text.size() + 1 : text.size());
    return text;
  }

 private:
  std::string_view rest_;
};

}  // namespace lockc::fuzz
