#include "app/window/attachments.h"

#include <algorithm>
#include <filesystem>

#include "app/files/files.h"
#include "engine/core/result.h"

namespace fovea::app {

Result<history::Attachment> read_attachment(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_other(path, error)) {  // a pipe might never end
    return fail(ErrorKind::invalid, path, "this is not a regular file",
                "Attach text files, and convert other encodings to UTF-8");
  }
  FOVEA_TRY(std::string text, read_file(path, attachment_limit_bytes));
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  if (const std::size_t bad = std::min(invalid_utf8(text), text.find('\0')); bad != std::string::npos) {
    return fail(ErrorKind::format, path, "byte " + std::to_string(bad) + " is not part of a text in UTF-8",
                "Attach text files, and convert other encodings to UTF-8");
  }
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
