// lockc_client_read, lockc_client_write and lockc_record_*: data that refuses a late writer.
#include "guard.h"
#include "handles.h"
#include "options.h"

using lockc::Error;
using lockc::Record;
using lockc::RecordWrite;
using lockc::Result;
using lockc::Status;
using lockc::Ttl;
using lockc::capi::guard;
using lockc::capi::null_error;
using lockc::capi::read_subject;

static_assert(LOCKC_RECORD_MAX_VALUE == Record::kMaxValue);

namespace {

Error invalid(std::string what) { return {Status::kInvalid, std::move(what)}; }

Result<RecordWrite> read_write(const void* value, size_t value_len,
                               const lockc_write_options* given) {
  const auto options = lockc::capi::copy_options(given, "lockc_write_options");
  if (!options) return options.error();
  if (value == nullptr && value_len > 0) return null_error("value");
  if (value_len > Record::kMaxValue) {
    return invalid("the value has " + std::to_string(value_len) + " bytes, more than " +
                   std::to_string(Record::kMaxValue));
  }
  const bool conditional = (options->flags & LOCKC_IF_VERSION) != 0;
  if ((options->flags & ~uint32_t{LOCKC_IF_VERSION}) != 0) {
    return invalid("flags has a bit that this version does not know");
  }
  if (options->version != 0 && !conditional) return invalid("version is for LOCKC_IF_VERSION only");
  if (options->version > Record::kMaxNumber) return invalid("version is not below 2^53");
  if (options->token > Record::kMaxNumber) return invalid("token is not below 2^53");

  RecordWrite write;
  write.token = {options->token};
  if (conditional) write.version = options->version;
  if (options->ttl_ms != 0) {
    const auto ttl = Ttl::make(options->ttl_ms);
    if (!ttl) return ttl.error();
    write.ttl = *ttl;
  }
  write.value.assign(static_cast<const char*>(value), value_len);
  return write;
}

}  // namespace

lockc_status lockc_client_write(uint64_t* version, lockc_client* client, const char* key,
                                size_t key_len, const void* value, size_t value_len,
                                const lockc_write_options* opts, lockc_error** err) {
  return guard(err, [&]() -> Error {
    if (version != nullptr) *version = 0;
    const auto subject = read_subject(client, key, key_len);
    if (!subject) return subject.error();
    auto write = read_write(value, value_len, opts);
    if (!write) return write.error();
    const auto written = subject->client->write(subject->key, std::move(*write));
    if (!written) return written.error();
    if (version != nullptr) *version = *written;
    return {};
  });
}

lockc_status lockc_client_read(lockc_record** out, lockc_client* client, const char* key,
                               size_t key_len, lockc_error** err) {
  return guard(err, [&]() -> Error {
    if (out == nullptr) return null_error("out");
    *out = nullptr;
    const auto subject = read_subject(client, key, key_len);
    if (!subject) return subject.error();
    auto record = subject->client->read(subject->key);
    if (!record) return record.error();
    *out = new lockc_record{std::move(*record)};
    return {};
  });
}

const char* lockc_record_value(const lockc_record* record, size_t* len) {
  if (len != nullptr) *len = record == nullptr ? 0 : record->record.value.size();
  return record == nullptr ? "" : record->record.value.c_str();
}

uint64_t lockc_record_version(const lockc_record* record) {
  return record == nullptr ? 0 : record->record.version;
}

uint64_t lockc_record_token(const lockc_record* record) {
  return record == nullptr ? 0 : record->record.token.value;
}

void lockc_record_free(lockc_record* record) { delete record; }
