// Which process this is, cheaply: asked at every entry of the ABI, to notice a fork.
#pragma once

#include <sys/types.h>

namespace lockc {

// getpid() without the system call. Any thread, also in a forked child.
pid_t process_id();

}  // namespace lockc
