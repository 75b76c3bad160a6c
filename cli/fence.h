// lockc fence: records on the server, which refuse a late writer.
#pragma once

#include "args.h"

namespace lockc::cli {

// Returns the exit code. Throws UsageError, and std::exception where lockc itself fails.
int fence(Words words);

}  // namespace lockc::cli
