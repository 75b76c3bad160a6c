// Text for people: messages on stderr, and what of a key can be shown on a terminal.
#pragma once

#include <string>
#include <string_view>

#include "handles.h"

namespace lockc::cli {

// One line "lockc: <message>" in one write, so that lines of several processes don't mix.
void complain(std::string_view message);

// The text of a failed call; the name of its status where there is no text.
std::string describe(lockc_status status, const Failure& failure);

// Control characters as \xNN: a key must not be able to command the terminal that shows it.
std::string printable(std::string_view bytes);

}  // namespace lockc::cli
