#include "args.h"

#include <charconv>
#include <cmath>

namespace lockc::cli {
namespace {

struct Unit {
  std::string_view name;
  double millis;
};
constexpr Unit kUnits[] = {{"", 1e3}, {"ms", 1}, {"s", 1e3}, {"m", 60e3}, {"h", 3600e3}};

// Far above every limit of the library, far below the end of int64_t.
constexpr double kLongest = 9007199254740992.0;

std::optional<Millis> parse_duration(std::string_view text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;  // no sign, no "inf"
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (parsed.ec != std::errc()) return std::nullopt;
  const std::string_view suffix(parsed.ptr, static_cast<size_t>(end - parsed.ptr));
  for (const Unit& unit : kUnits) {
    if (suffix != unit.name) continue;
    const double millis = std::ceil(number * unit.millis);
    if (millis > kLongest) return std::nullopt;
    return Millis(static_cast<int64_t>(millis));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> Words::option() {
  if (attached_) throw UsageError(std::string(option_) + " takes no value");
  if (options_over_ || *next_ == nullptr) return std::nullopt;
  const std::string_view word = *next_;
  if (word.size() < 2 || word[0] != '-') return std::nullopt;
  ++next_;
  if (word == "--") {
    options_over_ = true;
    return std::nullopt;
  }
  const size_t equals = word.find('=');
  option_ = word.substr(0, equals);
  if (equals != std::string_view::npos) attached_ = word.substr(equals + 1);
  return option_;
}

std::string_view Words::value() {
  if (attached_) {
    const std::string_view value = *attached_;
    attached_.reset();
    return value;
  }
  if (*next_ == nullptr) throw UsageError(std::string(option_) + " needs a value");
  return *next_++;
}

Millis Words::duration() {
  const std::string_view text = value();
  if (const auto millis = parse_duration(text)) return *millis;
  throw UsageError(std::string(option_) + " \"" + std::string(text) +
                   "\" is no duration: write 500ms, 10s, 5m, 1h, or a number of seconds");
}

uint64_t Words::number() {
  const std::string_view text = value();
  const char* const end = text.data() + text.size();
  uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec == std::errc() && parsed.ptr == end) return number;
  throw UsageError(std::string(option_) + " \"" + std::string(text) + "\" is no whole number");
}

void Words::unknown_option() const { throw UsageError("unknown option " + std::string(option_)); }

std::optional<std::string_view> Words::operand() {
  if (*next_ == nullptr) return std::nullopt;
  return *next_++;
}

}  // namespace lockc::cli
