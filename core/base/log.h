// Where warnings go: one line each to a descriptor that the user chose, or nowhere. Any thread.
#pragma once

#include <string_view>

namespace lockc {

class Log {
 public:
  // fd stays the user's; 0 = silent.
  explicit Log(int fd) : fd_(fd) {}
  void warn(std::string_view text) const;

 private:
  int fd_;
};

}  // namespace lockc
