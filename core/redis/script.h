// A Lua script as the server knows it; constant data, usable on any thread.
#pragma once

#include <string_view>

namespace lockc {

struct Script {
  std::string_view name;  // for messages
  std::string_view text;  // what EVAL sends
  std::string_view sha1;  // of exactly that text, 40 hexadecimal digits: what EVALSHA sends
};

}  // namespace lockc
