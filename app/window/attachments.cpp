#include "app/window/attachments.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string_view>

#include "app/files/files.h"
#include "app/window/errors.h"
#include "engine/core/result.h"

namespace fovea::app {

namespace {

// Of a picture or a document, which may be larger than any text that could be attached.
Result<void> check_beginning(const std::string& path) {
  std::array<char, 12> bytes{};
  std::ifstream(path, std::ios::binary).read(bytes.data(), bytes.size());
  const std::string_view begin(bytes.data(), bytes.size());
  const auto is_one_of = [begin](std::initializer_list<std::string_view> kinds) {
    return std::ranges::any_of(kinds, [begin](std::string_view kind) { return begin.starts_with(kind); });
  };
  const bool webp = begin.starts_with("RIFF") && begin.ends_with("WEBP");
  if (webp || is_one_of({"\x89PNG\r\n", "\xFF\xD8\xFF", "GIF87a", "GIF89a"}))
    return fail(phrases::file_place(std::filesystem::path(path)), errors::attached_picture());
  if (is_one_of({"%PDF-", "PK\x03\x04"})) {
    return fail(phrases::file_place(std::filesystem::path(path)), errors::attached_document());
  }
  return {};
}

Result<void> check_text(const std::string& path, std::string_view text) {
  if (invalid_utf8(text) == std::string_view::npos && !text.contains('\0')) return {};
  const bool utf16 = text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
  if (!utf16 && text.contains('\0'))
    return fail(phrases::file_place(std::filesystem::path(path)), errors::attached_no_text());
  return fail(phrases::file_place(std::filesystem::path(path)), errors::attached_not_utf8());
}

}  // namespace

Result<history::Attachment> read_attachment(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_other(path, error))  // a pipe might never end
    return fail(phrases::file_place(std::filesystem::path(path)), errors::attached_no_file());
  FOVEA_CHECK(check_beginning(path));
  FOVEA_TRY(std::string text, read_file(path, attachment_limit_bytes));
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  FOVEA_CHECK(check_text(path, text));
  history::Attachment attachment;
  attachment.name = std::filesystem::path(path).filename().string();
  attachment.media_type = "text/plain";
  attachment.text = std::move(text);
  return attachment;
}

std::string prompt_text(const std::string& message, const std::vector<history::Attachment>& attachments) {
  std::string text;
  for (const history::Attachment& file : attachments) {
    // A fence that is longer than any in the file.
    std::size_t longest = 2, run = 0;
    for (const char c : file.text) {
      run = c == '`' ? run + 1 : 0;
      longest = std::max(longest, run);
    }
    const std::string fence(longest + 1, '`');
    text += "File " + file.name + ":\n" + fence + "\n" + file.text;
    if (!file.text.ends_with('\n')) text += '\n';
    text += fence + "\n\n";
  }
  return text + message;
}

}  // namespace fovea::app
