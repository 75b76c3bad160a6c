// A client as Python sees it: the handle of the C ABI and what its blocking acquires need.
#pragma once

#include <lockc/lockc.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "error.h"
#include "grant.h"
#include "losses.h"
#include "request.h"

namespace lockc::python {

struct Record {
  std::string value;
  uint64_t version;
  uint64_t token;
};

// Every method needs the GIL, which also guards the members; calls that may block release it.
class Client {
 public:
  Client(const char* url, const lockc_client_options& options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void connect(int64_t timeout_ms);
  // One JSON object.
  std::string inspect(const std::string& key);
  Record read(const std::string& key);
  // Returns the new version.
  uint64_t write(const std::string& key, const std::string& value,
                 const lockc_write_options& options);
  // Ends the handle once no call uses it any more; may be repeated.
  void close();
  bool closed() const { return handle_ == nullptr; }

  // Blocks until granted; raises Busy, Timeout or any other error. A signal whose Python handler
  // raises ends the wait, and then nothing is held.
  std::shared_ptr<Grant> acquire(const Request& request, int64_t wait_ms);

  QueuePtr open_queue();

 private:
  class Borrowed;

  // A call keeps the handle alive although another thread closes the client meanwhile.
  std::shared_ptr<lockc_client> handle() const;
  lockc_status take(Borrowed& queue, const Request& request, int64_t wait_ms, lockc_queue* events,
                    lockc_lock** lock, ErrorPtr& error);
  void forget_queues();

  std::shared_ptr<lockc_client> handle_;
  std::vector<QueuePtr> idle_;  // as many as threads have ever waited at the same time
  std::shared_ptr<Losses> losses_;
};

}  // namespace lockc::python
