// lockc_client_*: opening, connecting, closing and inspecting.
#include <cstdlib>
#include <memory>

#include "guard.h"
#include "handles.h"
#include "options.h"

using lockc::Client;
using lockc::ClientOptions;
using lockc::Error;
using lockc::Millis;
using lockc::Result;
using lockc::Status;
using lockc::capi::core_of;
using lockc::capi::guard;
using lockc::capi::null_error;
using lockc::capi::OfProcess;
using lockc::capi::read_subject;

namespace {

constexpr const char* kDefaultUrl = "redis://127.0.0.1:6379";

template <class T>
T or_default(T given, T otherwise) {
  return given == T{} ? otherwise : given;
}

Result<ClientOptions> read_options(const char* url, const lockc_client_options* given) {
  const auto options = lockc::capi::copy_options(given, "lockc_client_options");
  if (!options) return options.error();
  if (url == nullptr) {
    url = std::getenv("LOCKC_URL");
    if (url == nullptr || *url == '\0') url = kDefaultUrl;
  }
  auto endpoint = lockc::Endpoint::parse(url);
  if (!endpoint) return endpoint.error();
  if (options->username != nullptr) endpoint->username = options->username;
  if (options->password != nullptr) endpoint->password = options->password;

  const ClientOptions defaults;
  ClientOptions read;
  read.endpoint = *endpoint;
  const auto millis = [](auto value, Millis otherwise) {
    return or_default(Millis(static_cast<int64_t>(value)), otherwise);
  };
  read.connect_timeout = millis(options->connect_timeout_ms, defaults.connect_timeout);
  read.reply_timeout = millis(options->reply_timeout_ms, defaults.reply_timeout);
  read.max_waiters = options->max_waiters;
  if (options->key_prefix != nullptr) read.key_prefix = options->key_prefix;
  if (options->client_name != nullptr) read.client_name = options->client_name;
  read.default_ttl = millis(options->default_ttl_ms, defaults.default_ttl);
  read.renew_every = Millis(options->renew_every_ms);
  read.fence_retention = millis(options->fence_retention_ms, defaults.fence_retention);
  read.renew_batch = or_default(options->renew_batch, defaults.renew_batch);
  read.handover_max = or_default(options->handover_max, defaults.handover_max);
  read.handover_time = millis(options->handover_ms, defaults.handover_time);
  read.spin_min = millis(options->spin_min_ms, defaults.spin_min);
  read.spin_max = millis(options->spin_max_ms, std::max(defaults.spin_max, read.spin_min));
  read.log_fd = options->log_fd;
  const auto checked = read.check();
  if (!checked) return checked.error();
  return read;
}

}  // namespace

Result<std::shared_ptr<Client>> lockc_client::get() {
  auto* mine = core.load(std::memory_order_acquire);
  if (mine != nullptr && !mine->is_inherited()) return **mine;
  auto opened = Client::open(options);
  if (!opened) return opened.error();
  auto fresh = std::make_unique<OfProcess<std::shared_ptr<Client>>>(*opened);
  // Of several threads that come here at once, one wins. What was inherited stays as it is.
  if (core.compare_exchange_strong(mine, fresh.get(), std::memory_order_acq_rel)) {
    return **fresh.release();
  }
  return **mine;
}

lockc_status lockc_client_open(lockc_client** out, const char* url,
                               const lockc_client_options* opts, lockc_error** err) {
  return guard(err, [&]() -> Error {
    if (out == nullptr) return null_error("out");
    *out = nullptr;
    auto options = read_options(url, opts);
    if (!options) return options.error();
    auto client = std::make_unique<lockc_client>(std::move(*options));
    const auto core = client->get();
    if (!core) return core.error();
    *out = client.release();
    return {};
  });
}

lockc_status lockc_client_connect(lockc_client* client, int64_t timeout_ms, lockc_error** err) {
  return guard(err, [&]() -> Error {
    const auto core = core_of(client);
    if (!core) return core.error();
    if (timeout_ms < 0) return {Status::kInvalid, "timeout_ms is negative"};
    return (*core)->connect(Millis(timeout_ms));
  });
}

void lockc_client_close(lockc_client* client) {
  if (client == nullptr) return;
  guard([&] {
    auto* core = client->core.load(std::memory_order_acquire);
    if (core != nullptr && !core->is_inherited()) (**core)->close();
  });
  delete client;
}

lockc_status lockc_client_inspect(lockc_text** out, lockc_client* client, const char* key,
                                  size_t key_len, lockc_error** err) {
  return guard(err, [&]() -> Error {
    if (out == nullptr) return null_error("out");
    *out = nullptr;
    const auto subject = read_subject(client, key, key_len);
    if (!subject) return subject.error();
    auto text = subject->client->inspect(subject->key);
    if (!text) return text.error();
    *out = new lockc_text{std::move(*text)};
    return {};
  });
}
