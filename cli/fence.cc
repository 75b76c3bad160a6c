#include "fence.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "exit_codes.h"
#include "handles.h"
#include "server.h"
#include "text.h"

namespace lockc::cli {
namespace {

constexpr char kHelp[] =
    "usage: lockc fence read KEY [options]\n"
    "       lockc fence write KEY [VALUE] [options]\n"
    "\n"
    "Reads and writes records: values on the server that refuse a late writer.\n"
    "\n"
    "lockc fence read --help and lockc fence write --help tell more.\n";

constexpr char kReadHelp[] =
    "usage: lockc fence read KEY [options]\n"
    "\n"
    "Writes the value of the record KEY to standard output, byte by byte; nothing\n"
    "where there is no record.\n"
    "\n"
    "  --url URL   the server; default: LOCKC_URL, else redis://127.0.0.1:6379\n"
    "  --json      one JSON object: key, value, version (0: no record), token\n"
    "  --help      this text\n"
    "\n"
    "Exit code: 0: answered; 64: usage; 69: no answer from the server; 70: lockc\n"
    "failed; 77: denied.\n";

constexpr char kWriteHelp[] =
    "usage: lockc fence write KEY [VALUE] [options]\n"
    "\n"
    "Writes the record KEY, unless its guards refuse, and prints its new version. Without\n"
    "VALUE it is read from standard input. KEY is not that of the lock.\n"
    "\n"
    "  --url URL        the server; default: LOCKC_URL, else redis://127.0.0.1:6379\n"
    "  --token N        refuse if a larger token wrote before; under lockc run:\n"
    "                   --token \"$LOCKC_TOKEN\"\n"
    "  --if-version N   refuse unless the record has this version; 0: there is none\n"
    "  --ttl TIME       the record expires so long after; default: as it is\n"
    "  --help           this text\n"
    "\n"
    "Exit code: 0: written; 64: usage; 69: no answer from the server; 70: lockc\n"
    "failed; 77: denied; 79: stale, a larger token came before; 80: conflict, the\n"
    "record has another version. With 79 and 80 nothing was written.\n";

struct Options {
  std::string key;
  std::string url;
  std::optional<std::string> value;
  lockc_write_options write{};
  bool json = false;
  bool help = false;
};

uint64_t positive(Words& words, std::string_view option) {
  const uint64_t number = words.number();
  if (number == 0) throw UsageError(std::string(option) + " must be more than 0");
  return number;
}

// The value of --token, --if-version or --ttl; false: it is another option.
bool read_guard(Words& words, std::string_view option, lockc_write_options& write) {
  if (option == "--token") {
    write.token = positive(words, option);
  } else if (option == "--if-version") {
    write.flags |= LOCKC_IF_VERSION;
    write.version = words.number();
  } else if (option == "--ttl") {
    write.ttl_ms = words.duration().count();
    if (write.ttl_ms == 0) throw UsageError("--ttl must be more than 0");
  } else {
    return false;
  }
  return true;
}

Options parse(Words words, bool writes) {
  const std::string name = writes ? "lockc fence write" : "lockc fence read";
  Options options;
  options.write.struct_size = sizeof options.write;
  std::optional<std::string_view> key, url;
  for (;;) {
    if (const auto option = words.option()) {
      if (*option == "--url") {
        url = words.value();
      } else if (*option == "--help" || *option == "-h") {
        options.help = true;
        return options;
      } else if (!writes && *option == "--json") {
        options.json = true;
      } else if (!writes || !read_guard(words, *option, options.write)) {
        words.unknown_option();
      }
    } else if (const auto operand = words.operand()) {
      if (!key) {
        key = operand;
      } else if (writes && !options.value) {
        options.value = *operand;
      } else {
        throw UsageError(name + (writes ? " takes one KEY and one VALUE" : " takes one KEY"));
      }
    } else {
      break;
    }
  }
  if (!key || key->empty()) throw UsageError(name + " needs a KEY");
  options.key = *key;
  options.url = server_url(url);
  return options;
}

// All of standard input, but no more than is enough to see that it is too much.
std::string standard_input() {
  std::string all;
  std::array<char, 65536> part;
  while (all.size() <= LOCKC_RECORD_MAX_VALUE) {
    const ssize_t size = ::read(STDIN_FILENO, part.data(), part.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) throw std::system_error(errno, std::generic_category(), "standard input");
    if (size == 0) break;
    all.append(part.data(), static_cast<size_t>(size));
  }
  return all;
}

void print_json(const Options& options, std::string_view value, const lockc_record* record) {
  const uint64_t token = lockc_record_token(record);
  using Json = nlohmann::ordered_json;
  const Json object = {{"key", options.key},
                       {"value", value},
                       {"version", lockc_record_version(record)},
                       {"token", token == 0 ? Json(nullptr) : Json(token)}};
  std::puts(object.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
}

int read(const Options& options, lockc_client* client) {
  lockc_record* answer = nullptr;
  lockc_error* error = nullptr;
  const lockc_status status =
      lockc_client_read(&answer, client, options.key.data(), options.key.size(), &error);
  const Record record(answer);
  if (const Failure failure(error); status != LOCKC_OK) {
    complain(describe(status, failure));
    return exit_code(status);
  }
  size_t size = 0;
  const char* bytes = lockc_record_value(record.get(), &size);
  if (options.json) {
    print_json(options, {bytes, size}, record.get());
  } else {
    std::fwrite(bytes, 1, size, stdout);
  }
  return kDone;
}

int write(const Options& options, lockc_client* client) {
  const std::string value = options.value ? *options.value : standard_input();
  uint64_t version = 0;
  lockc_error* error = nullptr;
  const lockc_status status =
      lockc_client_write(&version, client, options.key.data(), options.key.size(), value.data(),
                         value.size(), &options.write, &error);
  const Failure failure(error);
  const std::string key = "\"" + printable(options.key) + "\"";
  if (status == LOCKC_OK) {
    std::printf("%llu\n", static_cast<unsigned long long>(version));
  } else if (status == LOCKC_STALE) {
    complain(key + ": a larger token came before; nothing was written");
  } else if (status == LOCKC_CONFLICT) {
    complain(key + " has another version; nothing was written");
  } else {
    complain(describe(status, failure));
  }
  return exit_code(status);
}

int answer(Words words, bool writes) {
  const Options options = parse(words, writes);
  if (options.help) {
    std::fputs(writes ? kWriteHelp : kReadHelp, stdout);
    return kDone;
  }
  Client client;
  const lockc_status status = open_client(client, options.url);
  if (status != LOCKC_OK) return exit_code(status);
  return writes ? write(options, client.get()) : read(options, client.get());
}

}  // namespace

int fence(Words words) {
  if (const auto option = words.option()) {
    if (*option != "--help" && *option != "-h") words.unknown_option();
    std::fputs(kHelp, stdout);
    return kDone;
  }
  const auto name = words.operand();
  if (name == "read") return answer(words, false);
  if (name == "write") return answer(words, true);
  throw UsageError(name ? "lockc fence has no \"" + printable(*name) + "\""
                        : "lockc fence needs read or write");
}

}  // namespace lockc::cli
