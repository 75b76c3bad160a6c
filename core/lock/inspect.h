// What the server knows of a key, told to people: as JSON. Lives inside the loop.
#pragma once

#include <functional>
#include <string>

#include "base/types.h"
#include "lock/store.h"
#include "redis/node.h"

namespace lockc {

// Asks for the key, and for the connection name of the client that holds it. `then` gets one JSON
// object: key, state (free, held, foreign, zombie, record, other), type, owner,
// client_name, pttl_ms, token, queue, grace_ms. Bytes that are not UTF-8 show as U+FFFD.
void inspect_key(Node& node, Store& store, const Key& key, Then<std::string> then);

}  // namespace lockc
