#include "server.h"

#include <cstdlib>

#include "args.h"
#include "text.h"

namespace lockc::cli {

std::string server_url(std::optional<std::string_view> given) {
  if (given && given->empty()) throw UsageError("--url must not be empty");
  if (given) return std::string(*given);
  const char* const from_environment = std::getenv("LOCKC_URL");
  const bool is_set = from_environment != nullptr && *from_environment != '\0';
  return is_set ? from_environment : "redis://127.0.0.1:6379";
}

lockc_status open_client(Client& out, const std::string& url) {
  lockc_client* client = nullptr;
  lockc_error* error = nullptr;
  const lockc_status status = lockc_client_open(&client, url.c_str(), nullptr, &error);
  const Failure failure(error);
  out.reset(client);
  if (status != LOCKC_OK) complain(describe(status, failure));
  return status == LOCKC_E_UNSUPPORTED ? LOCKC_E_INVALID : status;
}

}  // namespace lockc::cli
