// The command line of lockc run.
#pragma once

#include <optional>
#include <string>

#include "args.h"
#include "lockc/lockc.h"

namespace lockc::cli {

struct RunOptions {
  std::string key;
  std::string url;
  std::optional<Millis> wait;  // nothing: for ever
  Millis ttl = std::chrono::seconds(30);
  std::optional<Millis> max_hold;
  bool fair = false;
  char** command = nullptr;  // ends with a null pointer
};

extern const char kRunHelp[];

// Nothing where help was asked for.
std::optional<RunOptions> parse_run(Words words);

lockc_acquire_options acquire_options(const RunOptions& options);

}  // namespace lockc::cli
