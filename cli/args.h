// The words of a command line, read one by one, and the complaints about them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lockc::cli {

using Millis = std::chrono::milliseconds;

// What is wrong with the command line; ends in a usage error.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Options are "--name", "--name value" or "--name=value"; "--" ends them.
class Words {
 public:
  // argv ends with a null pointer and outlives the reader.
  explicit Words(char** argv) : next_(argv) {}

  // The next option with its dashes, or nothing where an operand, "--" or the end comes next.
  std::optional<std::string_view> option();
  // The value of the option just read.
  std::string_view value();
  // The value as a duration: "500ms", "10s", "5m", "1h"; a bare number counts seconds.
  Millis duration();
  // The value as a whole number: digits and nothing else.
  uint64_t number();
  // Complains about the option just read.
  [[noreturn]] void unknown_option() const;

  // The next operand; nothing at the end.
  std::optional<std::string_view> operand();
  // All that is left, with the null pointer at the end.
  char** rest() { return next_; }

 private:
  char** next_;
  bool options_over_ = false;
  std::string_view option_;
  std::optional<std::string_view> attached_;  // the "value" of "--name=value", until it is taken
};

}  // namespace lockc::cli
