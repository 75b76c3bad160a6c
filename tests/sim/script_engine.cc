#include "script_engine.h"

#include <cstdio>
#include <lua.hpp>
#include <stdexcept>

namespace lockc::sim {
namespace {

const char kCallKey = 'c';  // its address names the running script's Call in Lua's registry

void push_error(lua_State* lua, const std::string& text) {
  lua_newtable(lua);
  lua_pushlstring(lua, text.data(), text.size());
  lua_setfield(lua, -2, "err");
}

// Redis' conversion of replies to Lua values.
void push(lua_State* lua, const Reply& reply) {
  switch (reply.type) {
    case Reply::Type::kNil:
      lua_pushboolean(lua, 0);
      return;
    case Reply::Type::kInteger:
      lua_pushnumber(lua, static_cast<lua_Number>(reply.number));
      return;
    case Reply::Type::kText:
      lua_pushlstring(lua, reply.text.data(), reply.text.size());
      return;
    case Reply::Type::kStatus:
      lua_newtable(lua);
      lua_pushlstring(lua, reply.text.data(), reply.text.size());
      lua_setfield(lua, -2, "ok");
      return;
    case Reply::Type::kError:
      return push_error(lua, reply.text);
    case Reply::Type::kArray:
      lua_newtable(lua);
      for (size_t i = 0; i < reply.elements.size(); ++i) {
        push(lua, reply.elements[i]);
        lua_rawseti(lua, -2, static_cast<int>(i + 1));
      }
  }
}

std::string field(lua_State* lua, const char* name) {
  lua_getfield(lua, -1, name);
  size_t size = 0;
  const char* text = lua_type(lua, -1) == LUA_TSTRING ? lua_tolstring(lua, -1, &size) : nullptr;
  std::string copy(text == nullptr ? "" : text, size);
  lua_pop(lua, 1);
  return copy;
}

// Redis' conversion of Lua values to replies; takes the value off the stack.
Reply pop(lua_State* lua) {
  Reply reply;
  switch (lua_type(lua, -1)) {
    case LUA_TSTRING: {
      size_t size = 0;
      const char* text = lua_tolstring(lua, -1, &size);
      reply = Reply::bulk({text, size});
      break;
    }
    case LUA_TNUMBER:
      reply = Reply::integer(static_cast<int64_t>(lua_tonumber(lua, -1)));
      break;
    case LUA_TBOOLEAN:
      if (lua_toboolean(lua, -1) != 0) reply = Reply::integer(1);
      break;
    case LUA_TTABLE:
      if (const std::string error = field(lua, "err"); !error.empty()) {
        reply = Reply::error(error);
      } else if (const std::string ok = field(lua, "ok"); !ok.empty()) {
        reply = Reply::status(ok);
      } else {
        reply = Reply::array({});
        for (int i = 1;; ++i) {
          lua_rawgeti(lua, -1, i);
          if (lua_isnil(lua, -1)) break;
          reply.elements.push_back(pop(lua));
        }
        lua_pop(lua, 1);
      }
      break;
    default:
      break;
  }
  lua_pop(lua, 1);
  return reply;
}

Arguments request_of(lua_State* lua) {
  Arguments request;
  for (int i = 1; i <= lua_gettop(lua); ++i) {
    if (lua_type(lua, i) == LUA_TNUMBER) {  // with all its digits, unlike Lua's own conversion
      char text[32];
      std::snprintf(text, sizeof text, "%.17g", lua_tonumber(lua, i));
      request.emplace_back(text);
    } else {
      size_t size = 0;
      const char* text = lua_tolstring(lua, i, &size);
      if (text == nullptr)
        throw std::logic_error("a script gave a command a value that is no text");
      request.emplace_back(text, size);
    }
  }
  return request;
}

int command(lua_State* lua, bool raises) {
  bool failed = false;
  {
    lua_pushlightuserdata(lua, const_cast<char*>(&kCallKey));
    lua_rawget(lua, LUA_REGISTRYINDEX);
    const auto* call = static_cast<const ScriptEngine::Call*>(lua_touserdata(lua, -1));
    lua_pop(lua, 1);
    const Reply reply = (*call)(request_of(lua));
    push(lua, reply);
    failed = reply.is_error();
  }  // lua_error() leaves by longjmp: nothing may be left to destroy
  return failed && raises ? lua_error(lua) : 1;
}

int redis_call(lua_State* lua) { return command(lua, true); }
int redis_pcall(lua_State* lua) { return command(lua, false); }
int redis_error_reply(lua_State* lua) {
  push_error(lua, luaL_checkstring(lua, 1));
  return 1;
}
int redis_replicate_commands(lua_State* lua) {
  lua_pushboolean(lua, 1);
  return 1;
}

void set_table(lua_State* lua, const char* name, const Arguments& texts) {
  lua_createtable(lua, static_cast<int>(texts.size()), 0);
  for (size_t i = 0; i < texts.size(); ++i) {
    lua_pushlstring(lua, texts[i].data(), texts[i].size());
    lua_rawseti(lua, -2, static_cast<int>(i + 1));
  }
  lua_setglobal(lua, name);
}

}  // namespace

void ScriptEngine::Free::operator()(lua_State* state) const { lua_close(state); }

ScriptEngine::ScriptEngine() : state_(luaL_newstate()) {
  lua_State* lua = state_.get();
  luaL_openlibs(lua);
  static const luaL_Reg kFunctions[] = {{"call", redis_call},
                                        {"pcall", redis_pcall},
                                        {"error_reply", redis_error_reply},
                                        {"replicate_commands", redis_replicate_commands},
                                        {nullptr, nullptr}};
  luaL_register(lua, "redis", kFunctions);
  lua_pop(lua, 1);
}

ScriptEngine::~ScriptEngine() = default;

void ScriptEngine::load(const std::string& text) {
  lua_State* lua = state_.get();
  const auto found = compiled_.find(text);
  if (found != compiled_.end()) return lua_rawgeti(lua, LUA_REGISTRYINDEX, found->second);
  if (luaL_loadbuffer(lua, text.data(), text.size(), "@user_script") != 0) {
    throw std::logic_error(lua_tostring(lua, -1));
  }
  lua_pushvalue(lua, -1);
  compiled_.emplace(text, luaL_ref(lua, LUA_REGISTRYINDEX));
}

Reply ScriptEngine::run(const std::string& text, const Arguments& keys, const Arguments& arguments,
                        const Call& call) {
  lua_State* lua = state_.get();
  lua_pushlightuserdata(lua, const_cast<char*>(&kCallKey));
  lua_pushlightuserdata(lua, const_cast<Call*>(&call));
  lua_rawset(lua, LUA_REGISTRYINDEX);
  set_table(lua, "KEYS", keys);
  set_table(lua, "ARGV", arguments);
  load(text);
  const bool failed = lua_pcall(lua, 0, 1, 0) != 0;
  // A bug of the script, not an answer of a command.
  if (failed && lua_isstring(lua, -1)) throw std::logic_error(lua_tostring(lua, -1));
  return pop(lua);
}

}  // namespace lockc::sim
