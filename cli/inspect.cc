#include "inspect.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "exit_codes.h"
#include "handles.h"
#include "json.h"
#include "server.h"
#include "text.h"

namespace lockc::cli {
namespace {

constexpr char kHelp[] =
    "usage: lockc inspect KEY [options]\n"
    "\n"
    "Shows what the server knows of the lock KEY, and changes nothing.\n"
    "\n"
    "  --url URL   the server; default: LOCKC_URL, else redis://127.0.0.1:6379\n"
    "  --json      one JSON object in place of text\n"
    "  --help      this text\n"
    "\n"
    "The states: free; held; foreign: held by a client of another kind; zombie: held,\n"
    "but without an expiry, so that nobody gets it until it is deleted by hand; record:\n"
    "no lock, but what lockc fence reads and writes; other: no lock either.\n"
    "\n"
    "Exit code: 0: answered; 64: usage; 69: no answer from the server; 70: lockc\n"
    "failed; 77: denied.\n";

struct InspectOptions {
  std::string key;
  std::string url;
  bool json = false;
  bool help = false;
};

InspectOptions parse(Words words) {
  InspectOptions options;
  std::optional<std::string_view> key, url;
  for (;;) {
    if (const auto option = words.option()) {
      if (*option == "--url") {
        url = words.value();
      } else if (*option == "--json") {
        options.json = true;
      } else if (*option == "--help" || *option == "-h") {
        options.help = true;
        return options;
      } else {
        words.unknown_option();
      }
    } else if (const auto operand = words.operand()) {
      if (key) throw UsageError("lockc inspect takes one KEY");
      key = operand;
    } else {
      break;
    }
  }
  if (!key || key->empty()) throw UsageError("lockc inspect needs a KEY");
  options.key = *key;
  options.url = server_url(url);
  return options;
}

std::string duration(const Json& millis) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f s", static_cast<double>(millis.number()) / 1e3);
  return text;
}

std::string shown(const Json& text) { return printable(text.text()); }

void print_line(const char* name, const std::string& value) {
  std::printf("%-8s %s\n", name, value.c_str());
}

void print_queue(const Json::Array& queue) {
  print_line("queue", queue.empty() ? "nobody waits" : std::to_string(queue.size()) + " waiting");
  if (queue.empty()) return;
  std::printf("\n%8s  %12s  %-4s  %s\n", "position", "age", "live", "owner");
  for (const Json& entry : queue) {
    std::printf("%8lld  %12s  %-4s  %s\n", static_cast<long long>(entry["position"].number()),
                duration(entry["age_ms"]).c_str(), entry["live"].truth() ? "yes" : "no",
                shown(entry["owner"]).c_str());
  }
}

void print_text(const Json& lock) {
  print_line("key", shown(lock["key"]));
  print_line("state", shown(lock["state"]));
  const Json& pttl = lock["pttl_ms"];
  if (!lock["owner"].is_null()) print_line("owner", shown(lock["owner"]));
  if (!lock["client_name"].is_null()) print_line("client", shown(lock["client_name"]));
  if (lock["state"].text() == "other") print_line("type", shown(lock["type"]));
  if (!pttl.is_null() && pttl.number() >= 0) print_line("ttl", duration(pttl));
  if (!lock["token"].is_null()) print_line("token", std::to_string(lock["token"].number()));
  print_queue(lock["queue"].array());
}

}  // namespace

int inspect(Words words) {
  const InspectOptions options = parse(words);
  if (options.help) {
    std::fputs(kHelp, stdout);
    return kDone;
  }
  Client client;
  lockc_status status = open_client(client, options.url);
  if (status != LOCKC_OK) return exit_code(status);
  lockc_text* answer = nullptr;
  lockc_error* error = nullptr;
  status =
      lockc_client_inspect(&answer, client.get(), options.key.data(), options.key.size(), &error);
  const Text text(answer);
  if (const Failure failure(error); status != LOCKC_OK) {
    complain(describe(status, failure));
  } else if (options.json) {
    std::puts(lockc_text_data(text.get()));
  } else {
    print_text(parse_json(lockc_text_data(text.get())));
  }
  return exit_code(status);
}

}  // namespace lockc::cli
