// What a server's error answer means. Any thread.
#pragma once

#include <string_view>

#include "base/status.h"

namespace lockc {

// The status of an error reply by its first word, also where an old server wraps it into
// "ERR Error running script"; the message quotes the reply.
Error reply_error(std::string_view reply);

// The server runs no script by that digest, because it has forgotten it (restart, SCRIPT FLUSH) or
// because it refuses digests: nothing was executed, ask again at once, by the text.
bool is_noscript(const Error& error);

// This server, or this user's rights, know EVAL alone.
bool refuses_digests(const Error& error);

// Trouble that may pass by itself, so that a waiter tries again: no connection, not ready,
// read-only, out of memory.
bool may_pass(Status status);

// A script may have done a part of its work, or all: there was no answer, or an error from within
// it. Scripts are not rolled back.
bool may_have_begun(const Error& error);

}  // namespace lockc
