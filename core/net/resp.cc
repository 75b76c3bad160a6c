#include "net/resp.h"

#include <hiredis/hiredis.h>

#include <charconv>
#include <cstring>
#include <new>

namespace lockc::resp {
namespace {

constexpr size_t kMaxElements = 4'096;
constexpr size_t kMaxUnread = size_t{16} << 20U;

const redisReply* as_reply(const void* node) { return static_cast<const redisReply*>(node); }
redisReader* as_reader(void* reader) { return static_cast<redisReader*>(reader); }

// hiredis' own way to build replies: what redisReaderCreate sets up.
const redisReplyObjectFunctions& default_functions() {
  static const auto functions = [] {
    redisReader* plain = redisReaderCreate();
    if (plain == nullptr) throw std::bad_alloc();
    const redisReplyObjectFunctions copy = *plain->fn;
    redisReaderFree(plain);
    return copy;
  }();
  return functions;
}

// Counts the elements of all arrays of one reply, as they are announced: nested ones could
// multiply. The type of the second parameter differs between hiredis 0.14 and 1.x. nullptr is "out
// of memory" to hiredis, a final error.
template <class Elements>
void* create_bounded_array(const redisReadTask* task, Elements elements) {
  auto& left = *static_cast<size_t*>(task->privdata);
  if (static_cast<size_t>(elements) > left) return nullptr;
  left -= static_cast<size_t>(elements);
  return default_functions().createArray(task, elements);
}

redisReplyObjectFunctions* bounded_functions() {
  static redisReplyObjectFunctions functions = [] {
    redisReplyObjectFunctions copy = default_functions();
    copy.createArray = &create_bounded_array;
    return copy;
  }();
  return &functions;
}

constexpr size_t kMostOfAHeader = 24;  // kind, 20 digits, CRLF

char* put(char* at, std::string_view text) {
  std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

char* put_header(char* at, char kind, size_t number) {
  *at++ = kind;
  if (number < 10) {
    *at++ = static_cast<char>('0' + number);
  } else {
    at = std::to_chars(at, at + kMostOfAHeader, number).ptr;
  }
  return put(at, "\r\n");
}

template <class Number>
Number parse_number(std::string_view text, Number otherwise) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : otherwise;
}

}  // namespace

// Room for the longest that it can be, and every byte is written once.
void append_request(std::string& out, std::span<const std::string_view> arguments) {
  const size_t begin = out.size();
  size_t most = begin + kMostOfAHeader;
  for (const std::string_view argument : arguments) most += argument.size() + kMostOfAHeader + 2;
  out.resize(most);
  char* at = put_header(out.data() + begin, '*', arguments.size());
  for (const std::string_view argument : arguments) {
    at = put_header(at, '$', argument.size());
    at = put(put(at, argument), "\r\n");
  }
  out.resize(static_cast<size_t>(at - out.data()));
}

View::Type View::type() const {
  if (node_ == nullptr) return Type::kNil;
  switch (as_reply(node_)->type) {
    case REDIS_REPLY_STATUS:
      return Type::kStatus;
    case REDIS_REPLY_ERROR:
      return Type::kError;
    case REDIS_REPLY_INTEGER:
      return Type::kInteger;
    case REDIS_REPLY_STRING:
      return Type::kString;
    case REDIS_REPLY_ARRAY:
      return Type::kArray;
    default:
      return Type::kNil;
  }
}

std::string_view View::text() const {
  const Type kind = type();
  if (kind != Type::kStatus && kind != Type::kError && kind != Type::kString) return {};
  return {as_reply(node_)->str, static_cast<size_t>(as_reply(node_)->len)};
}

int64_t View::integer(int64_t otherwise) const {
  if (type() == Type::kInteger) return as_reply(node_)->integer;
  return parse_number(text(), otherwise);
}

uint64_t View::number(uint64_t otherwise) const {
  if (type() == Type::kInteger && as_reply(node_)->integer >= 0) {
    return static_cast<uint64_t>(as_reply(node_)->integer);
  }
  return parse_number(text(), otherwise);
}

size_t View::size() const { return type() == Type::kArray ? as_reply(node_)->elements : 0; }

View View::operator[](size_t index) const {
  return View(index < size() ? as_reply(node_)->element[index] : nullptr);
}

void Reply::free_reply(void* reply) { freeReplyObject(reply); }

Parser::Parser()
    : reader_(redisReaderCreateWithFunctions(bounded_functions()), &free_reader),
      elements_left_(kMaxElements) {
  if (reader_ == nullptr) throw std::bad_alloc();
  as_reader(reader_.get())->privdata = &elements_left_;
}

void Parser::free_reader(void* reader) { redisReaderFree(as_reader(reader)); }

Result<std::monostate> Parser::feed(std::string_view bytes) {
  unread_ += bytes.size();
  if (unread_ > kMaxUnread) return Error{Status::kServer, "a reply is longer than 16 MiB"};
  redisReader* reader = as_reader(reader_.get());
  if (redisReaderFeed(reader, bytes.data(), bytes.size()) != REDIS_OK) {
    return Error{Status::kServer, std::string("protocol error: ") + reader->errstr};
  }
  return std::monostate{};
}

Result<std::optional<Reply>> Parser::next() {
  redisReader* reader = as_reader(reader_.get());
  void* reply = nullptr;
  if (redisReaderGetReply(reader, &reply) != REDIS_OK) {
    return Error{Status::kServer, std::string("protocol error: ") + reader->errstr};
  }
  if (reply == nullptr) return std::optional<Reply>();
  unread_ = reader->len - reader->pos;
  elements_left_ = kMaxElements;
  return std::optional<Reply>(std::in_place, reply);
}

}  // namespace lockc::resp
