// lockc run: a command under a lock.
#pragma once

#include "args.h"

namespace lockc::cli {

// Returns the exit code. Throws UsageError, and std::exception where lockc itself fails.
int run(Words words);

}  // namespace lockc::cli
