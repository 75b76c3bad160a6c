#include "json.h"

#include <algorithm>
#include <charconv>

namespace lockc::cli {
namespace {

constexpr int kMaxDepth = 16;

void append_utf8(std::string& out, uint32_t code) {
  const auto byte = [](uint32_t bits) { return static_cast<char>(bits); };
  const auto tail = [&](int shift) { return byte(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    out += byte(code);
  } else if (code < 0x800) {
    out += {byte(0xc0 | code >> 6), tail(0)};
  } else if (code < 0x10000) {
    out += {byte(0xe0 | code >> 12), tail(6), tail(0)};
  } else {
    out += {byte(0xf0 | code >> 18), tail(12), tail(6), tail(0)};
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : left_(text) {}

  Json document() {
    Json value = read_value(0);
    if (peek() != '\0') fail();
    return value;
  }

 private:
  [[noreturn]] static void fail() { throw JsonError("malformed JSON"); }

  // The next character that is no space; '\0' at the end.
  char peek() {
    const size_t start = left_.find_first_not_of(" \t\r\n");
    left_.remove_prefix(std::min(start, left_.size()));
    return left_.empty() ? '\0' : left_[0];
  }

  char take() {
    if (left_.empty()) fail();
    const char c = left_[0];
    left_.remove_prefix(1);
    return c;
  }

  bool skip(std::string_view word) {
    if (!left_.starts_with(word)) return false;
    left_.remove_prefix(word.size());
    return true;
  }

  Json read_value(int depth) {
    if (depth > kMaxDepth) fail();
    switch (peek()) {
      case '{':
        return {read_object(depth)};
      case '[':
        return {read_array(depth)};
      case '"':
        return {read_string()};
      default:
        return read_word();
    }
  }

  Json read_word() {
    if (skip("null")) return {nullptr};
    if (skip("true")) return {true};
    if (skip("false")) return {false};
    int64_t number = 0;
    const char* const end = left_.data() + left_.size();
    const auto parsed = std::from_chars(left_.data(), end, number);
    if (parsed.ec != std::errc()) fail();
    left_.remove_prefix(static_cast<size_t>(parsed.ptr - left_.data()));
    return {number};
  }

  // Behind an element: whether another one follows.
  bool more(char closing) {
    peek();
    const char c = take();
    if (c != ',' && c != closing) fail();
    return c == ',';
  }

  bool skip_empty(char closing) {
    take();
    if (peek() != closing) return false;
    take();
    return true;
  }

  Json::Object read_object(int depth) {
    Json::Object members;
    if (skip_empty('}')) return members;
    do {
      if (peek() != '"') fail();
      std::string name = read_string();
      if (peek() != ':') fail();
      take();
      members.insert_or_assign(std::move(name), read_value(depth + 1));
    } while (more('}'));
    return members;
  }

  Json::Array read_array(int depth) {
    Json::Array elements;
    if (skip_empty(']')) return elements;
    do {
      elements.push_back(read_value(depth + 1));
    } while (more(']'));
    return elements;
  }

  std::string read_string() {
    std::string out;
    take();
    for (char c = take(); c != '"'; c = take()) {
      if (c == '\\') {
        read_escape(out);
      } else {
        out += c;
      }
    }
    return out;
  }

  void read_escape(std::string& out) {
    static constexpr std::string_view kNames = "\"\\/bfnrt";
    static constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    const char name = take();
    if (name == 'u') return append_utf8(out, read_code_point());
    const size_t at = kNames.find(name);
    if (at == std::string_view::npos) fail();
    out += kMeant[at];
  }

  uint32_t read_code_point() {
    const uint32_t first = read_hex();
    if (first < 0xd800 || first > 0xdbff) return first;
    if (!skip("\\u")) fail();
    const uint32_t second = read_hex();
    if (second < 0xdc00 || second > 0xdfff) fail();
    return 0x10000 + ((first - 0xd800) << 10 | (second - 0xdc00));
  }

  uint32_t read_hex() {
    uint32_t code = 0;
    if (left_.size() < 4) fail();
    const auto parsed = std::from_chars(left_.data(), left_.data() + 4, code, 16);
    if (parsed.ptr != left_.data() + 4) fail();
    left_.remove_prefix(4);
    return code;
  }

  std::string_view left_;
};

}  // namespace

const Json& Json::operator[](std::string_view name) const {
  static const Json kNull{nullptr};
  const Object& members = as<Object>();
  const auto found = members.find(name);
  return found == members.end() ? kNull : found->second;
}

Json parse_json(std::string_view text) { return Parser(text).document(); }

}  // namespace lockc::cli
