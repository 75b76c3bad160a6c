// The rules of docs/protocol.md that the model can do without, one at a time.
#pragma once

#include <cstdint>

namespace model {

struct Rules {
  bool mark = true;           // a message counts only if its token is above the mark
  bool from_answered = true;  // validity by message counts from the last poll answered, not sent
  bool from_sent = true;  // validity by answer counts from before the request, not from its answer
  bool held_ignores = true;   // a message for the value that is held is ignored, not released
  bool first_grant = true;    // later grants of a value are ignored
  bool new_tokens = true;     // an acquire sent again draws a new block
  bool block_ends = true;     // no hand-over beyond the block
  bool dead = true;           // no hand-over of a value whose release is under way
  bool one_order = true;      // what names a value goes behind its unanswered acquire
  bool resent = true;         // a release is sent again until it is answered
  bool compare = true;        // release deletes only its own
  bool cancel_grants = true;  // release of a waiter grants a free key to the next
  bool queue_first = true;    // a free key goes to the first waiter, not to who asks
  bool message_last = true;   // the message leaves behind the last write
};

struct Bounds {
  uint8_t users = 2;   // per client
  uint8_t values = 2;  // owner values per client
  uint8_t tokens = 8;  // drawn in all
  bool late = false;   // one acquire executes late, as where CLIENT KILL is denied
};

}  // namespace model
