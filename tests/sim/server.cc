#include "server.h"

#include <algorithm>
#include <array>
#include <utility>

namespace lockc::sim {
namespace {

constexpr Duration kWallAtZero = std::chrono::seconds(1'700'000'000);

// By its text or its SHA-1.
const Script* script_of(std::string_view text) {
  static constexpr std::array kScripts = {
      &scripts::acquire, &scripts::release,     &scripts::requeue,
      &scripts::renew,   &scripts::drop,        &scripts::inspect,
      &scripts::probe,   &scripts::record_read, &scripts::record_write};
  for (const Script* script : kScripts) {
    if (text == script->text || text == script->sha1) return script;
  }
  return nullptr;
}

// For traces: of a script its name and what tells calls apart, not its text and the helper keys.
std::string brief(const Arguments& request) {
  std::string text = request[0];
  size_t rest = 1;
  if (text == "EVAL" || text == "EVALSHA") {
    const Script* script = script_of(request.at(1));
    text = script == nullptr ? "other" : script->name;
    if (request.at(2) != "0") text += ' ' + request.at(3);
    rest = 3 + std::stoul(request.at(2));
  }
  for (size_t i = rest; i < request.size(); ++i) text += ' ' + request[i];
  return text;
}

}  // namespace

Server::Server(World& world, ScriptEngine& engine, Mutation mutate)
    : world_(world), engine_(engine), mutate_(std::move(mutate)) {
  data_.on_gone = [this](const std::string& key, const char* event) {
    if (notifies) tell("__keyspace@0__:" + key, event);
  };
}

uint64_t Server::accept(Line line) {
  const uint64_t id = next_session_++;
  sessions_[id].line = std::move(line);
  return id;
}

void Server::receive(uint64_t id, std::string_view bytes) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  resp::Parser& parser = *found->second.parser;
  if (!parser.feed(bytes)) return drop(id);
  while (sessions_.contains(id)) {
    const auto next = parser.next();
    if (!next) return drop(id);
    if (!*next) return;
    Arguments request;
    for (size_t i = 0; i < (*next)->view().size(); ++i) {
      request.emplace_back((*next)->view()[i].text());
    }
    if (request.empty()) return drop(id);
    const Reply reply = execute(request, id);
    if (world_.tracing())
      world_.trace("server", std::to_string(id), brief(request), "->", reply.brief());
    const auto still = sessions_.find(id);
    if (still == sessions_.end()) return;
    std::string out;
    reply.append_to(out);
    still->second.line.send(std::move(out));
  }
}

// A part of a request that arrives twice is no request; a server ends such sessions.
void Server::drop(uint64_t id) {
  const auto hang_up = sessions_.at(id).line.hang_up;
  sessions_.erase(id);
  hang_up();
}

void Server::gone(uint64_t id) { sessions_.erase(id); }

// ---- faults

void Server::crash(Loss loss) {
  static constexpr const char* kWords[] = {"", "and loses the last moments", "and loses its data"};
  world_.trace("server crashes", kWords[static_cast<int>(loss)]);
  up_ = false;
  for (const auto& [id, session] : std::exchange(sessions_, {})) session.line.hang_up();
  known_.clear();
  if (loss == Loss::kNothing) return;
  const Dataset::Entries lost = data().entries();
  data_.restore(loss == Loss::kLastMoments ? saved_ : Dataset::Entries());
  const Dataset::Entries& left = data_.entries();
  for (const auto& [key, entry] : lost) {
    const auto found = left.find(key);
    if (found != left.end() && found->second == entry) continue;
    if (const auto* owner = std::get_if<std::string>(&entry.value)) forgotten_.insert(*owner);
  }
}

void Server::start() {
  world_.trace("server starts");
  ++starts_;
  up_ = true;
}

// ---- what the checks look at

Dataset& Server::data() {
  data_.set_now(std::chrono::floor<Millis>(wall()).count());
  return data_;
}

bool Server::has_listeners() const {
  for (const auto& [id, session] : sessions_) {
    if (!session.channels.empty()) return true;
  }
  return false;
}

Duration Server::left_of(const Dataset::Entry& entry) const {
  if (!entry.expires_ms) return Duration::max();
  const Duration left = Millis(*entry.expires_ms + 1) - wall();  // it stands in its last ms
  return Duration(static_cast<int64_t>(static_cast<double>(left.count()) / rate_));
}

int64_t Server::listeners(const std::string& channel) const {
  return std::ranges::count_if(
      sessions_, [&](const auto& item) { return item.second.channels.contains(channel); });
}

// ---- commands

Duration Server::wall() const {
  const auto passed = static_cast<double>(world_.elapsed().count()) * rate_;
  return kWallAtZero + Duration(static_cast<int64_t>(passed)) + offset_;
}

Reply Server::time() const {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(wall()).count();
  return Reply::array(
      {Reply::bulk(std::to_string(us / 1'000'000)), Reply::bulk(std::to_string(us % 1'000'000))});
}

Reply Server::execute(const Arguments& request, uint64_t session) {
  const std::string& name = request.at(0);
  data();
  if (name == "EVAL" || name == "EVALSHA") return run_script(request);
  if (name == "CLIENT") return client_command(request, session);
  if (name == "INFO") {
    return Reply::bulk("# Server\r\nredis_version:7.0.15\r\nrun_id:" + std::to_string(starts_) +
                       "\r\n");
  }
  Session& own = sessions_.at(session);
  if (name == "SUBSCRIBE") {
    own.channels.insert(request.at(1));
    return Reply::array({Reply::bulk("subscribe"), Reply::bulk(request[1]), Reply::integer(1)});
  }
  if (name == "UNSUBSCRIBE") {
    own.channels.erase(request.at(1));
    return Reply::array({Reply::bulk("unsubscribe"), Reply::bulk(request[1]),
                         Reply::integer(static_cast<int64_t>(own.channels.size()))});
  }
  if (name == "PING") {
    if (own.channels.empty()) return Reply::status("PONG");
    return Reply::array({Reply::bulk("pong"), Reply::bulk("")});
  }
  return run_plainly(request);
}

Reply Server::run_plainly(const Arguments& request) {
  wrote_ = false;
  if (witness_ == nullptr || request[0] != "SET") return on_data(request);
  const Step step{nullptr, {request.at(1)}, {request.at(2)}};
  witness_->before(step);
  Reply reply = on_data(request);
  witness_->after(step);
  return reply;
}

Reply Server::client_command(const Arguments& request, uint64_t session) {
  const std::string& what = request.at(1);
  if (what == "ID") return Reply::integer(static_cast<int64_t>(session));
  if (what == "LIST") return client_list();
  if (what == "SETNAME") {
    sessions_.at(session).name = request.at(2);
    return Reply::status("OK");
  }
  if (what != "KILL") return Reply::error("ERR unknown subcommand");
  if (!may_kill) return Reply::error("NOPERM this user has no permissions to run 'client|kill'");
  const uint64_t victim = std::stoull(request.at(3));
  if (!sessions_.contains(victim)) return Reply::integer(0);
  drop(victim);
  return Reply::integer(1);
}

Reply Server::client_list() const {
  std::string list;
  for (const auto& [id, session] : sessions_) {
    list += "id=" + std::to_string(id) + " name=" + session.name + " age=0\n";
  }
  return Reply::bulk(list);
}

Reply Server::run_script(const Arguments& request) {
  std::string text;
  if (request.at(0) == "EVAL") {
    text = request.at(1);
    if (const Script* script = script_of(text)) known_[std::string(script->sha1)] = text;
  } else {
    const auto found = known_.find(request.at(1));
    if (found == known_.end()) return Reply::error("NOSCRIPT No matching script. Please use EVAL.");
    text = found->second;
  }
  const auto keys_end = request.begin() + 3 + std::stol(request.at(2));
  const Step step{script_of(text), {request.begin() + 3, keys_end}, {keys_end, request.end()}};
  if (mutate_) text = mutate_(std::move(text));
  if (witness_ != nullptr) witness_->before(step);
  wrote_ = false;
  breaks_off_in_ = world_.chance(breaks_off_percent) ? static_cast<int64_t>(world_.below(8)) : -1;
  Reply reply = engine_.run(text, step.keys, step.arguments,
                            [this](const Arguments& called) { return from_script(called); });
  if (witness_ != nullptr) witness_->after(step);
  return reply;
}

Reply Server::from_script(const Arguments& request) {
  const std::string& name = request.at(0);
  // Before a write or a message; what comes earlier changes nothing.
  const bool acts = Dataset::is_write(name) || name == "PUBLISH";
  if (acts && breaks_off_in_ == 0) {
    ever_broke_off_ = true;
    return Reply::error("ERR ACL failure in script: this user has no permissions");
  }
  if (acts && breaks_off_in_ > 0) --breaks_off_in_;
  if (name == "TIME") return time();
  if (name == "PUBSUB") return numsub(request);
  if (name == "PUBLISH") return publish(request.at(1), request.at(2));
  return on_data(request);
}

// Memory is looked at before a script's first write only, for a script is not stopped half-way.
Reply Server::on_data(const Arguments& request) {
  const std::string& name = request.at(0);
  if (is_full && !wrote_ && Dataset::needs_memory(name)) {
    return Reply::error("OOM command not allowed when used memory > 'maxmemory'.");
  }
  auto reply = data_.run(request);
  if (!reply) {
    world_.fail("the simulated server does not know " + name);
    return Reply::error("ERR unknown command '" + name + "'");
  }
  if (Dataset::is_write(name)) wrote_ = true;
  return *reply;
}

Reply Server::numsub(const Arguments& request) const {
  Reply counts = Reply::array({});
  for (size_t i = 2; i < request.size(); ++i) {
    counts.elements.push_back(Reply::bulk(request[i]));
    counts.elements.push_back(Reply::integer(listeners(request[i])));
  }
  return counts;
}

Reply Server::publish(const std::string& channel, const std::string& message) {
  if (!may_publish) return Reply::error("NOPERM this user has no permissions to access a channel");
  return Reply::integer(tell(channel, message));
}

int64_t Server::tell(const std::string& channel, const std::string& message) {
  int64_t count = 0;
  for (const auto& [id, session] : sessions_) {
    if (!session.channels.contains(channel)) continue;
    ++count;
    std::string out;
    Reply::array({Reply::bulk("message"), Reply::bulk(channel), Reply::bulk(message)})
        .append_to(out);
    session.line.send(std::move(out));
  }
  return count;
}

}  // namespace lockc::sim
