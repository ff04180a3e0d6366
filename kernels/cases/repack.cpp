// Cases of repack: products with weights that came in the processor's order. Reference and device have
// packings of their own, so that what is compared is what a product makes of them.
#include <array>
#include <cstring>

#include "kernels/cases/weights.h"
#include "kernels/formats/processor_tiles.h"

namespace fovea::kernels::cases {

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::int64_t alignment = 64;

// As the processor packs them, word by word.
Bytes processor_tiles_of(const HostWeight& weight) {
  namespace tiles = processor_tiles;
  const BlockShape shape = block_shape(weight.type);
  const std::int64_t blocks = weight.columns / shape.elements;
  const std::int64_t count = (weight.rows + tiles::rows - 1) / tiles::rows;
  Bytes packed(static_cast<std::size_t>(count * tiles::rows * blocks * shape.bytes));
  std::byte* to = packed.data();
  for (std::int64_t tile = 0; tile < count; ++tile) {
    for (std::int64_t block = 0; block < blocks; ++block) {
      for (const tiles::Field& field : tiles::fields_of(weight.type)) {
        const int bytes = tiles::bytes_of(field.word);
        for (int i = 0; i < field.count; ++i) {
          for (std::int64_t row = tile * tiles::rows; row < (tile + 1) * tiles::rows; ++row, to += bytes) {
            if (row >= weight.rows) continue;
            std::uint32_t word = 0;
            const auto size = static_cast<std::size_t>(bytes);
            std::memcpy(&word,
                        weight.bytes.data() + (row * blocks + block) * shape.bytes + field.offset + i * bytes,
                        size);
            word = tiles::packed(field.word, word);
            std::memcpy(to, &word, size);
          }
        }
      }
    }
  }
  return packed;
}

class RepackCase final : public Case {
 public:
  RepackCase(Random& random, Type type, std::int64_t rows, std::int64_t columns, std::int64_t tokens)
      : tokens_(tokens), x_(normals(random, tokens * columns)) {
    name = "repack " + std::string(type_name(type)) + " " + std::to_string(rows) + "x" +
           std::to_string(columns) + ", " + std::to_string(tokens) + " tokens";
    for (HostWeight& weight : weights_) weight = random_weight(random, type, rows, columns);
  }

  bool applies(const Device& device) const override { return device.operations().repack != nullptr; }

  std::function<void(Stream&)> build(Memory& memory) const override {
    const HostWeight& first = weights_.front();
    const Device& device = memory.device();
    Bytes source;
    std::int64_t stride = 0;
    for (const HostWeight& weight : weights_) {
      const Bytes tiles = processor_tiles_of(weight);
      stride = (std::ssize(tiles) + alignment - 1) / alignment * alignment;
      source.insert(source.end(), tiles.begin(), tiles.end());
      source.resize(source.size() + static_cast<std::size_t>(stride - std::ssize(tiles)));
    }
    Repack op{.source = memory.table(source),
              .target = memory.room(2 * stride),
              .type = first.type,
              .rows = first.rows,
              .columns = first.columns,
              .stride = stride,
              .count = std::ssize(weights_)};
    std::vector<Projection> products;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      Weight weight = memory.weight_in_rows(weights_[i]);
      if (device.operations().repack != nullptr) {
        weight.data = op.target + static_cast<std::int64_t>(i) * stride;
        weight.packing = device.preferred_packing(first.type, first.rows, first.columns);
      }
      products.push_back(
          {.weight = weight, .out = memory.output<float>(tokens_ * first.rows), .out_stride = first.rows});
    }
    const Linear linear{.x = memory.input(x_), .tokens = tokens_, .columns = first.columns, .projections = {}};
    return [&operations = device.operations(), op, linear, products](Stream& stream) {
      if (operations.repack != nullptr) operations.repack(op, stream);
      Linear own = linear;
      own.projections = products;
      operations.linear(own, stream);
    };
  }

  std::vector<double> tolerance(const std::vector<float>&) const override {
    std::vector<double> result;
    for (const HostWeight& weight : weights_) {
      for (std::int64_t t = 0; t < tokens_; ++t) {
        const std::vector<double> x(x_.begin() + t * weight.columns, x_.begin() + (t + 1) * weight.columns);
        for (const double sigma : output_sigma(weight, x, input_sigma(weight.type, x)))
          result.push_back(6 * sigma + 1e-36);
      }
    }
    return result;
  }

 private:
  std::int64_t tokens_;
  std::vector<float> x_;
  std::array<HostWeight, 2> weights_;
};

}  // namespace

void add_repack_sweep(Cases& cases, Random& random) {
  for (const Type type : all_types) {
    const std::int64_t elements = block_shape(type).elements;
    const std::int64_t columns = elements == 1 ? 100 : 3 * elements;
    cases.push_back(std::make_unique<RepackCase>(random, type, 37, columns, 1));
  }
  cases.push_back(std::make_unique<RepackCase>(random, Type::q4_k, 64, 1024, 20));
  cases.push_back(std::make_unique<RepackCase>(random, Type::bf16, 32, 512, 20));
}

}  // namespace fovea::kernels::cases
