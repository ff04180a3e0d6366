// Any bytes as an answer of the hub or as the list of downloads: what is accepted keeps its promises, above
// all that no name leads out of its folder.
#include "app/download/hub_json.h"
#include "app/download/hub_names.h"
#include "app/download/model_choices.h"
#include "app/download/queue_file.h"
#include "app/network/http_fields.h"

#include "fuzz.h"

using namespace fovea;
using namespace fovea::app;

namespace {

void check_file(const HubFile& file) {
  fuzz_check(is_repository_path(file.path));
  // A part like "..(" is a name; ".." leads out.
  fuzz_check(!file.path.starts_with('/') && ("/" + file.path + "/").find("/../") == std::string::npos);
  fuzz_check(file.bytes >= 0 && file.bytes <= max_file_bytes);
  fuzz_check(is_commit(file.git_oid));
  fuzz_check(file.sha256.empty() || is_sha256(file.sha256));
}

void tree(std::string_view text) {
  const auto files = parse_tree(text, "hub");
  if (!files) return fuzz::check_error(files.error());
  for (const HubFile& file : *files) check_file(file);
  const HubRepository repository{"a/b", "main", std::string(40, 'c'), false, *files};
  std::size_t chosen = 0;
  for (const ModelChoice& choice : model_choices(repository)) {
    fuzz_check(!choice.files.empty());
    std::int64_t bytes = 0;
    for (const HubFile& file : choice.files) bytes += file.bytes;
    fuzz_check(bytes == choice.bytes);
    chosen += choice.files.size();
  }
  fuzz_check(chosen <= files->size());
}

void search(std::string_view text) {
  const auto models = parse_search(text, "hub");
  if (!models) return fuzz::check_error(models.error());
  for (const HubModel& model : *models)
    fuzz_check(is_repository_id(model.id) && model.downloads >= 0 && model.likes >= 0);
}

void revision(std::string_view text) {
  const auto found = parse_revision(text, "hub");
  if (!found) return fuzz::check_error(found.error());
  fuzz_check(is_commit(found->commit) && is_repository_id(found->id));
}

void queue(std::string_view text) {
  const auto read = parse_queue(text, "queue");
  if (!read) return fuzz::check_error(read.error());
  for (const QueuedDownload& entry : *read)
    for (const HubFile& file : entry.request.choice.files)
      fuzz_check(is_repository_path(file.path) && file.bytes >= 0);
  const auto again = parse_queue(write_queue(*read), "queue");
  fuzz_check(again.has_value() && again->size() == read->size());
}

void fields(std::string_view text) {
  if (const auto range = parse_content_range(text)) {
    fuzz_check(range->first <= range->last && range->first >= -1 && range->total >= -1);
    fuzz_check(range->total < 0 || range->last < range->total);
  }
  if (const auto wait = parse_retry_after(text, 1000)) fuzz_check(*wait >= 0);
  fuzz_check(next_link(text).size() <= text.size());
  fuzz_check(strong_etag(text).size() <= text.size());
  fuzz_check(quantization_in(text).size() <= text.size() + 3);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text = fuzz::text_of(data + 1, size - 1);
  switch (data[0]) {
    case 's':
      search(text);
      break;
    case 'r':
      revision(text);
      break;
    case 'q':
      queue(text);
      break;
    case 'f':
      fields(text);
      break;
    default:
      tree(text);
  }
  return 0;
}
