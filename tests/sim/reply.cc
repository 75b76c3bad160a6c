#include "reply.h"

namespace lockc::sim {

void Reply::append_to(std::string& out) const {
  switch (type) {
    case Type::kNil:
      out += "$-1\r\n";
      return;
    case Type::kInteger:
      out += ":" + std::to_string(number) + "\r\n";
      return;
    case Type::kText:
      out += "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
      return;
    case Type::kStatus:
      out += "+" + text + "\r\n";
      return;
    case Type::kError:
      out += "-" + text + "\r\n";
      return;
    case Type::kArray:
      out += "*" + std::to_string(elements.size()) + "\r\n";
      for (const Reply& element : elements) element.append_to(out);
      return;
  }
}

std::string Reply::brief() const {
  constexpr size_t kLongest = 60;
  switch (type) {
    case Type::kNil:
      return "nil";
    case Type::kInteger:
      return std::to_string(number);
    case Type::kError:
      return "error " + text;
    case Type::kText:
    case Type::kStatus:
      return text.substr(0, kLongest);
    case Type::kArray:
      break;
  }
  std::string all = "{";
  for (const Reply& element : elements)
    all += element.brief() + (&element == &elements.back() ? "" : ", ");
  return all + "}";
}

}  // namespace lockc::sim
