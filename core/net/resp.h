// RESP2, the servers' wire format: writing requests and reading replies. resp.cc alone knows
// hiredis, which reads. Writing is our own: hiredis' formatter took 43 % of the instructions of an
// uncontended pair (callgrind). One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace lockc::resp {

// Appends one request, an array of bulk strings, to out.
void append_request(std::string& out, std::span<const std::string_view> arguments);

// One reply, or a part of one: a view that lives as long as the Reply it came from.
class View {
 public:
  enum class Type { kNil, kStatus, kError, kInteger, kString, kArray };

  Type type() const;
  bool is_error() const { return type() == Type::kError; }
  // The text of a status, error or string; "" for other types.
  std::string_view text() const;
  // The value of an integer, or of a text that is a decimal number; else `otherwise`.
  int64_t integer(int64_t otherwise = 0) const;
  uint64_t number(uint64_t otherwise = 0) const;  // the same for tokens, which travel as texts
  size_t size() const;                            // elements of an array; 0 for other types
  View operator[](size_t index) const;            // nil beyond the end

 private:
  friend class Reply;
  explicit View(const void* node) : node_(node) {}
  const void* node_;
};

// A whole reply and its memory.
class Reply {
 public:
  explicit Reply(void* owned) : owned_(owned, &free_reply) {}
  View view() const { return View(owned_.get()); }

 private:
  static void free_reply(void* reply);
  std::unique_ptr<void, void (*)(void*)> owned_;
};

// Cuts replies out of a stream of bytes. Bounded against hostile servers: the arrays of a reply
// have at most 4,096 elements together (a length alone would reserve memory), unread input is at
// most 16 MiB.
class Parser {
 public:
  Parser();
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  // Errors are final: the stream has lost its frame.
  Result<std::monostate> feed(std::string_view bytes);
  // The next whole reply; none if more bytes are needed.
  Result<std::optional<Reply>> next();

 private:
  static void free_reader(void* reader);
  std::unique_ptr<void, void (*)(void*)> reader_;
  size_t unread_ = 0;
  size_t elements_left_;  // of the reply that is being read
};

}  // namespace lockc::resp
