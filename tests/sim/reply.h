// What a server answers, as a value and as bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockc::sim {

using Arguments = std::vector<std::string>;

struct Reply {
  enum class Type { kNil, kInteger, kText, kStatus, kError, kArray };
  Type type = Type::kNil;
  int64_t number = 0;
  std::string text{};
  std::vector<Reply> elements{};

  static Reply nil() { return {}; }
  static Reply integer(int64_t n) { return {.type = Type::kInteger, .number = n}; }
  static Reply bulk(std::string s) { return {.type = Type::kText, .text = std::move(s)}; }
  static Reply status(std::string s) { return {.type = Type::kStatus, .text = std::move(s)}; }
  static Reply error(std::string s) { return {.type = Type::kError, .text = std::move(s)}; }
  static Reply array(std::vector<Reply> e) {
    return {.type = Type::kArray, .elements = std::move(e)};
  }
  bool is_error() const { return type == Type::kError; }

  void append_to(std::string& out) const;
  // For traces: in one line, cut where it becomes long.
  std::string brief() const;
};

}  // namespace lockc::sim
