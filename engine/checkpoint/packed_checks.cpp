// What a packed layer's tensors must be like, and which type its rows take.
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/checkpoint/describe.h"
#include "engine/checkpoint/packed_layer.h"
#include "kernels/formats/half.h"

namespace fovea::checkpoint {
namespace {

using kernels::Type;

constexpr std::int64_t block_columns = 32;

std::unexpected<Error> wrong(const PackedPart& part, Error error) {
  return damaged(part.file, part.offset, std::move(error));
}

std::unexpected<Error> wrong_shape(const PackedPart& part, Phrase expected) {
  return wrong(part, errors::packed_shape(in_quotes(part.name), part.shape, std::move(expected)));
}

constexpr std::int64_t words_for(std::int64_t codes, int bits) {
  return codes / 32 * bits + (codes % 32 * bits + 31) / 32;
}

class Checks {
 public:
  Checks(const PackedParts& parts, const Quantization& quantization)
      : codes_(*parts.codes),
        zeros_(*parts.zeros),
        scales_(*parts.scales),
        groups_(parts.groups ? &*parts.groups : nullptr),
        quantization_(quantization) {}

  Result<PackedLayer> run() {
    FOVEA_CHECK(matrices());
    FOVEA_CHECK(layer_.layout == PackedLayout::awq ? awq_shapes() : gptq_shapes());
    FOVEA_CHECK(group_columns());
    FOVEA_CHECK(group_numbers());
    FOVEA_CHECK(zero_points());
    choose_type();
    FOVEA_CHECK(scales());
    return std::move(layer_);
  }

 private:
  Result<void> matrices() {
    for (const PackedPart* part : {&codes_, &zeros_, &scales_}) {
      if (part->shape.size() != 2 || part->shape[0] == 0 || part->shape[1] == 0)
        return wrong_shape(*part, phrases::packed_two_dimensions());
      layer_.regions.push_back({part->file_index, part->offset, part->data.size()});
    }
    layer_.layout = quantization_.layout;
    layer_.zeros_less_one = quantization_.zeros_less_one;
    layer_.codes = codes_.data.data();
    layer_.zeros = zeros_.data.data();
    layer_.scales = scales_.data.data();
    layer_.scale_type = scales_.type;
    layer_.group_count = scales_.shape[0];
    layer_.rows = scales_.shape[1];
    layer_.zero_words = zeros_.shape[1];
    if (zeros_.shape[0] != layer_.group_count)
      return wrong_shape(zeros_, phrases::packed_groups_as_in(layer_.group_count, in_quotes(scales_.name)));
    return {};
  }

  Result<void> awq_shapes() {
    layer_.bits = 4;
    layer_.columns = codes_.shape[0];
    const std::int64_t words = layer_.rows / 8;
    if (layer_.rows % 8 != 0) return wrong_shape(scales_, phrases::packed_multiple_of_8_outputs());
    if (codes_.shape[1] != words) return wrong_shape(codes_, phrases::packed_inputs_by_words(words));
    if (zeros_.shape[1] != words) return wrong_shape(zeros_, phrases::packed_groups_by_words(words));
    if (groups_ != nullptr)
      return wrong(*groups_, errors::packed_groups_unexpected(in_quotes(groups_->name)));
    return {};
  }

  // The bits follow from the zero points' words: some layers may have others than the folder's.
  Result<void> gptq_shapes() {
    if (codes_.shape[1] != layer_.rows)
      return wrong_shape(codes_, phrases::packed_outputs_as_in(layer_.rows, in_quotes(scales_.name)));
    layer_.bits = 0;
    for (const int bits : {quantization_.bits, 2, 3, 4, 5, 6, 7, 8}) {
      if (layer_.bits == 0 && words_for(layer_.rows, bits) == layer_.zero_words) layer_.bits = bits;
    }
    if (layer_.bits == 0) return wrong_shape(zeros_, phrases::packed_words_of_2_to_8_bits(layer_.rows));
    const std::int64_t words = codes_.shape[0];
    layer_.columns = words / layer_.bits * 32 + words % layer_.bits * 32 / layer_.bits;
    if (groups_ != nullptr) {
      if (groups_->shape.size() != 1) return wrong_shape(*groups_, phrases::packed_one_dimension());
      layer_.columns = groups_->shape[0];
      layer_.groups = groups_->data.data();
      layer_.regions.push_back({groups_->file_index, groups_->offset, groups_->data.size()});
    }
    if (layer_.columns == 0 || words_for(layer_.columns, layer_.bits) != words) {
      return wrong_shape(codes_, phrases::packed_words_of_bits(layer_.columns, layer_.bits));
    }
    return {};
  }

  Result<void> group_columns() {
    const std::int64_t columns = layer_.columns, count = layer_.group_count;
    const std::int64_t usual = quantization_.group_size > 0 ? quantization_.group_size : columns;
    if ((columns + usual - 1) / usual == count) {
      layer_.group_columns = usual;
    } else if (columns % count == 0) {
      layer_.group_columns = columns / count;
    } else {
      return wrong_shape(scales_, phrases::packed_groups_of((columns + usual - 1) / usual, usual, columns));
    }
    return {};
  }

  Result<void> group_numbers() {
    if (groups_ == nullptr) {
      whole_blocks_ = layer_.group_count == 1 || layer_.group_columns % block_columns == 0;
      return {};
    }
    for (std::int64_t c = 0; c < layer_.columns; ++c) {
      const std::int64_t group = layer_.group(c);
      if (group < 0 || group >= layer_.group_count) {
        return wrong(*groups_,
                     errors::packed_group_number(in_quotes(groups_->name), c, group, layer_.group_count));
      }
      in_order_ = in_order_ && group == c / layer_.group_columns;
      whole_blocks_ = whole_blocks_ && group == layer_.group(c / block_columns * block_columns);
    }
    return {};
  }

  Result<void> zero_points() {
    std::array<std::uint8_t, 64> zeros{};
    for (std::int64_t g = 0; g < layer_.group_count; ++g) {
      for (std::int64_t row = 0; row < layer_.rows; row += std::ssize(zeros)) {
        const int count = static_cast<int>(std::min<std::int64_t>(std::ssize(zeros), layer_.rows - row));
        read_packed_zeros(layer_, g, row, count, zeros.data());
        for (int i = 0; i < count; ++i) {
          const int zero = zeros[static_cast<std::size_t>(i)];
          min_zero_ = std::min(min_zero_, zero);
          max_zero_ = std::max(max_zero_, zero);
        }
      }
    }
    const int middle = 1 << (layer_.bits - 1);
    if (quantization_.symmetric && (min_zero_ != middle || max_zero_ != middle)) {
      const int found = min_zero_ != middle ? min_zero_ : max_zero_;
      const std::string name = in_quotes(zeros_.name);
      return wrong(zeros_, layer_.zeros_less_one ? errors::packed_zero_point_less_one(name, found, middle)
                                                 : errors::packed_zero_point(name, found, middle));
    }
    return {};
  }

  void choose_type() {
    struct Range {
      Type type;
      int least, most;
    };
    static constexpr Range ranges[] = {{Type::q4_0, -8, 7}, {Type::q5_0, -16, 15}, {Type::q8_0, -128, 127}};
    layer_.type = Type::f16;
    if (layer_.columns % block_columns != 0) {
      layer_.rounding = Rounding::columns;
    } else if (!whole_blocks_) {
      layer_.rounding = in_order_ ? Rounding::groups : Rounding::permuted;
    } else {
      const int max_code = (1 << layer_.bits) - 1;
      const auto* fits = std::ranges::find_if(ranges, [&](const Range& range) {
        return -max_zero_ >= range.least && max_code - min_zero_ <= range.most;
      });
      if (fits == std::end(ranges)) {
        layer_.rounding = Rounding::zero_points;
      } else {
        layer_.type = fits->type;
      }
    }
  }

  // F16 scales become a block's as they are.
  Result<void> scales() {
    if (layer_.scale_type == Type::f16) return {};
    constexpr float largest_half = 65504;
    const auto steps = static_cast<float>(layer_.type == Type::f16 ? (1 << layer_.bits) - 1 : 1);
    bool exact = true;
    for (std::int64_t g = 0; g < layer_.group_count; ++g) {
      for (std::int64_t row = 0; row < layer_.rows; ++row) {
        const float scale = packed_scale(layer_, g, row);
        if (!(std::abs(scale) * steps <= largest_half)) {
          return wrong(scales_, errors::packed_scale_too_large(in_quotes(scales_.name), scale));
        }
        exact = exact && kernels::formats::half_to_float(kernels::formats::float_to_half(scale)) == scale;
      }
    }
    if (!exact && layer_.rounding == Rounding::none) layer_.rounding = Rounding::scales;
    return {};
  }

  const PackedPart& codes_;
  const PackedPart& zeros_;
  const PackedPart& scales_;
  const PackedPart* groups_;
  const Quantization& quantization_;
  PackedLayer layer_;
  bool in_order_ = true, whole_blocks_ = true;
  int min_zero_ = 255, max_zero_ = 0;
};

}  // namespace

Result<PackedLayer> check_packed(const std::string& name, const PackedParts& parts,
                                 const Quantization& quantization) {
  const PackedPart* some = nullptr;
  for (const auto* part : {&parts.codes, &parts.zeros, &parts.scales, &parts.groups}) {
    if (part->has_value()) some = &**part;
  }
  struct Needed {
    const std::optional<PackedPart>& part;
    const char* suffix;
  };
  for (const auto& [part, suffix] :
       {Needed{parts.codes, ".qweight"}, Needed{parts.zeros, ".qzeros"}, Needed{parts.scales, ".scales"}}) {
    if (part) continue;
    return damaged(some->file, some->offset,
                   errors::packed_tensor_missing(in_quotes(name + suffix), in_quotes(some->name)));
  }
  return Checks(parts, quantization).run();
}

}  // namespace fovea::checkpoint
