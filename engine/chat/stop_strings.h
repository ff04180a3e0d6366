// Ends an answer at the first of the request's stop strings that is complete, wherever token borders lie.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea::chat {

class StopStrings {
 public:
  explicit StopStrings(std::vector<std::string> strings) : strings_(std::move(strings)) {}

  // Takes the next piece of the answer and returns what is now certain to belong to it: everything but an end
  // that could begin a stop string. After a stop string was found, nothing more.
  std::string push(std::string_view text);
  // The answer ends here: what was held back belongs to it.
  std::string finish();
  std::size_t held() const { return held_.size(); }  // bytes
  bool found() const { return found_; }

 private:
  std::size_t safe_length() const;

  std::vector<std::string> strings_;
  std::string held_;
  bool found_ = false;
};

}  // namespace fovea::chat
