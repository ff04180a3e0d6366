// Recurrent state of sequences (gated delta, Mamba-2, short convolutions): for each sequence one block of the
// device's memory, which every pass overwrites. It has no pages, so no two sequences share it and none can be
// shortened: a state is saved where one may want to return, found again by the tokens that it has seen, and
// copied.
//
// What is saved lies in the host's memory, of which a card's machine has more; where memory is the host's
// own, beside the sequences'. All is allocated once. Where a place is needed, the saved state that was
// longest unused gives way. Of those that are not at the spacing, the ends of turns, only so many stay, so
// that they leave the others their place. One thread at a time.
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
    std::int64_t bytes = 0;      // of one sequence's state; 0: the model keeps none
    std::int64_t sequences = 0;  // at once
    std::int64_t saved = 0;
    std::int64_t spacing = 1;    // tokens; states at a multiple of it …
    std::int64_t turn_ends = 0;  // … and at most so many others
  };
  // States are copied in the stream's order, which must be that of the passes. ErrorKind::memory.
  static Result<std::unique_ptr<StatePool>> create(const Settings& settings, const kernels::Device& device,
                                                   kernels::Stream& stream);
  ~StatePool();
  StatePool(const StatePool&) = delete;
  StatePool& operator=(const StatePool&) = delete;

  std::int64_t spacing() const { return settings_.spacing; }

  // A block for a sequence, of any content; no_state when all are other sequences'.
  StateId take();
  void give_back(StateId id) { free_.push_back(id); }
  std::byte* memory(StateId id) const { return memory_ + id * settings_.bytes; }

  // Keeps a copy of what a sequence has behind these tokens.
  void save(StateId id, std::span<const TokenId> tokens);
  // The longest of the saved states that have seen a prefix of these tokens: its length; 0: zeros.
  std::int64_t restore(StateId id, std::span<const TokenId> tokens);
  std::int64_t saved() const { return std::ssize(saved_); }
  void forget_saved();

 private:
  struct Saved {
    std::int64_t place = 0;
    std::vector<TokenId> tokens;
    std::uint64_t last_use = 0;
  };
  StatePool(const Settings& settings, const kernels::Device& device, kernels::Stream& stream)
      : settings_(settings), device_(device), stream_(stream) {}
  std::int64_t sequence_bytes() const { return settings_.bytes * settings_.sequences; }
  std::int64_t host_bytes() const { return settings_.bytes * (settings_.saved + 1); }
  std::byte* saved_memory(std::int64_t place) const { return host_ + (place + 1) * settings_.bytes; }
  bool at_spacing(std::span<const TokenId> tokens) const {
    return std::ssize(tokens) % settings_.spacing == 0;
  }
  // Of these the longest unused one goes.
  template <class Condition>
  bool forget_oldest(Condition&& is_meant);

  const Settings settings_;
  const kernels::Device& device_;
  kernels::Stream& stream_;
  std::byte* memory_ = nullptr;  // [sequences]
  std::byte* host_ = nullptr;    // [1 + saved]: zeros, then what is saved
  std::vector<StateId> free_;
  std::vector<std::int64_t> free_places_;
  std::vector<Saved> saved_;
  std::uint64_t clock_ = 0;
};

}  // namespace fovea::runtime
