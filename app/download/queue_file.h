// The queue of downloads on the disk.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/download/download_types.h"
#include "engine/api/error.h"

namespace fovea::app {

struct QueuedDownload {
  std::int64_t id = 0;
  DownloadRequest request;
  DownloadState state = DownloadState::queued;  // queued, paused, failed or done
  std::optional<Error> error = {};              // why it failed
};

std::string write_queue(const std::vector<QueuedDownload>& queue);
Result<std::vector<QueuedDownload>> parse_queue(std::string_view text, const std::filesystem::path& file);

}  // namespace fovea::app
