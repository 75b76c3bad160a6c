#include "base/json.h"

#include <cstddef>

namespace lockc::json {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD
constexpr std::string_view kHex = "0123456789abcdef";

unsigned byte(std::string_view text, size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
}

// How many bytes the character at the beginning has; 0: they are not UTF-8 (RFC 3629, section 4).
size_t character_size(std::string_view text) {
  const unsigned lead = byte(text, 0);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  // The second byte says whether it is too long a form, a surrogate, or beyond U+10FFFF.
  const unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (byte(text, 1) < low || byte(text, 1) > high) return 0;
  const size_t size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  for (size_t at = 2; at < size; ++at) {
    if ((byte(text, at) & 0xc0U) != 0x80) return 0;
  }
  return size;
}

void append_ascii(std::string& out, char c) {
  if (c == '"' || c == '\\') {
    out.append({'\\', c});
  } else if (static_cast<unsigned char>(c) >= 0x20) {
    out.push_back(c);
  } else {
    const auto code = static_cast<unsigned char>(c);
    out.append("\\u00").append({kHex[code / 16], kHex[code % 16]});
  }
}

}  // namespace

std::string text(std::string_view bytes) {
  std::string out = "\"";
  while (!bytes.empty()) {
    const size_t size = character_size(bytes);
    if (size == 1) {
      append_ascii(out, bytes.front());
    } else {
      out.append(size == 0 ? kReplacement : bytes.substr(0, size));
    }
    bytes.remove_prefix(size == 0 ? 1 : size);
  }
  return out += '"';
}

Object& Object::add(std::string_view name, std::string_view value) {
  if (!members_.empty()) members_ += ',';
  members_.append(text(name)).append(1, ':').append(value);
  return *this;
}

}  // namespace lockc::json
