#include "redis/errors.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace lockc {
namespace {

constexpr std::string_view kAnswered = "the server answered: ";

struct Word {
  std::string_view text;
  Status status;
};

// First words of error replies: redis.io "Error reply" conventions, server.c and script.c of Redis.
constexpr std::array kWords = {
    Word{"OOM", Status::kServerOom},         Word{"READONLY", Status::kReadOnly},
    Word{"NOREPLICAS", Status::kReadOnly},   Word{"MISCONF", Status::kReadOnly},
    Word{"WRONGTYPE", Status::kWrongType},   Word{"BUSY", Status::kNotReady},
    Word{"LOADING", Status::kNotReady},      Word{"MASTERDOWN", Status::kNotReady},
    Word{"CLUSTERDOWN", Status::kNotReady},  Word{"TRYAGAIN", Status::kNotReady},
    Word{"MOVED", Status::kNotReady},        Word{"ASK", Status::kNotReady},
    Word{"NOSCRIPT", Status::kNotReady},     Word{"NOAUTH", Status::kDenied},
    Word{"NOPERM", Status::kDenied},         Word{"WRONGPASS", Status::kDenied},
    Word{"LOCKCRECORD", Status::kWrongType},
};

// Errors whose first word is just ERR.
constexpr std::array kPhrases = {
    Word{"ACL failure in script", Status::kDenied},
    Word{"The user executing the script can't", Status::kDenied},
    Word{"invalid password", Status::kDenied},
    Word{"Client sent AUTH, but no password is set", Status::kDenied},
    Word{"AUTH <password> called without any password", Status::kDenied},
    Word{"max number of clients reached", Status::kNotReady},
    Word{"unknown command", Status::kUnsupported},
};

bool is_word_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// Whether word stands in text as "-WORD ", ": WORD " or at its beginning.
bool has_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool begins = at == 0 || text[at - 1] == '-' || text.substr(0, at).ends_with(": ");
    if (begins && (end == text.size() || !is_word_letter(text[end]))) return true;
  }
  return false;
}

Status status_of(std::string_view reply) {
  const std::string_view first = reply.substr(0, reply.find(' '));
  for (const Word& word : kWords) {
    if (first == word.text) return word.status;
  }
  for (const Word& phrase : kPhrases) {
    if (reply.find(phrase.text) != std::string_view::npos) return phrase.status;
  }
  if (reply.starts_with("ERR Error running script")) {
    for (const Word& word : kWords) {
      if (has_word(reply, word.text)) return word.status;
    }
  }
  return Status::kServer;
}

bool says(const Error& error, std::string_view phrase) {
  return error.message.find(phrase) != std::string::npos;
}

// Whether the request itself was answered by a text that begins so. A log-in that was refused is
// told to what waited behind it with the server's name before.
bool answers(const Error& error, std::string_view beginning) {
  const std::string_view message = error.message;
  return message.starts_with(kAnswered) && message.substr(kAnswered.size()).starts_with(beginning);
}

}  // namespace

Error reply_error(std::string_view reply) {
  constexpr size_t kLongest = 300;
  std::string text(kAnswered);
  text.append(reply.substr(0, kLongest));
  return {status_of(reply), text};
}

bool is_noscript(const Error& error) {
  const bool forgotten = error.status == Status::kNotReady && answers(error, "NOSCRIPT");
  return forgotten || refuses_digests(error);
}

// Redis 6.2 quotes the command by backticks, later ones by apostrophes.
bool refuses_digests(const Error& error) {
  return error.status == Status::kUnsupported
             ? answers(error, "ERR unknown command 'EVALSHA'") ||
                   answers(error, "ERR unknown command `EVALSHA`")
             : error.status == Status::kDenied && answers(error, "") &&
                   says(error, "the 'evalsha' command");
}

bool may_pass(Status status) {
  return status == Status::kUnreachable || status == Status::kUncertain ||
         status == Status::kNotReady || status == Status::kReadOnly || status == Status::kServerOom;
}

bool may_have_begun(const Error& error) {
  switch (error.status) {
    case Status::kUncertain:
      return true;
    case Status::kDenied:
      return says(error, "in script") || says(error, "executing the script");
    case Status::kServer:
      return !says(error, "LOCKCFENCE");  // that one comes before any write
    default:
      return false;
  }
}

}  // namespace lockc
