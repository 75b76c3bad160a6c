// The server's side of the protocol; constant data, usable on any thread. KEYS, ARGV and result of
// each are told at the head of its file in scripts/.
#pragma once

#include "redis/script.h"

namespace lockc::scripts {

extern const Script acquire;
extern const Script release;
extern const Script requeue;
extern const Script renew;
extern const Script drop;
extern const Script inspect;
extern const Script probe;
extern const Script record_read;
extern const Script record_write;

}  // namespace lockc::scripts
