// Client's reading and writing of records.
#include "client.h"
#include "gil.h"

namespace lockc::python {
namespace {

struct RecordFree {
  void operator()(lockc_record* record) const { lockc_record_free(record); }
};

}  // namespace

Record Client::read(const std::string& key) {
  std::shared_ptr<lockc_client> client = handle();
  lockc_record* raw_record = nullptr;
  lockc_error* raw_error = nullptr;
  const lockc_status status = without_gil([&] {
    const lockc_status told =
        lockc_client_read(&raw_record, client.get(), key.data(), key.size(), &raw_error);
    client.reset();
    return told;
  });
  const ErrorPtr error(raw_error);
  const std::unique_ptr<lockc_record, RecordFree> record(raw_record);
  if (status != LOCKC_OK) raise(status, error, &key);
  size_t size = 0;
  const char* value = lockc_record_value(raw_record, &size);
  return {std::string(value, size), lockc_record_version(raw_record),
          lockc_record_token(raw_record)};
}

uint64_t Client::write(const std::string& key, const std::string& value,
                       const lockc_write_options& options) {
  std::shared_ptr<lockc_client> client = handle();
  uint64_t version = 0;
  lockc_error* raw_error = nullptr;
  const lockc_status status = without_gil([&] {
    const lockc_status told = lockc_client_write(&version, client.get(), key.data(), key.size(),
                                                 value.data(), value.size(), &options, &raw_error);
    client.reset();
    return told;
  });
  const ErrorPtr error(raw_error);
  if (status != LOCKC_OK) raise(status, error, &key);
  return version;
}

}  // namespace lockc::python
