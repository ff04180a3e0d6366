// Downloads as a window or a terminal shows them. Plain data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "app/download/hub_types.h"
#include "engine/api/error.h"

namespace fovea::app {

struct DownloadRequest {
  std::string repository;
  std::string revision = "main";
  std::string commit;
  ModelChoice choice;
  std::filesystem::path folder;  // empty: the hub's cache, with a link in the model library
};

enum class DownloadState : std::uint8_t {
  queued,    // another one is first
  starting,  // the hub is asked where the bytes are
  running,
  waiting,    // for the network: wait_s and error say more; without error for another program
  verifying,  // everything is there, the hash is not finished
  paused,     // by the user
  disk_full,  // goes on by itself when there is room
  failed,     // error says why; resume() tries again
  done,
};
const char* state_name(DownloadState state);

struct DownloadStatus {
  std::int64_t id = 0;
  std::string repository;
  std::string name;
  std::string quantization;
  DownloadState state = DownloadState::queued;
  std::int64_t bytes_done = 0;
  std::int64_t bytes_total = 0;
  double bytes_per_s = 0;
  std::int64_t seconds_left = -1;  // -1: not known
  int wait_s = 0;
  std::string file;            // the one that is on its way
  std::optional<Error> error;  // why it failed, waits or the disk is full; no secrets
  bool wants_token = false;    // it failed because the hub wants one, or another one
  std::filesystem::path path;  // when done: what to open
  std::string
      library_name;  // when done: MODEL for the commands; empty where the library has another of that name
};

}  // namespace fovea::app
