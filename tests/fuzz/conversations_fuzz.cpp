// Any bytes as an export of conversations, ours or ChatGPT's: what is read is a forest whose parents come
// first, is written again without loss, and goes into Markdown.
#include <unordered_set>

#include "app/history/exchange.h"

#include "fuzz.h"

using namespace fovea;
using namespace fovea::app::history;

namespace {

void check_tree(const Archive& archive) {
  std::unordered_set<Id> known{0};
  for (const Message& m : archive.messages) {
    fuzz_check(known.contains(m.parent));
    fuzz_check(known.insert(m.id).second);
    fuzz_check(m.role <= Role::tool && m.state <= MessageState::failed);
  }
  fuzz_check(known.contains(archive.conversation.leaf));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed = from_json(fuzz::text_of(data, size), "fuzz.json");
  if (!parsed) {
    fuzz::check_error(parsed.error());
    return 0;
  }
  fuzz_check(parsed->left_out_count >= static_cast<std::int32_t>(parsed->left_out.size()));
  for (const Archive& archive : parsed->archives) {
    check_tree(archive);
    fuzz_check(!to_markdown({archive.conversation, archive.messages}).empty());
  }
  const std::string written = to_json(parsed->archives);
  const auto again = from_json(written, "written.json");
  fuzz_check(again.has_value());
  fuzz_check(again->archives.size() == parsed->archives.size() && again->left_out_count == 0);
  fuzz_check(to_json(again->archives) == written);
  return 0;
}
