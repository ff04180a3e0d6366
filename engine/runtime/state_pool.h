// Recurrent state of sequences (gated delta, Mamba-2, short convolutions): for each sequence one block of the
// device's memory, which every pass overwrites. It has no pages, so no two sequences share it and none can be
// shortened: a state is saved where one may want to return, found again by the tokens that it has seen, and
// copied.
//
// Blocks are allocated once, for sequences and saved states together. Where all belong to sequences, none is
// saved; where one is needed, the saved state that was longest unused gives way. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/api/error.h"
#include "engine/api/text.h"
#include "kernels/api/device.h"

namespace fovea::runtime {

using StateId = std::int32_t;
inline constexpr StateId no_state = -1;

class StatePool {
 public:
  struct Settings {
    std::int64_t bytes = 0;  // of one sequence's state; 0: the model keeps none
    std::int64_t blocks = 0;
  };
  // States are copied in the stream's order, which must be that of the passes. ErrorKind::memory.
  static Result<std::unique_ptr<StatePool>> create(const Settings& settings, const kernels::Device& device,
                                                   kernels::Stream& stream);
  ~StatePool();
  StatePool(const StatePool&) = delete;
  StatePool& operator=(const StatePool&) = delete;

  // A block for a sequence, of any content; no_state when all are other sequences'.
  StateId take();
  void give_back(StateId id);
  std::byte* memory(StateId id) const { return memory_ + id * settings_.bytes; }

  // Keeps a copy of what a sequence has behind these tokens.
  void save(StateId id, std::span<const TokenId> tokens);
  // The longest of the saved states that have seen a prefix of these tokens: its length; 0: zeros.
  std::int64_t restore(StateId id, std::span<const TokenId> tokens);
  std::int64_t saved() const { return std::ssize(saved_); }
  void forget_saved();

 private:
  struct Saved {
    StateId id = no_state;
    std::vector<TokenId> tokens;
    std::uint64_t last_use = 0;
  };
  StatePool(const Settings& settings, const kernels::Device& device, kernels::Stream& stream)
      : settings_(settings), device_(device), stream_(stream) {}
  std::int64_t all_bytes() const { return settings_.bytes * settings_.blocks; }
  void copy(StateId from, StateId to) const;

  const Settings settings_;
  const kernels::Device& device_;
  kernels::Stream& stream_;
  std::byte* memory_ = nullptr;  // [blocks]
  std::byte* zeros_ = nullptr;   // of the host, one state's bytes
  std::vector<StateId> free_;
  std::vector<Saved> saved_;
  std::uint64_t clock_ = 0;
};

}  // namespace fovea::runtime
