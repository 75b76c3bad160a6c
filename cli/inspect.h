// lockc inspect: what the server knows of a lock.
#pragma once

#include "args.h"

namespace lockc::cli {

// Returns the exit code. Throws UsageError, and std::exception where lockc itself fails.
int inspect(Words words);

}  // namespace lockc::cli
