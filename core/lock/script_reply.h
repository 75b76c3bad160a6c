// What all that run scripts share: passing refusals on, and reading the rest by the script's own
// words. Lives inside the loop.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "base/status.h"
#include "redis/errors.h"
#include "redis/node.h"

namespace lockc {

template <class T>
using Then = std::function<void(Result<T>)>;

inline Error unexpected(const Script& script) {
  return {Status::kServer, "the server answered " + std::string(script.name) +
                               " with a reply of another shape than lockc's script gives"};
}

// Passes errors on, and reads the rest.
template <class T, class Read>
Node::OnReply reading(Read read, Then<T> then) {
  return [read = std::move(read), then = std::move(then)](const Result<resp::View>& reply) {
    if (reply) {
      then(read(*reply));
    } else {
      then(reply.error());
    }
  };
}

// Asks for what stands in an order, and once more where the server had forgotten the script:
// nothing was executed then.
template <class T>
void ask_anew(const std::function<void(Then<T>)>& ask, Then<T> then) {
  ask([ask, then = std::move(then)](const Result<T>& answer) {
    if (!answer && is_noscript(answer.error())) return ask(then);
    then(answer);
  });
}

}  // namespace lockc
