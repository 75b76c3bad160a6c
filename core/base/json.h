// Writes JSON, as much as an inspection needs, without white space. Plain values, any thread.
#pragma once

#include <string>
#include <string_view>

namespace lockc::json {

// A string in quotes. Bytes that are not UTF-8 show as U+FFFD, one for each.
std::string text(std::string_view bytes);

// Collects members; what add() takes as a value is JSON already.
class Object {
 public:
  Object& add(std::string_view name, std::string_view value);
  std::string done() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

}  // namespace lockc::json
