// The feed-forward layer of one token or many: the (token, expert) pairs are grouped by expert; the first
// part of one parallel loop goes over 32 rows of gate and up of every group and leaves activation(gate, up),
// quantised for the second, which goes over rows of the output and adds all groups' shares in one fixed
// order. No thread waits between the parts: when the first groups' shares are added, the last ones' are still
// being computed.
#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstring>

#include "kernels/cpu/chunks.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/panel.h"
#include "kernels/cpu/stream.h"

namespace fovea::kernels::cpu {
namespace {

// The tokens of one expert.
struct Group {
  const Expert* expert = nullptr;
  std::int64_t first = 0;  // of its pairs
  std::int64_t tokens = 0;
  bool all_tokens = false;
  ActivationForm hidden_form = {};  // what the down matrix wants
  std::byte* hidden = nullptr;      // panel_bytes(hidden_form, tokens, width)
  std::int32_t blocks = 0;          // of `hidden`
  std::int32_t blocks_done = 0;     // counted up by the threads that fill it
};

// 32 rows of a group's gate and up matrices.
struct Item {
  std::int32_t group;
  std::int32_t block;
};

struct Plan {
  Group* groups = nullptr;
  std::int64_t group_count = 0;
  Item* items = nullptr;
  std::int64_t item_count = 0;
  std::int32_t* tokens = nullptr;  // [pairs], by group
  float* shares = nullptr;         // [pairs]
  Activations x;
  std::byte* spare = nullptr;
  std::int64_t spare_stride = 0;
};

std::int64_t blocks_of(std::int64_t width) {
  return (width + block_columns - 1) / block_columns;
}

// Counts the pairs of each expert, then lays out the scratch memory and fills in groups, items and pairs.
class Planner {
 public:
  Planner(const FeedForward& op, CpuStream& stream)
      : op_(op), stream_(stream), panel_(op.x, op.tokens, op.d) {}

  Plan make() {
    const auto experts = static_cast<std::int64_t>(op_.experts.size());
    const std::int64_t pairs = op_.tokens * (op_.used + (op_.shared ? 1 : 0));
    // The counts stand at the start of the scratch memory, whose full size they decide: it is asked for
    // twice, and they are counted again if it moved.
    ScratchLayout layout;
    const std::int64_t counts_at = layout.add(experts * 8);
    count_pairs(reinterpret_cast<std::int64_t*>(stream_.scratch(layout.bytes()) + counts_at));
    const std::int64_t groups_at = layout.add((experts + 1) * static_cast<std::int64_t>(sizeof(Group)));
    const std::int64_t tokens_at = layout.add(pairs * 4);
    const std::int64_t shares_at = layout.add(pairs * 4);
    const std::int64_t items_at = layout.add(items_ * static_cast<std::int64_t>(sizeof(Item)));
    panel_.lay_out(layout);
    const std::int64_t hidden_at = layout.add(hidden_bytes_);
    spare_ = (spare_ + 63) / 64 * 64;
    const std::int64_t spare_at = layout.add(spare_ * stream_.pool().threads());

    std::byte* const scratch = stream_.scratch(layout.bytes());
    auto* const counts = reinterpret_cast<std::int64_t*>(scratch + counts_at);
    count_pairs(counts);
    Plan plan;
    plan.groups = reinterpret_cast<Group*>(scratch + groups_at);
    plan.items = reinterpret_cast<Item*>(scratch + items_at);
    plan.tokens = reinterpret_cast<std::int32_t*>(scratch + tokens_at);
    plan.shares = reinterpret_cast<float*>(scratch + shares_at);
    plan.spare = scratch + spare_at;
    plan.spare_stride = spare_;
    hidden_ = scratch + hidden_at;
    fill_pairs(plan, counts);
    plan.x = panel_.fill(scratch, stream_);
    return plan;
  }

 private:
  ActivationForm form_of(const Weight& weight) const {
    return stream_.kernels().activation_form(weight.type);
  }
  std::int64_t hidden_bytes(const Expert& expert, std::int64_t tokens) const {
    return (panel_bytes(form_of(expert.down), tokens, expert.gate.rows) + 63) / 64 * 64;
  }

  bool is_here(std::int64_t expert) const {
    return static_cast<bool>(op_.experts[static_cast<std::size_t>(expert)].gate);
  }

  void count_pairs(std::int64_t* counts) {
    const auto experts = static_cast<std::int64_t>(op_.experts.size());
    std::fill_n(counts, experts, 0);
    for (std::int64_t i = 0; i < op_.tokens * op_.used; ++i) ++counts[op_.ids[i]];
    items_ = hidden_bytes_ = spare_ = 0;
    for (std::int64_t e = 0; e < experts; ++e) {
      if (counts[e] > 0 && is_here(e)) count_expert(op_.experts[static_cast<std::size_t>(e)], counts[e]);
    }
    if (op_.shared) count_expert(*op_.shared, op_.tokens);
  }

  void count_expert(const Expert& expert, std::int64_t tokens) {
    items_ += blocks_of(expert.gate.rows);
    hidden_bytes_ += hidden_bytes(expert, tokens);
    panel_.want(form_of(expert.gate));
    panel_.want(form_of(expert.up));
    spare_ = std::max({spare_, spare_bytes(expert.gate), spare_bytes(expert.up), spare_bytes(expert.down)});
  }

  void add_group(Plan& plan, const Expert& expert, std::int64_t first, std::int64_t tokens, bool all) {
    Group& group = plan.groups[plan.group_count];
    group = {.expert = &expert,
             .first = first,
             .tokens = tokens,
             .all_tokens = all,
             .hidden_form = form_of(expert.down),
             .hidden = hidden_,
             .blocks = static_cast<std::int32_t>(blocks_of(expert.gate.rows))};
    hidden_ += hidden_bytes(expert, tokens);
    for (std::int32_t b = 0; b < group.blocks; ++b) {
      plan.items[plan.item_count++] = {static_cast<std::int32_t>(plan.group_count), b};
    }
    ++plan.group_count;
  }

  // Turns the counts into the slot of each expert's next pair.
  void fill_pairs(Plan& plan, std::int64_t* counts) {
    const auto experts = static_cast<std::int64_t>(op_.experts.size());
    std::int64_t first = 0;
    for (std::int64_t e = 0; e < experts; ++e) {
      const std::int64_t tokens = counts[e];
      if (tokens > 0 && is_here(e))
        add_group(plan, op_.experts[static_cast<std::size_t>(e)], first, tokens, false);
      counts[e] = first;
      first += tokens;
    }
    for (std::int64_t i = 0; i < op_.tokens * op_.used; ++i) {
      const std::int64_t slot = counts[op_.ids[i]]++;
      plan.tokens[slot] = static_cast<std::int32_t>(i / op_.used);
      plan.shares[slot] = op_.weights[i];
    }
    if (!op_.shared) return;
    add_group(plan, *op_.shared, first, op_.tokens, true);
    for (std::int64_t t = 0; t < op_.tokens; ++t) {
      plan.tokens[first + t] = static_cast<std::int32_t>(t);
      plan.shares[first + t] = op_.shared_weights ? op_.shared_weights[t] : 1.0F;
    }
  }

  const FeedForward& op_;
  CpuStream& stream_;
  std::int64_t items_ = 0;
  std::int64_t hidden_bytes_ = 0;
  std::int64_t spare_ = 0;
  Panel panel_;
  std::byte* hidden_ = nullptr;
};

constexpr std::int64_t tiles_in_block = block_columns / tile_rows;

// y [tokens, 16] += bias, of the rows that the weight's tile has.
void add_bias(const float* bias, const Weight& weight, std::int64_t tile, std::int64_t tokens, float* y) {
  if (!bias) return;
  const std::int64_t rows = rows_in_tile(weight, tile);
  for (std::int64_t t = 0; t < tokens; ++t)
    for (std::int64_t r = 0; r < rows; ++r) y[t * tile_rows + r] += bias[tile * tile_rows + r];
}

// A tile's products with some tokens: [tokens, 16].
struct alignas(64) TileSums {
  float values[max_tokens_at_once * tile_rows];
};

// The parallel loop's two bodies.
class Layer {
 public:
  Layer(const FeedForward& op, const Plan& plan, const Kernels& kernels)
      : op_(op), plan_(plan), kernels_(kernels) {}

  void hidden(std::int64_t begin, std::int64_t end, int thread) const {
    for (std::int64_t i = begin; i < end; ++i) {
      const Item& item = plan_.items[i];
      const Group& group = plan_.groups[item.group];
      const std::byte* next = nullptr;
      if (i + 1 < end) {
        const Item& following = plan_.items[i + 1];
        next = address_of_tile(plan_.groups[following.group].expert->gate, following.block * tiles_in_block);
      }
      const std::int64_t at_once = std::min(tokens_at_once(form_of(group.expert->gate), op_.d),
                                            tokens_at_once(form_of(group.expert->up), op_.d));
      for (std::int64_t first = 0; first < group.tokens; first += at_once) {
        hidden_chunk(group, item.block, first, std::min(at_once, group.tokens - first), next, thread);
      }
      std::atomic_ref(plan_.groups[item.group].blocks_done).fetch_add(1, std::memory_order_release);
    }
  }

  // The tiles [begin, end) of every token's output. A group's activations stay in the cache for all of them.
  void output(std::int64_t begin, std::int64_t end, int thread) const {
    const std::int64_t rows = std::min(op_.d, end * tile_rows) - begin * tile_rows;
    for (std::int64_t t = 0; t < op_.tokens; ++t) {
      std::fill_n(op_.out + t * op_.d + begin * tile_rows, rows, 0.0F);
    }
    for (std::int64_t g = 0; g < plan_.group_count; ++g) {
      const Group& group = plan_.groups[g];
      wait_for_hidden(plan_.groups[g]);
      const std::int64_t at_once = tokens_at_once(group.hidden_form, group.expert->down.columns);
      for (std::int64_t first = 0; first < group.tokens; first += at_once) {
        const std::int64_t tokens = std::min(at_once, group.tokens - first);
        for (std::int64_t tile = begin; tile < end; ++tile) {
          const bool last = tile + 1 == end && g + 1 < plan_.group_count;
          const std::byte* const next =
              last ? address_of_tile(plan_.groups[g + 1].expert->down, begin) : nullptr;
          output_chunk(group, tile, first, tokens, next, thread);
        }
      }
    }
  }

 private:
  // Whoever fills a block has claimed it before this thread claimed its rows of the output.
  static void wait_for_hidden(Group& group) {
    const std::atomic_ref done(group.blocks_done);
    for (int round = 0; done.load(std::memory_order_acquire) < group.blocks; ++round) wait_a_little(round);
  }

  ActivationForm form_of(const Weight& weight) const { return kernels_.activation_form(weight.type); }
  std::byte* spare(int thread) const { return plan_.spare + thread * plan_.spare_stride; }

  // Two tiles of one matrix, or one where it ends: y [2][tokens, 16].
  void multiply_block(const Weight& weight, const Group& group, std::int64_t block, std::int64_t first,
                      std::int64_t tokens, const std::byte* next, TileSums* y, int thread) const {
    const std::int64_t tile = block * tiles_in_block;
    const std::int64_t count = std::min<std::int64_t>(tiles_in_block, tile_count(weight.rows) - tile);
    for (std::int64_t i = 0; i < count; ++i) {
      kernels_.multiply_tile(weight.type)(
          {.tile = tile_of(weight, tile + i, spare(thread)),
           .next = i + 1 == count ? next : nullptr,
           .columns = op_.d,
           .x = plan_.x,
           .index = group.all_tokens ? nullptr : plan_.tokens + group.first + first,
           .first = group.all_tokens ? first : 0,
           .tokens = tokens,
           .y = y[i].values});
    }
  }

  void output_chunk(const Group& group, std::int64_t tile, std::int64_t first, std::int64_t tokens,
                    const std::byte* next, int thread) const {
    TileSums y;
    const Weight& down = group.expert->down;
    kernels_.multiply_tile(down.type)({.tile = tile_of(down, tile, spare(thread)),
                                       .next = next,
                                       .columns = down.columns,
                                       .x = hidden_of(group),
                                       .first = first,
                                       .tokens = tokens,
                                       .y = y.values});
    add_bias(group.expert->down_bias, down, tile, tokens, y.values);
    const std::int64_t pair = group.first + first;
    kernels_.scatter_tile({.y = y.values,
                           .tokens = tokens,
                           .index = plan_.tokens + pair,
                           .shares = plan_.shares + pair,
                           .out = op_.out + tile * tile_rows,
                           .out_stride = op_.d,
                           .count = rows_in_tile(down, tile)});
  }

  void hidden_chunk(const Group& group, std::int64_t block, std::int64_t first, std::int64_t tokens,
                    const std::byte* next, int thread) const {
    TileSums gate[tiles_in_block];
    TileSums up[tiles_in_block];
    alignas(64) float both[max_tokens_at_once * block_columns];  // [tokens, 32]
    const Expert& expert = *group.expert;
    const std::int64_t width = expert.gate.rows;
    multiply_block(expert.gate, group, block, first, tokens,
                   address_of_tile(expert.up, block * tiles_in_block), gate, thread);
    multiply_block(expert.up, group, block, first, tokens, next, up, thread);
    for (std::int64_t i = 0; i < tiles_in_block && (block * tiles_in_block + i) * tile_rows < width; ++i) {
      const std::int64_t tile = block * tiles_in_block + i;
      add_bias(expert.gate_bias, expert.gate, tile, tokens, gate[i].values);
      add_bias(expert.up_bias, expert.up, tile, tokens, up[i].values);
      kernels_.gate_tile(expert.activation, gate[i].values, up[i].values, tokens);
      for (std::int64_t t = 0; t < tokens; ++t) {
        std::memcpy(both + t * block_columns + i * tile_rows, gate[i].values + t * tile_rows,
                    tile_rows * sizeof(float));
      }
    }
    write_hidden(group, block, first, tokens, both);
  }

  // 32 columns (fewer at the end of a row of floats) of some tokens' hidden values.
  void write_hidden(const Group& group, std::int64_t block, std::int64_t first, std::int64_t tokens,
                    const float* values) const {
    const std::int64_t begin = block * block_columns;
    const std::int64_t width = group.expert->gate.rows;
    const std::int64_t columns = std::min<std::int64_t>(block_columns, width - begin);
    for (std::int64_t t = first; t < first + tokens; ++t, values += block_columns) {
      switch (group.hidden_form) {
        case ActivationForm::floats:
          std::copy_n(values, columns,
                      reinterpret_cast<float*>(group.hidden) + t * panel_stride(width, 4) + begin);
          break;
        case ActivationForm::bfloat16:
          kernels_.round_activations(
              values, columns,
              reinterpret_cast<std::uint16_t*>(group.hidden) + t * panel_stride(width, 2) + begin);
          break;
        case ActivationForm::blocks:
          kernels_.quantize_activations(
              values, block_columns,
              reinterpret_cast<ActivationBlock*>(group.hidden) + block * group.tokens + t, 1);
          break;
      }
    }
  }

  Activations hidden_of(const Group& group) const {
    const std::int64_t width = group.expert->gate.rows;
    return {.floats = reinterpret_cast<const float*>(group.hidden),
            .bfloat16 = reinterpret_cast<const std::uint16_t*>(group.hidden),
            .blocks = reinterpret_cast<const ActivationBlock*>(group.hidden),
            .floats_stride = panel_stride(width, 4),
            .bfloat16_stride = panel_stride(width, 2),
            .tokens = group.tokens};
  }

  const FeedForward& op_;
  const Plan& plan_;
  const Kernels& kernels_;
};

}  // namespace

void feed_forward(const FeedForward& op, Stream& stream) {
  CpuStream& cpu = on_cpu(stream);
  const Plan plan = Planner(op, cpu).make();
  const Layer layer(op, plan, cpu.kernels());
  const int threads = cpu.pool().threads();
  const std::int64_t tiles = tile_count(op.d);
  // With many tokens, a chunk's weights must stay in the cache.
  const auto largest = [&](std::int64_t count) { return op.tokens == 1 ? count : count / (threads * 8); };
  const ShrinkingChunks blocks(plan.item_count, threads, largest(plan.item_count));
  const ShrinkingChunks outputs(tiles, threads, largest(tiles));
  cpu.pool().for_chunks(blocks.count() + outputs.count(), 1,
                        [&](std::int64_t chunk, std::int64_t, int thread) {
                          if (chunk < blocks.count()) {
                            layer.hidden(blocks.begin(chunk), blocks.end(chunk), thread);
                          } else {
                            chunk -= blocks.count();
                            layer.output(outputs.begin(chunk), outputs.end(chunk), thread);
                          }
                        });
  if (op.then) cpu.kernels().operations.rms_norm(op.then, stream);
}

}  // namespace fovea::kernels::cpu
