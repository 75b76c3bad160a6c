#include "run_options.h"

#include "server.h"

namespace lockc::cli {
namespace {

Millis positive_duration(Words& words, std::string_view option) {
  const Millis millis = words.duration();
  if (millis <= Millis::zero()) throw UsageError(std::string(option) + " must be more than 0");
  return millis;
}

}  // namespace

const char kRunHelp[] =
    "usage: lockc run --key KEY [options] [--] COMMAND...\n"
    "\n"
    "Runs COMMAND while holding the lock KEY, which is renewed as long as the command\n"
    "runs. If the lock is lost, the command is stopped before its lease can end.\n"
    "\n"
    "  --key KEY        what to lock\n"
    "  --url URL        the server; default: LOCKC_URL, else redis://127.0.0.1:6379\n"
    "  --wait TIME      how long to wait for the lock; 0 = one try; default: for ever\n"
    "  --ttl TIME       how long the lock outlives a holder that dies; default: 30s\n"
    "  --max-hold TIME  longest time to hold the lock; default: no limit\n"
    "  --fair           first come, first served, over all machines\n"
    "  --help           this text\n"
    "\n"
    "TIME is 500ms, 10s, 5m, 1h, or a number of seconds. The command finds LOCKC_KEY,\n"
    "LOCKC_TOKEN and LOCKC_URL in its environment. Signals are passed on to it.\n"
    "\n"
    "Exit code: the command's own; 128+n: killed by signal n; 126, 127: the command is\n"
    "not executable, not found; 64: usage; 69: no answer from the server; 70: lockc\n"
    "failed; 73: the lock was lost; 75: busy or timed out; 77: denied.\n";

std::optional<RunOptions> parse_run(Words words) {
  RunOptions options;
  std::optional<std::string_view> url;
  while (const auto option = words.option()) {
    if (*option == "--help" || *option == "-h") return std::nullopt;
    if (*option == "--key") {
      options.key = words.value();
    } else if (*option == "--url") {
      url = words.value();
    } else if (*option == "--wait") {
      options.wait = words.duration();
    } else if (*option == "--ttl") {
      options.ttl = positive_duration(words, *option);
    } else if (*option == "--max-hold") {
      options.max_hold = positive_duration(words, *option);
    } else if (*option == "--fair") {
      options.fair = true;
    } else {
      words.unknown_option();
    }
  }
  options.url = server_url(url);
  options.command = words.rest();
  if (options.key.empty()) throw UsageError("lockc run needs --key");
  if (*options.command == nullptr) throw UsageError("lockc run needs a command");
  return options;
}

lockc_acquire_options acquire_options(const RunOptions& options) {
  lockc_acquire_options acquire{};
  acquire.struct_size = sizeof acquire;
  acquire.flags = LOCKC_RENEW;
  acquire.kind = options.fair ? LOCKC_FAIR : LOCKC_EXCLUSIVE;
  acquire.ttl_ms = options.ttl.count();
  acquire.wait_ms = options.wait ? options.wait->count() : LOCKC_WAIT_FOREVER;
  acquire.max_hold_ms = options.max_hold.value_or(Millis::zero()).count();
  return acquire;
}

}  // namespace lockc::cli
