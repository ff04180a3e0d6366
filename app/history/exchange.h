// Conversations as files: Markdown to read, JSON to keep, and what ChatGPT exports.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/history/types.h"
#include "engine/api/error.h"

namespace fovea::app::history {

// The branch as one Markdown document.
std::string to_markdown(const Branch& branch);

// All branches; from_json() gives the same conversations back, with ids that count from 1.
std::string to_json(const std::vector<Archive>& archives);

struct Parsed {
  std::vector<Archive> archives;
  std::vector<Phrase> left_out;  // at most 100
  std::int32_t left_out_count = 0;
};

// What one file holds. `file` names it in errors. Knows our own JSON and ChatGPT's conversations.json; a
// conversation that cannot be read is left out with a reason, a file that is neither is an error.
Result<Parsed> from_json(std::string_view text, const std::filesystem::path& file);

// The same in pieces of a few conversations, so that a large export needs no more memory than its own text.
using ArchiveSink = std::function<Result<void>(std::vector<Archive>& archives)>;
Result<Parsed> read_json(std::string_view text, const std::filesystem::path& file, const ArchiveSink& sink);

}  // namespace fovea::app::history
