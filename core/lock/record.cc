#include "lock/record.h"

#include <array>
#include <utility>

#include "lock/operation.h"
#include "lock/scripts.h"

namespace lockc {
namespace {

using resp::View;

Result<Record> read_record(View reply) {
  if (reply.size() != 3 || reply[2].type() != View::Type::kString) {
    return unexpected(scripts::record_read);
  }
  return Record{std::string(reply[2].text()), reply[0].number(), {reply[1].number()}};
}

Result<uint64_t> read_written(View reply) {
  switch (reply[0].integer(-1)) {
    case 1:
      if (reply[1].number() == 0) break;
      return reply[1].number();
    case 2:
      return Error{Status::kStale, {}};
    case 3:
      return Error{Status::kConflict, {}};
    default:
      break;
  }
  return unexpected(scripts::record_write);
}

// Errors with the key in their message.
template <class T>
Then<T> telling(const Key& key, Then<T> then) {
  return [key, then = std::move(then)](const Result<T>& answer) {
    then(answer ? answer : about(key, answer.error()));
  };
}

}  // namespace

void RecordStore::read(const Key& key, Then<Record> then) {
  const auto ask = [this, key](Then<Record> answered) {
    const std::string most = std::to_string(Record::kMaxValue);
    node_.run(scripts::record_read, std::array<std::string_view, 1>{key.text()},
              std::array<std::string_view, 1>{most}, {route_, nullptr},
              reading<Record>(&read_record, std::move(answered)));
  };
  ask_anew<Record>(ask, telling(key, std::move(then)));
}

void RecordStore::write(const Key& key, RecordWrite write, Then<uint64_t> then) {
  const auto wanted = std::make_shared<const RecordWrite>(std::move(write));
  const auto ask = [this, key, wanted](Then<uint64_t> answered) {
    const std::string token = std::to_string(wanted->token.value);
    const std::string version = wanted->version ? std::to_string(*wanted->version) : "";
    const std::string ttl = std::to_string(wanted->ttl ? wanted->ttl->millis().count() : 0);
    node_.run(scripts::record_write, std::array<std::string_view, 1>{key.text()},
              std::array<std::string_view, 4>{wanted->value, token, version, ttl},
              {route_, nullptr}, reading<uint64_t>(&read_written, std::move(answered)));
  };
  ask_anew<uint64_t>(ask, telling(key, std::move(then)));
}

}  // namespace lockc
