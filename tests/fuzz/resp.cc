// Any bytes as replies of a server. They give the same replies in whatever portions they come, and
// take memory in proportion to their number only; and every request that is written can be read.
#include "net/resp.h"

#include <sanitizer/allocator_interface.h>

#include <algorithm>
#include <string>
#include <vector>

#include "check.h"

namespace lockc::fuzz {
namespace {

using resp::View;

std::string described(View view) {
  std::string out = "(" + std::to_string(static_cast<int>(view.type()));
  out.append(" ").append(view.text());
  out.append(" ").append(std::to_string(view.integer(-1)));
  out.append(" ").append(std::to_string(view.number(1)));
  for (size_t i = 0; i <= view.size() && view.size() > 0; ++i) out += described(view[i]);
  return out.append(")");
}

// All replies in bytes, and in the end why there are no more.
std::string read_all(std::string_view bytes, size_t portion) {
  resp::Parser parser;
  std::string out;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(portion, bytes.size()))) {
    if (!parser.feed(bytes.substr(0, portion))) return out + "no frame";
    for (;;) {
      const auto reply = parser.next();
      if (!reply) return out + "no frame";
      if (!*reply) break;
      out += described((*reply)->view());
    }
  }
  return out + "more";
}

void check_memory(std::string_view bytes) {
  constexpr size_t kBase = size_t{1} << 20U;  // an array of the most elements, all of them filled
  const size_t before = __sanitizer_get_current_allocated_bytes();
  resp::Parser parser;
  if (!parser.feed(bytes)) return;
  for (auto reply = parser.next(); reply && *reply; reply = parser.next()) {
    const size_t now = __sanitizer_get_current_allocated_bytes();
    must(now - before <= kBase + 4 * bytes.size(), "memory in proportion to the input");
  }
}

// The input's words as the arguments of a request.
void check_request(std::string_view bytes) {
  std::vector<std::string_view> words;
  for (std::string_view rest = bytes; !rest.empty() && words.size() < 1'000;) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    words.push_back(word);
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  }
  std::string request;
  resp::append_request(request, words);
  resp::Parser parser;
  must(parser.feed(request).ok(), "a request can be read");
  const auto read = parser.next();
  must(read.ok() && read->has_value(), "a request can be read");
  const View view = (*read)->view();
  must(view.size() == words.size(), "a request has all of its arguments");
  for (size_t i = 0; i < words.size(); ++i) {
    must(view[i].text() == words[i], "an argument arrives as it is");
  }
}

}  // namespace
}  // namespace lockc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lockc::fuzz;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = read_all(bytes, std::max<size_t>(size, 1));
  for (const size_t portion : {size_t{1}, size_t{2}, 1 + size / 3}) {
    must(read_all(bytes, portion) == whole, "the same replies, in whatever portions they come");
  }
  check_memory(bytes);
  check_request(bytes);
  return 0;
}
