// Which server to ask, and the client to ask it with.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "handles.h"

namespace lockc::cli {

// --url, else LOCKC_URL, else the default of every lockc client. Throws UsageError.
std::string server_url(std::optional<std::string_view> given);

// Complains where it fails. Every failure but one of memory is one of the command line.
lockc_status open_client(Client& out, const std::string& url);

}  // namespace lockc::cli
