// The command lockc: finds the subcommand and turns its complaints into exit codes.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "args.h"
#include "exit_codes.h"
#include "fence.h"
#include "inspect.h"
#include "run.h"
#include "text.h"

namespace lockc::cli {
namespace {

constexpr char kHelp[] =
    "usage: lockc run --key KEY [options] [--] COMMAND...\n"
    "       lockc inspect KEY [options]\n"
    "       lockc fence read | write KEY [options]\n"
    "       lockc --help | --version\n"
    "\n"
    "Distributed locks on Redis and Valkey.\n"
    "\n"
    "  run       run a command while holding a lock\n"
    "  inspect   show what the server knows of a lock\n"
    "  fence     read and write data that refuses a late writer\n"
    "\n"
    "lockc run --help, lockc inspect --help and lockc fence --help tell more. The server\n"
    "is named by --url or by LOCKC_URL; it is redis://127.0.0.1:6379 if neither is given.\n";

int print_version() {
  const uint32_t version = lockc_version();
  std::printf("lockc %u.%u.%u\n", version >> 16, version >> 8 & 0xff, version & 0xff);
  return kDone;
}

int print_help() {
  std::fputs(kHelp, stdout);
  return kDone;
}

int dispatch(char** argv) {
  if (*argv == nullptr) throw UsageError("no subcommand given");
  const std::string_view name = *argv;
  if (name == "run") return run(Words(argv + 1));
  if (name == "inspect") return inspect(Words(argv + 1));
  if (name == "fence") return fence(Words(argv + 1));
  if (name == "--version") return print_version();
  if (name == "--help" || name == "-h") return print_help();
  throw UsageError("unknown subcommand \"" + printable(name) + "\"");
}

// Should a standard descriptor be closed, the next one opened would get its number, and messages.
void fill_standard_descriptors() {
  int fd = 0;
  do {
    fd = ::open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) ::close(fd);
}

int guarded(char** argv) {
  fill_standard_descriptors();

  try {
    return dispatch(argv);
  } catch (const UsageError& error) {
    complain(std::string(error.what()) + "; lockc --help tells more");
    return kUsage;
  } catch (const std::exception& error) {
    complain(error.what());
    return kInternal;
  }
}

}  // namespace
}  // namespace lockc::cli

int main(int argc, char** argv) { return lockc::cli::guarded(argc > 0 ? argv + 1 : argv); }
