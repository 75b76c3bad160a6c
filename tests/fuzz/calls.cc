// The C ABI called in any order by two threads, while a server of this process answers as it likes:
// the calls of each thread and the server's orders, parted by ";" (caller.h and bad_server.h say
// what the letters mean). Whatever happens, nothing hangs, and each accepted request is completed
// once.
#include <thread>

#include "bad_server.h"
#include "caller.h"
#include "check.h"

namespace lockc::fuzz {
namespace {

void run(Input input) {
  static BadServer server;
  Input here(input.until(';'));
  Input there(input.until(';'));
  server.begin(input.until(';'));

  lockc_client_options options{};
  options.struct_size = sizeof options;
  options.connect_timeout_ms = options.reply_timeout_ms = 20;
  lockc_client* client = nullptr;
  const std::string url = server.url();
  must(lockc_client_open(&client, url.c_str(), &options, nullptr) == LOCKC_OK, "a client opens");
  lockc_fence* fence = nullptr;
  must(lockc_fence_new(&fence, nullptr) == LOCKC_OK, "a fence can be made");
  Caller one(client, fence, here);
  Caller other(client, fence, there);
  std::thread thread([&] { other.run(); });
  one.run();
  thread.join();
  lockc_client_close(client);
  one.finish();
  other.finish();
  lockc_fence_free(fence);
}

}  // namespace
}  // namespace lockc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  lockc::fuzz::run(lockc::fuzz::Input(data, size));
  return 0;
}
