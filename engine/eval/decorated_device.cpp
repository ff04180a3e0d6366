#include "engine/eval/decorated_device.h"

#include <cstring>
#include <utility>

namespace fovea::eval {

// Hands on what it is given, and knows where in a pass it is: an embedding begins one, each router is another
// layer, and what follows a synchronisation is the next pass.
class DecoratedDevice::Stream final : public kernels::Stream {
 public:
  Stream(std::unique_ptr<kernels::Stream> inner, const DecoratedDevice& device)
      : device(device), inner_(std::move(inner)) {}
  static Stream& of(kernels::Stream& stream) { return static_cast<Stream&>(stream); }
  static kernels::Stream& inside(kernels::Stream& stream) { return *of(stream).inner_; }

  void synchronize() override {
    inner_->synchronize();
    between_passes_ = true;
  }
  kernels::Failure failure() const override { return inner_->failure(); }
  bool begin_capture() override { return inner_->begin_capture(); }
  std::unique_ptr<kernels::Graph> end_capture(std::string& why) override { return inner_->end_capture(why); }
  void launch(const kernels::Graph& graph) override {
    choose(1);  // graphs decode one token
    inner_->launch(graph);
  }

  void begin_pass(std::int64_t tokens) {
    layer_ = -1;
    tokens_ = tokens;
    choose(tokens);
    if (device.on_device_ != device.on_host_)
      device.inner_.copy(device.on_device_, device.on_host_, bytes_of(device.choices_.layers * tokens),
                         *inner_);
  }
  void begin_layer() { ++layer_; }
  // Of the last `tokens` of this pass's layer.
  const std::int32_t* chosen(const std::byte* memory, std::int64_t tokens) const {
    return reinterpret_cast<const std::int32_t*>(memory + bytes_of(layer_ * tokens_ + tokens_ - tokens));
  }
  std::int64_t bytes_of(std::int64_t rows) const {
    return rows * device.choices_.used * static_cast<std::int64_t>(sizeof(std::int32_t));
  }

  const DecoratedDevice& device;

 private:
  // Once for a pass: nothing of the pass before is still to be read.
  void choose(std::int64_t tokens) {
    if (!std::exchange(between_passes_, false) || device.on_host_ == nullptr) return;
    std::memcpy(device.on_host_, device.choices_.routing(tokens),
                static_cast<std::size_t>(bytes_of(device.choices_.layers * tokens)));
  }

  std::unique_ptr<kernels::Stream> inner_;
  bool between_passes_ = true;
  std::int64_t layer_ = -1, tokens_ = 0;
};

DecoratedDevice::~DecoratedDevice() {
  if (on_device_ != nullptr && on_device_ != on_host_) inner_.release(on_device_, bytes());
  if (on_host_ != nullptr) inner_.release_host(on_host_, bytes());
}

std::int64_t DecoratedDevice::bytes() const {
  return choices_.layers * choices_.max_tokens * choices_.used *
         static_cast<std::int64_t>(sizeof(std::int32_t));
}

bool DecoratedDevice::choose(Choices choices) {
  choices_ = std::move(choices);
  on_host_ = inner_.allocate_host(bytes());
  on_device_ = inner_.memory_is_host() ? on_host_ : inner_.allocate(bytes());
  return on_host_ != nullptr && on_device_ != nullptr;
}

std::unique_ptr<kernels::Stream> DecoratedDevice::make_stream(const kernels::StreamOptions& options) const {
  auto inner = inner_.make_stream(options);
  if (inner == nullptr) return nullptr;
  return std::make_unique<Stream>(std::move(inner), *this);
}

const kernels::OperationTable& DecoratedDevice::operations() const {
  static constexpr auto operations_of = [](kernels::Stream& stream) -> const kernels::OperationTable& {
    return Stream::of(stream).device.inner_.operations();
  };
  static constexpr auto leaves_out = [](kernels::Stream& stream, Part part) {
    return Stream::of(stream).device.left_out_ == part;
  };
  // What is left out is no norm.
  static constexpr auto norm_alone = [](const kernels::RmsNorm& norm, kernels::Stream& stream) {
    if (norm) operations_of(stream).rms_norm(norm, Stream::inside(stream));
  };
  static constexpr kernels::OperationTable table{
      .embed_rows =
          [](const kernels::EmbedRows& embed, kernels::Stream& stream) {
            if (Stream::of(stream).device.on_host_ != nullptr) Stream::of(stream).begin_pass(embed.tokens);
            operations_of(stream).embed_rows(embed, Stream::inside(stream));
          },
      .rms_norm =
          [](const kernels::RmsNorm& norm, kernels::Stream& stream) {
            operations_of(stream).rms_norm(norm, Stream::inside(stream));
          },
      .linear =
          [](const kernels::Linear& linear, kernels::Stream& stream) {
            if (leaves_out(stream, Part::linear)) return norm_alone(linear.then, stream);
            operations_of(stream).linear(linear, Stream::inside(stream));
          },
      .attention_inputs =
          [](const kernels::AttentionInputs& inputs, kernels::Stream& stream) {
            operations_of(stream).attention_inputs(inputs, Stream::inside(stream));
          },
      .attention =
          [](const kernels::Attention& attention, kernels::Stream& stream) {
            if (leaves_out(stream, Part::attention)) return;
            operations_of(stream).attention(attention, Stream::inside(stream));
          },
      .gating = [](const kernels::Gating& gate,
                   kernels::Stream& stream) { operations_of(stream).gating(gate, Stream::inside(stream)); },
      .short_convolution =
          [](const kernels::ShortConvolution& convolution, kernels::Stream& stream) {
            operations_of(stream).short_convolution(convolution, Stream::inside(stream));
          },
      .gated_delta =
          [](const kernels::GatedDelta& delta, kernels::Stream& stream) {
            if (leaves_out(stream, Part::attention)) return;
            operations_of(stream).gated_delta(delta, Stream::inside(stream));
          },
      .router =
          [](const kernels::Router& router, kernels::Stream& stream) {
            operations_of(stream).router(router, Stream::inside(stream));
            Stream& own = Stream::of(stream);
            const DecoratedDevice& device = own.device;
            if (device.on_host_ == nullptr) return;
            own.begin_layer();
            // The kernels are given them with the experts; what reads them back finds them here.
            if (device.memory_is_host() || device.choices_.host_reads_them)
              device.inner_.copy(
                  reinterpret_cast<std::byte*>(router.ids),
                  reinterpret_cast<const std::byte*>(own.chosen(device.on_host_, router.tokens)),
                  own.bytes_of(router.tokens), Stream::inside(stream));
          },
      .feed_forward =
          [](const kernels::FeedForward& block, kernels::Stream& stream) {
            if (leaves_out(stream, Part::experts)) return norm_alone(block.then, stream);
            kernels::FeedForward chosen = block;
            // Where the device's memory is the host's, the router has left them where the block reads them.
            const DecoratedDevice& device = Stream::of(stream).device;
            if (block.ids != nullptr && device.on_device_ != nullptr && !device.memory_is_host())
              chosen.ids = Stream::of(stream).chosen(Stream::of(stream).device.on_device_, block.tokens);
            operations_of(stream).feed_forward(chosen, Stream::inside(stream));
          },
      .add = [](const kernels::Add& add,
                kernels::Stream& stream) { operations_of(stream).add(add, Stream::inside(stream)); },
      .soft_cap =
          [](const kernels::SoftCap& cap, kernels::Stream& stream) {
            operations_of(stream).soft_cap(cap, Stream::inside(stream));
          },
      .top_k = [](const kernels::TopK& list,
                  kernels::Stream& stream) { operations_of(stream).top_k(list, Stream::inside(stream)); },
  };
  // Where the host computes beside the device.
  static constexpr kernels::OperationTable asking = [] {
    kernels::OperationTable more = table;
    more.ask_host = [](const kernels::HostQuestion& question, kernels::Stream& stream) {
      kernels::HostQuestion chosen = question;
      Stream& own = Stream::of(stream);
      if (question.ids != nullptr && own.device.on_device_ != nullptr)
        chosen.ids = own.chosen(own.device.on_device_, question.tokens);
      operations_of(stream).ask_host(chosen, Stream::inside(stream));
    };
    more.add_answer = [](const kernels::HostAnswer& answer, kernels::Stream& stream) {
      operations_of(stream).add_answer(answer, Stream::inside(stream));
    };
    more.repack = [](const kernels::Repack& weights, kernels::Stream& stream) {
      operations_of(stream).repack(weights, Stream::inside(stream));
    };
    return more;
  }();
  return inner_.operations().ask_host != nullptr ? asking : table;
}

kernels::DeviceCeiling DecoratedDevice::measure_ceiling(kernels::Stream& stream) const {
  return inner_.measure_ceiling(Stream::inside(stream));
}

void DecoratedDevice::copy(std::byte* target, const std::byte* host, std::int64_t bytes,
                           kernels::Stream& stream) const {
  inner_.copy(target, host, bytes, Stream::inside(stream));
}

void DecoratedDevice::read_back(std::byte* host, const std::byte* source, std::int64_t bytes,
                                kernels::Stream& stream) const {
  inner_.read_back(host, source, bytes, Stream::inside(stream));
}

void DecoratedDevice::copy_within(std::byte* target, const std::byte* source, std::int64_t bytes,
                                  std::int64_t stride, std::int64_t count, kernels::Stream& stream) const {
  inner_.copy_within(target, source, bytes, stride, count, Stream::inside(stream));
}

void DecoratedDevice::record(kernels::Event& event, kernels::Stream& stream) const {
  inner_.record(event, Stream::inside(stream));
}

}  // namespace fovea::eval
