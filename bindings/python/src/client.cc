#include "client.h"

#include <pybind11/pybind11.h>

#include "error.h"
#include "gil.h"
#include "slice.h"

namespace lockc::python {

namespace py = pybind11;

namespace {

// A signal that came while the request was answered is handled here. Later, in the interpreter, its
// exception would leave a grant that nobody has.
std::shared_ptr<Grant> hand_out(lockc_lock* lock, const std::string& key,
                                const std::shared_ptr<Losses>& losses) {
  auto grant = std::make_shared<Grant>(lock, key, losses);
  if (PyErr_CheckSignals() == 0) return grant;
  grant->end();
  throw py::error_already_set();
}

}  // namespace

// A queue for one acquire at a time. It goes back to its client when nothing is outstanding; else
// it is closed, which cancels the request and gives back a late grant. Its destructor needs no
// interpreter: it also runs where a finalizing one unwinds the thread.
class Client::Borrowed {
 public:
  explicit Borrowed(Client& client) : client_(client) {
    if (client.idle_.empty()) {
      queue_ = client.open_queue();
    } else {
      queue_ = std::move(client.idle_.back());
      client.idle_.pop_back();
    }
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

  lockc_queue* get() const { return queue_.get(); }

  void close() { queue_.reset(); }
  void give_back() {
    if (!client_.closed()) client_.idle_.push_back(std::move(queue_));
  }

 private:
  Client& client_;
  QueuePtr queue_;
};

Client::Client(const char* url, const lockc_client_options& options) {
  lockc_client* client = nullptr;
  lockc_error* raw = nullptr;
  const lockc_status status = lockc_client_open(&client, url, &options, &raw);
  const ErrorPtr error(raw);
  if (status != LOCKC_OK) raise(status, error, nullptr);
  handle_ = std::shared_ptr<lockc_client>(client, lockc_client_close);
}

Client::~Client() { close(); }

void Client::close() {
  if (handle_ == nullptr) return;
  std::shared_ptr<lockc_client> last = std::move(handle_);
  std::vector<QueuePtr> idle = std::move(idle_);
  std::shared_ptr<Losses> losses = std::move(losses_);
  without_gil([&] {
    idle.clear();
    losses.reset();
    last.reset();
  });
}

std::shared_ptr<lockc_client> Client::handle() const {
  if (handle_ == nullptr) raise(LOCKC_E_CLOSED, "the client is closed", nullptr);
  return handle_;
}

QueuePtr Client::open_queue() {
  std::shared_ptr<lockc_client> client = handle();
  lockc_queue* queue = nullptr;
  lockc_error* raw = nullptr;
  const lockc_status status = without_gil([&] {
    const lockc_status opened = lockc_queue_open(&queue, client.get(), &raw);
    client.reset();
    return opened;
  });
  const ErrorPtr error(raw);
  if (status != LOCKC_OK) raise(status, error, nullptr);
  return QueuePtr(queue);
}

void Client::connect(int64_t timeout_ms) {
  std::shared_ptr<lockc_client> client = handle();
  lockc_error* raw = nullptr;
  const lockc_status status = without_gil([&] {
    const lockc_status connected = lockc_client_connect(client.get(), timeout_ms, &raw);
    client.reset();
    return connected;
  });
  const ErrorPtr error(raw);
  if (status != LOCKC_OK) raise(status, error, nullptr);
}

std::string Client::inspect(const std::string& key) {
  std::shared_ptr<lockc_client> client = handle();
  lockc_text* text = nullptr;
  lockc_error* raw = nullptr;
  const lockc_status status = without_gil([&] {
    const lockc_status inspected =
        lockc_client_inspect(&text, client.get(), key.data(), key.size(), &raw);
    client.reset();
    return inspected;
  });
  const ErrorPtr error(raw);
  if (status != LOCKC_OK) raise(status, error, &key);
  std::string json = lockc_text_data(text);
  lockc_text_free(text);
  return json;
}

std::shared_ptr<Grant> Client::acquire(const Request& request, int64_t wait_ms) {
  for (bool again = true;; again = false) {
    if (losses_ == nullptr) losses_ = std::make_shared<Losses>(open_queue());
    const std::shared_ptr<Losses> losses = losses_;
    Borrowed queue(*this);
    lockc_lock* lock = nullptr;
    ErrorPtr error;
    const lockc_status status = take(queue, request, wait_ms, losses->queue(), &lock, error);
    if (status == LOCKC_OK) return hand_out(lock, request.key, losses);
    if (status != LOCKC_E_FORKED || !again) raise(status, error, &request.key);
    forget_queues();  // they are the parent's
  }
}

lockc_status Client::take(Borrowed& queue, const Request& request, int64_t wait_ms,
                          lockc_queue* events, lockc_lock** lock, ErrorPtr& error) {
  const lockc_acquire_options options = request.options_for(wait_ms, events, 0);
  lockc_error* raw = nullptr;
  lockc_status status = without_gil([&] {
    return lockc_queue_acquire(queue.get(), 0, lock, request.key.data(), request.key.size(),
                               &options, &raw);
  });
  error.reset(raw);
  while (status == LOCKC_PENDING) {
    lockc_completion done;
    const int32_t taken =
        without_gil([&] { return lockc_queue_poll(queue.get(), &done, 1, kSliceMs); });
    if (taken < 0) return taken;
    if (taken == 1) {
      status = done.status;
      *lock = done.lock;
      error.reset(done.error);
    } else if (PyErr_CheckSignals() != 0) {
      const py::error_already_set interruption;
      without_gil([&] { queue.close(); });
      throw interruption;
    }
  }
  if (status != LOCKC_E_FORKED) queue.give_back();
  return status;
}

void Client::forget_queues() {
  idle_.clear();
  losses_.reset();
}

}  // namespace lockc::python
