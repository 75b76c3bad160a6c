// A reader of JSON, as much as the answer of an inspection needs: whole numbers, no depth
// beyond 16.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lockc::cli {

class JsonError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Json {
  using Array = std::vector<Json>;
  using Object = std::map<std::string, Json, std::less<>>;
  std::variant<std::nullptr_t, bool, int64_t, std::string, Array, Object> value;

  bool is_null() const { return value.index() == 0; }
  // These throw JsonError where the value is of another type.
  bool truth() const { return as<bool>(); }
  int64_t number() const { return as<int64_t>(); }
  const std::string& text() const { return as<std::string>(); }
  const Array& array() const { return as<Array>(); }
  // A member of an object; null where it is missing.
  const Json& operator[](std::string_view name) const;

 private:
  template <class T>
  const T& as() const {
    if (const T* held = std::get_if<T>(&value)) return *held;
    throw JsonError("unexpected type in JSON");
  }
};

// Throws JsonError.
Json parse_json(std::string_view text);

}  // namespace lockc::cli
