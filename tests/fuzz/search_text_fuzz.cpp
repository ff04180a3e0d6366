// Any bytes as a search and a text (the first byte says where one ends): words lie inside the text in order,
// and what a snippet marks lies inside it.
#include "app/history/query.h"
#include "app/history/word_tokenizer.h"

#include "fuzz.h"

using namespace fovea;
using namespace fovea::app::history;

namespace {

class Checked final : public WordSink {
 public:
  explicit Checked(std::size_t size) : size_(size) {}
  bool word(std::string_view folded, std::size_t start, std::size_t end) override {
    fuzz_check(!folded.empty() && folded.size() <= 256);
    fuzz_check(start >= at_ && start < end && end <= size_);
    at_ = end;
    return true;
  }

 private:
  std::size_t size_, at_ = 0;
};

void check_ranges(const std::string& text, const std::vector<TextRange>& ranges) {
  std::int32_t at = 0;
  for (const TextRange& range : ranges) {
    fuzz_check(range.start >= at && range.length > 0);
    at = range.start + range.length;
  }
  fuzz_check(at <= static_cast<std::int32_t>(text.size()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view all = fuzz::text_of(data + 1, size - 1);
  const std::string_view typed = all.substr(0, data[0]);
  const std::string text(all.substr(typed.size()));
  Checked words(text.size());
  walk_words(text, words);
  const Query query = parse_query(typed);
  const std::string expression = query.match_expression();
  fuzz_check(query.empty() == expression.empty());
  fuzz_check(expression.find('\0') == std::string::npos);
  check_ranges(text, find_matches(text, query));
  const Snippet snippet = make_snippet(text, query);
  check_ranges(snippet.text, snippet.matches);
  fuzz_check(snippet.text.size() < 300);
  return 0;
}
