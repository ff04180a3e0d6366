// Cases of ask_host and add_answer, with memory of the device's in the place of the host's.
#include <algorithm>

#include "kernels/cases/normed.h"

namespace fovea::kernels::cases {

namespace {

struct Form {
  std::int64_t tokens = 1;
  std::int64_t d = 64;
  std::int64_t used = 2;
  bool misses = true;  // the last token has chosen an expert without data
  bool always = false;
  bool alone = false;
};

class HostShareCase final : public Case {
 public:
  HostShareCase(Random& random, const Form& form, std::optional<NormedForm> then) : form_(form) {
    name = "host_share " + std::to_string(form.tokens) + "x" + std::to_string(form.d) + ", " +
           std::to_string(form.used) + " used" +
           (form.always   ? ", always"
            : form.misses ? ", misses"
                          : "") +
           (form.alone ? ", alone" : "");
    x_ = normals(random, form.tokens * form.d);
    out_ = normals(random, form.tokens * form.d);
    host_out_ = normals(random, form.tokens * form.d);
    weights_ = normals(random, form.tokens * form.used);
    for (std::int64_t i = 0; i < form.tokens * form.used; ++i)
      ids_.push_back(static_cast<std::int32_t>(random() % (experts - 1)));
    if (form.misses && !ids_.empty()) ids_.back() = experts - 1;
    if (!then) return;
    then_.emplace(random, form.tokens, form.d, *then);
    name += then_->what();
  }

  bool applies(const Device& device) const override { return device.operations().ask_host != nullptr; }

  std::function<void(Stream&)> build(Memory& memory) const override {
    std::vector<Expert> table(experts);
    const float* const somewhere = memory.input(std::vector<float>(1));
    for (Expert& expert : table) expert.gate.data = reinterpret_cast<const std::byte*>(somewhere);
    table.back().gate.data = nullptr;
    const auto word = [](std::int32_t* one) { return reinterpret_cast<std::uint32_t*>(one); };
    std::int32_t* const round = memory.in_out(std::vector<std::int32_t>{rounds, 9});
    HostQuestion ask{.x = memory.input(x_),
                     .tokens = form_.tokens,
                     .d = form_.d,
                     .used = form_.used,
                     .ids = memory.input(ids_),
                     .weights = memory.input(weights_),
                     .table = form_.always ? nullptr : memory.table(table),
                     .always = form_.always,
                     .round = reinterpret_cast<HostRound*>(round),
                     .host_x = memory.output<float>(form_.tokens * form_.d),
                     .host_ids = memory.output<std::int32_t>(form_.tokens * form_.used),
                     .host_weights = memory.output<float>(form_.tokens * form_.used),
                     .asked = word(memory.output<std::int32_t>(1))};
    HostAnswer answer{.round = ask.round,
                      .host_out = memory.input(host_out_),
                      .answered = reinterpret_cast<const std::uint32_t*>(
                          memory.input(std::vector<std::int32_t>{rounds + 1})),
                      .late = word(memory.output<std::int32_t>(1)),
                      .name = 3,
                      .out = form_.alone ? memory.output<float>(form_.tokens * form_.d) : memory.in_out(out_),
                      .alone = form_.alone,
                      .tokens = form_.tokens,
                      .d = form_.d};
    const NormedOutput::Built then = then_ ? then_->build(memory, answer.out) : NormedOutput::Built{};
    answer.then = then.norm;
    const OperationTable& operations = memory.device().operations();
    return [&operations, table, ask, answer, then](Stream& stream) {
      if (operations.ask_host) {
        operations.ask_host(ask, stream);
        operations.add_answer(answer, stream);
      } else {
        by_hand(table, ask, answer);
        if (answer.then) operations.rms_norm(answer.then, stream);
      }
      then.read(stream);
    };
  }

  std::vector<double> tolerance(const std::vector<float>& reference) const override {
    const auto before = static_cast<std::size_t>(2 + form_.tokens * (form_.d + 2 * form_.used) + 2);
    std::vector<double> result(before, 0.0), rest(static_cast<std::size_t>(form_.tokens * form_.d), 0.0);
    if (then_)
      then_->add_tolerances({reference.begin() + static_cast<std::ptrdiff_t>(before), reference.end()}, rest);
    std::ranges::copy(rest, std::back_inserter(result));
    return result;
  }

 private:
  static constexpr std::int32_t experts = 5;
  static constexpr std::int32_t rounds = 6;  // before

  // The reference has nobody to ask: what a device that has would do.
  static void by_hand(const std::vector<Expert>& table, const HostQuestion& ask, const HostAnswer& answer) {
    const std::int64_t choices = ask.tokens * ask.used;
    const bool asks = ask.always || std::any_of(ask.ids, ask.ids + choices, [&](std::int32_t id) {
                        return table[static_cast<std::size_t>(id)].gate.data == nullptr;
                      });
    auto* const round = reinterpret_cast<std::uint32_t*>(ask.round);
    ++round[0];
    round[1] = asks ? 1 : 0;
    *ask.asked = 2 * round[0] + round[1];
    if (!asks) return;
    std::copy_n(ask.x, ask.tokens * ask.d, ask.host_x);
    std::copy_n(ask.ids, choices, ask.host_ids);
    std::copy_n(ask.weights, choices, ask.host_weights);
    for (std::int64_t i = 0; i < answer.tokens * answer.d; ++i)
      answer.out[i] = answer.alone ? answer.host_out[i] : answer.out[i] + answer.host_out[i];
  }

  Form form_;
  std::vector<float> x_, out_, host_out_, weights_;
  std::vector<std::int32_t> ids_;
  std::optional<NormedOutput> then_;
};

}  // namespace

void add_host_share_sweep(Cases& cases, Random& random) {
  const auto add = [&](const Form& form, std::optional<NormedForm> then = {}) {
    cases.push_back(std::make_unique<HostShareCase>(random, form, then));
  };
  add({});
  add({.misses = false});
  add({.tokens = 8, .d = 100, .used = 8});
  add({.tokens = 8, .d = 100, .used = 8, .misses = false}, NormedForm{});
  add({.tokens = 3, .d = 4128, .used = 4}, NormedForm{.residual_norm = true, .scale = 0.625F});
  add({.tokens = 2, .d = 96, .used = 0, .misses = false, .always = true, .alone = true},
      NormedForm{.quantised = true});
  add({.d = 64, .always = true}, NormedForm{.residual_norm = true, .out = false});
}

}  // namespace fovea::kernels::cases
