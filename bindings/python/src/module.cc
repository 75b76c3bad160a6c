// lockc._core: what the Python package needs of the C ABI. Its interface is in lockc/_core.pyi; all
// arguments arrive checked, in the units of the ABI.
#include <lockc/lockc.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>

#include "client.h"
#include "fence.h"
#include "grant.h"
#include "lock.h"
#include "queue.h"
#include "request.h"

namespace lockc::python {
namespace {

namespace py = pybind11;
using py::literals::operator""_a;
using Text = std::optional<std::string>;

const char* c_str(const Text& text) { return text.has_value() ? text->c_str() : nullptr; }

std::shared_ptr<Client> make_client(const Text& url, const Text& username, const Text& password,
                                    const Text& key_prefix, const Text& client_name,
                                    uint32_t connect_timeout_ms, uint32_t reply_timeout_ms,
                                    uint32_t max_waiters, int64_t default_ttl_ms,
                                    int64_t renew_every_ms, int64_t fence_retention_ms,
                                    uint32_t renew_batch, uint32_t handover_max,
                                    uint32_t handover_ms, uint32_t spin_min_ms,
                                    uint32_t spin_max_ms, int32_t log_fd) {
  lockc_client_options options{};
  options.struct_size = sizeof options;
  options.connect_timeout_ms = connect_timeout_ms;
  options.reply_timeout_ms = reply_timeout_ms;
  options.max_waiters = max_waiters;
  options.key_prefix = c_str(key_prefix);
  options.client_name = c_str(client_name);
  options.username = c_str(username);
  options.password = c_str(password);
  options.default_ttl_ms = default_ttl_ms;
  options.renew_every_ms = renew_every_ms;
  options.fence_retention_ms = fence_retention_ms;
  options.renew_batch = renew_batch;
  options.handover_max = handover_max;
  options.handover_ms = handover_ms;
  options.spin_min_ms = spin_min_ms;
  options.spin_max_ms = spin_max_ms;
  options.log_fd = log_fd;
  return std::make_shared<Client>(c_str(url), options);
}

std::shared_ptr<Request> make_request(const py::bytes& key, int64_t ttl_ms,
                                      std::optional<bool> renew, bool fair, uint64_t owner,
                                      int64_t max_hold_ms, bool spin, uint32_t max_tries,
                                      bool fenced, bool permissive) {
  lockc_acquire_options options{};
  options.struct_size = sizeof options;
  options.kind = fair ? LOCKC_FAIR : LOCKC_EXCLUSIVE;
  options.ttl_ms = ttl_ms;
  options.max_hold_ms = max_hold_ms;
  options.owner = owner;
  options.max_tries = max_tries;
  if (renew.has_value()) options.flags |= *renew ? LOCKC_RENEW : LOCKC_NO_RENEW;
  if (spin) options.flags |= LOCKC_SPIN;
  if (!fenced) options.flags |= LOCKC_UNFENCED;
  if (permissive) options.flags |= LOCKC_PERMISSIVE;
  return std::make_shared<Request>(Request{std::string(key), options});
}

uint64_t write_record(Client& client, const py::bytes& key, const py::bytes& value, uint64_t token,
                      std::optional<uint64_t> version, int64_t ttl_ms) {
  lockc_write_options options{};
  options.struct_size = sizeof options;
  if (version.has_value()) options.flags |= LOCKC_IF_VERSION;
  options.version = version.value_or(0);
  options.token = token;
  options.ttl_ms = ttl_ms;
  return client.write(key, value, options);
}

void bind_client(py::module_& module) {
  py::class_<Client, std::shared_ptr<Client>>(module, "Client")
      .def(py::init(&make_client), "url"_a, py::kw_only(), "username"_a, "password"_a,
           "key_prefix"_a, "client_name"_a, "connect_timeout_ms"_a, "reply_timeout_ms"_a,
           "max_waiters"_a, "default_ttl_ms"_a, "renew_every_ms"_a, "fence_retention_ms"_a,
           "renew_batch"_a, "handover_max"_a, "handover_ms"_a, "spin_min_ms"_a, "spin_max_ms"_a,
           "log_fd"_a)
      .def("connect", &Client::connect, "timeout_ms"_a)
      .def(
          "inspect",
          [](Client& client, const py::bytes& key) { return py::bytes(client.inspect(key)); },
          "key"_a)
      .def(
          "read",
          [](Client& client, const py::bytes& key) {
            const Record record = client.read(key);
            return py::make_tuple(py::bytes(record.value), record.version, record.token);
          },
          "key"_a)
      .def("write", &write_record, "key"_a, "value"_a, py::kw_only(), "token"_a, "version"_a,
           "ttl_ms"_a)
      .def("close", &Client::close)
      .def_property_readonly("closed", &Client::closed);

  py::class_<Request, std::shared_ptr<Request>>(module, "Request")
      .def(py::init(&make_request), "key"_a, py::kw_only(), "ttl_ms"_a, "renew"_a, "fair"_a,
           "owner"_a, "max_hold_ms"_a, "spin"_a, "max_tries"_a, "fenced"_a, "permissive"_a)
      .def_property_readonly("key", [](const Request& request) { return py::bytes(request.key); });
}

void bind_fence(py::module_& module) {
  py::class_<Fence>(module, "Fence")
      .def(py::init<>())
      .def("check", &Fence::check, "token"_a)
      .def_property_readonly("token", &Fence::token);
}

void bind_locks(py::module_& module) {
  py::class_<Grant, std::shared_ptr<Grant>>(module, "Grant")
      .def_property_readonly("key", [](const Grant& grant) { return py::bytes(grant.key()); })
      .def_property_readonly("token", &Grant::token)
      .def_property_readonly("owner", &Grant::owner)
      .def_property_readonly("remaining_ms", &Grant::remaining_ms)
      .def_property_readonly("lost_reason", &Grant::lost_reason)
      .def_property_readonly("is_lost", &Grant::is_lost)
      .def_property_readonly("is_ended", &Grant::is_ended)
      .def("wait_lost", &Grant::wait_lost, "timeout_ms"_a)
      .def("extend", &Grant::extend, "ttl_ms"_a)
      .def("release", &Grant::release)
      .def("release_nowait", &Grant::release_nowait)
      .def("discard", &Grant::end);

  py::class_<Lock>(module, "Lock")
      .def(py::init<std::shared_ptr<Client>, std::shared_ptr<Request>>(), "client"_a, "request"_a)
      .def_property_readonly("key", [](const Lock& lock) { return py::bytes(lock.key()); })
      .def_property_readonly("grant", &Lock::grant)
      .def("acquire", &Lock::acquire, "wait_ms"_a);
}

void bind_queue(py::module_& module) {
  py::class_<Queue>(module, "Queue")
      .def(py::init<Client&>(), "client"_a)
      .def("fileno", &Queue::fileno)
      .def("acquire", &Queue::acquire, "tag"_a, "request"_a, "wait_ms"_a)
      .def("extend", &Queue::extend, "tag"_a, "grant"_a, "ttl_ms"_a)
      .def("release", &Queue::release, "tag"_a, "grant"_a)
      .def("cancel", &Queue::cancel, "tag"_a)
      .def("poll", &Queue::poll);
  module.attr("EVENT_LOST") = py::int_(static_cast<int>(LOCKC_EVENT_LOST));
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  bind_client(module);
  bind_fence(module);
  bind_locks(module);
  bind_queue(module);
  module.def("version", &lockc_version);
  module.def("status_name", &lockc_status_name, "status"_a);
}

}  // namespace lockc::python
