// Runs Lua scripts as a server does: Lua 5.1 with the table `redis`, KEYS and ARGV. One thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "reply.h"

struct lua_State;

namespace lockc::sim {

class ScriptEngine {
 public:
  ScriptEngine();
  ~ScriptEngine();
  ScriptEngine(const ScriptEngine&) = delete;
  ScriptEngine& operator=(const ScriptEngine&) = delete;

  // What redis.call and redis.pcall do.
  using Call = std::function<Reply(const Arguments&)>;
  // The script's result; an error of redis.call or of Lua ends it with that error.
  Reply run(const std::string& text, const Arguments& keys, const Arguments& arguments,
            const Call& call);

 private:
  struct Free {
    void operator()(lua_State* state) const;
  };
  void load(const std::string& text);

  std::unique_ptr<lua_State, Free> state_;
  std::unordered_map<std::string, int> compiled_;  // text -> its place in Lua's registry
};

}  // namespace lockc::sim
