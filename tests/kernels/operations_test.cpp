// Every operation of every device against the reference device, over the cases of kernels/cases.
// FOVEA_TEST_SEED changes the values.
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/api/forwarding_device.h"
#include "kernels/cases/case.h"
#include "kernels/cpu/device.h"
#include "kernels/reference/device.h"
#include "tests/support/test.h"

using namespace fovea::kernels;
using namespace fovea::kernels::cases;
using namespace fovea::tests;

namespace {

const Cases& sweep() {
  static const Cases all = sweep_cases(seed());
  return all;
}

// What a case gives on the reference device, computed once for all devices.
struct Expected {
  std::vector<float> outputs;
  std::vector<double> tolerance;
};

const Expected& expected(std::size_t index) {
  static std::map<std::size_t, Expected> known;
  const auto found = known.find(index);
  if (found != known.end()) return found->second;
  const auto stream = reference::device().make_stream({});
  std::string damage;
  Expected result{run_once(*sweep()[index], reference::device(), *stream, false, damage), {}};
  result.tolerance = sweep()[index]->tolerance(result.outputs);
  return known.emplace(index, std::move(result)).first->second;
}

// What is wrong with one case on a device; empty: nothing.
std::string fault(std::size_t index, const Device& device, Stream& stream, bool preferred_packing,
                  std::vector<float>* outputs = nullptr) {
  std::string damage;
  const std::vector<float> result = run_once(*sweep()[index], device, stream, preferred_packing, damage);
  if (outputs) *outputs = result;
  if (!damage.empty()) return damage;
  return difference(result, expected(index).outputs, expected(index).tolerance);
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Devices that go wrong in one way each: they run the reference and then spoil its result.
float spoiled(float x) {
  return x + (x < 0 ? -1.0F : 1.0F);
}
const OperationTable& truth() {
  return reference::device().operations();
}

const OperationTable off_in_one_element = {
    .embed_rows =
        [](const EmbedRows& a, Stream& s) {
          truth().embed_rows(a, s);
          a.out[a.table.columns - 1] = spoiled(a.out[a.table.columns - 1]);
        },
    .rms_norm =
        [](const RmsNorm& a, Stream& s) {
          truth().rms_norm(a, s);
          float* const out = a.out ? a.out : a.x;
          out[a.rows * a.columns - 1] = spoiled(out[a.rows * a.columns - 1]);
        },
    .linear =
        [](const Linear& a, Stream& s) {
          truth().linear(a, s);
          float& last = a.projections.back().out[a.projections.back().weight.rows - 1];
          last = spoiled(last);
        },
    .attention_inputs =
        [](const AttentionInputs& a, Stream& s) {
          // The last value is stored a second time, wrongly.
          truth().attention_inputs(a, s);
          if (a.k == nullptr) {
            a.q[0] = spoiled(a.q[0]);
            return;
          }
          std::vector<float> row(static_cast<std::size_t>(a.pages.kv_heads * a.pages.head_dim), 3.5F);
          AttentionInputs b = a;
          b.heads = 0;
          b.k += (a.tokens - 1) * a.k_stride;
          b.v = row.data();
          b.positions += a.tokens - 1;
          b.tokens = 1;
          truth().attention_inputs(b, s);
        },
    .attention =
        [](const Attention& a, Stream& s) {
          truth().attention(a, s);
          float& last = a.out[a.tokens * a.heads * a.pages.head_dim - 1];
          last = spoiled(last);
        },
    .gating =
        [](const Gating& a, Stream& s) {
          truth().gating(a, s);
          a.x[a.rows * a.columns - 1] = spoiled(a.x[a.rows * a.columns - 1]);
        },
    .short_convolution =
        [](const ShortConvolution& a, Stream& s) {
          truth().short_convolution(a, s);
          a.x[a.tokens * a.channels - 1] = spoiled(a.x[a.tokens * a.channels - 1]);
        },
    .gated_delta =
        [](const GatedDelta& a, Stream& s) {
          truth().gated_delta(a, s);
          a.state[0] = spoiled(a.state[0]);
        },
    .router =
        [](const Router& a, Stream& s) {
          truth().router(a, s);
          a.weights[a.used - 1] = spoiled(a.weights[a.used - 1]);
        },
    .feed_forward =
        [](const FeedForward& a, Stream& s) {
          truth().feed_forward(a, s);
          a.out[a.d - 1] = spoiled(a.out[a.d - 1]);
        },
    .add =
        [](const Add& a, Stream& s) {
          truth().add(a, s);
          a.x[a.count - 1] = spoiled(a.x[a.count - 1]);
        },
    .soft_cap =
        [](const SoftCap& a, Stream& s) {
          truth().soft_cap(a, s);
          a.x[0] = spoiled(a.x[0]);
        },
    .top_k =
        [](const TopK& a, Stream& s) {
          truth().top_k(a, s);
          a.sums[2] = spoiled(a.sums[2]);
        },
    .ask_host = [](const HostQuestion& a, Stream&) { *a.asked = 1; },
    .add_answer = [](const HostAnswer&, Stream&) {},
};

// Stops before the last row, token or element.
const OperationTable one_short = {
    .embed_rows =
        [](EmbedRows const& a, Stream& s) {
          EmbedRows b = a;
          --b.tokens;
          truth().embed_rows(b, s);
        },
    .rms_norm =
        [](const RmsNorm& a, Stream& s) {
          RmsNorm b = a;
          --b.rows;
          truth().rms_norm(b, s);
        },
    .linear =
        [](const Linear& a, Stream& s) {
          Linear b = a;
          --b.tokens;
          truth().linear(b, s);
        },
    .attention_inputs =
        [](const AttentionInputs& a, Stream& s) {
          AttentionInputs b = a;
          --b.tokens;
          truth().attention_inputs(b, s);
        },
    .attention =
        [](const Attention& a, Stream& s) {
          Attention b = a;
          --b.tokens;
          truth().attention(b, s);
        },
    .gating =
        [](const Gating& a, Stream& s) {
          Gating b = a;
          --b.rows;
          truth().gating(b, s);
        },
    .short_convolution =
        [](const ShortConvolution& a, Stream& s) {
          ShortConvolution b = a;
          --b.tokens;
          truth().short_convolution(b, s);
        },
    .gated_delta =
        [](const GatedDelta& a, Stream& s) {
          GatedDelta b = a;
          --b.tokens;
          truth().gated_delta(b, s);
        },
    .router =
        [](const Router& a, Stream& s) {
          Router b = a;
          --b.tokens;
          truth().router(b, s);
        },
    .feed_forward =
        [](const FeedForward& a, Stream& s) {
          FeedForward b = a;
          --b.tokens;
          truth().feed_forward(b, s);
        },
    .add =
        [](const Add& a, Stream& s) {
          Add b = a;
          --b.count;
          truth().add(b, s);
        },
    .soft_cap =
        [](const SoftCap& a, Stream& s) {
          SoftCap b = a;
          --b.count;
          truth().soft_cap(b, s);
        },
    .top_k =
        [](const TopK& a, Stream& s) {
          TopK b = a;
          --b.listed;
          truth().top_k(b, s);
        },
    .ask_host = [](const HostQuestion&, Stream&) {},
    .add_answer = [](const HostAnswer&, Stream&) {},
};

// Writes one element after the end of the output, or into its padding.
const OperationTable overrunning = {
    .embed_rows =
        [](const EmbedRows& a, Stream& s) {
          truth().embed_rows(a, s);
          a.out[a.tokens * a.table.columns] = 0;
        },
    .rms_norm =
        [](const RmsNorm& a, Stream& s) {
          truth().rms_norm(a, s);
          (a.out ? a.out : a.x)[a.rows * a.columns] = 0;
        },
    .linear =
        [](const Linear& a, Stream& s) {
          truth().linear(a, s);
          a.projections[0].out[a.tokens * a.projections[0].out_stride] = 0;
        },
    .attention_inputs =
        [](const AttentionInputs& a, Stream& s) {
          truth().attention_inputs(a, s);
          const std::int64_t bytes =
              row_bytes(a.pages.type, a.pages.kv_heads * a.pages.page_tokens * a.pages.head_dim);
          a.pages.keys[a.positions[0] / a.pages.page_tokens][bytes] = std::byte{0};
        },
    .attention =
        [](const Attention& a, Stream& s) {
          truth().attention(a, s);
          a.out[-1] = 0;
        },
    .gating =
        [](const Gating& a, Stream& s) {
          truth().gating(a, s);
          a.x[a.rows * a.columns] = 0;
        },
    .short_convolution =
        [](const ShortConvolution& a, Stream& s) {
          truth().short_convolution(a, s);
          a.x[-1] = 0;
        },
    .gated_delta =
        [](const GatedDelta& a, Stream& s) {
          truth().gated_delta(a, s);
          a.state[a.value_heads * a.key_dim * a.value_dim] = 0;
        },
    .router =
        [](const Router& a, Stream& s) {
          truth().router(a, s);
          a.ids[a.tokens * a.used] = 0;
        },
    .feed_forward =
        [](const FeedForward& a, Stream& s) {
          truth().feed_forward(a, s);
          a.out[-1] = 0;
        },
    .add =
        [](const Add& a, Stream& s) {
          truth().add(a, s);
          const_cast<float*>(a.y)[0] = 7;
        },
    .soft_cap =
        [](const SoftCap& a, Stream& s) {
          truth().soft_cap(a, s);
          a.x[a.count] = 0;
        },
    .top_k =
        [](const TopK& a, Stream& s) {
          truth().top_k(a, s);
          a.values[a.listed] = 0;
        },
    .ask_host = [](const HostQuestion& a, Stream&) { a.asked[1] = 0; },
    .add_answer = [](const HostAnswer&, Stream&) {},
};

class PlantedDevice final : public ForwardingDevice {
 public:
  explicit PlantedDevice(const OperationTable& table)
      : ForwardingDevice(reference::device()), table_(table) {}
  std::string name() const override { return "planted"; }
  const OperationTable& operations() const override { return table_; }

 private:
  const OperationTable& table_;
};

std::string repeat_command(const std::string& row) {
  return " (seed " + std::to_string(seed()) + "; again: FOVEA_TEST_SEED=" + std::to_string(seed()) +
         " test_kernels_operations OperationsTest \"agrees:" + row + "\")";
}

}  // namespace

class OperationsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void agrees_data() {
    QTest::addColumn<QString>("set");
    QTest::addColumn<int>("index");
    for (const std::string_view set : cpu::available_instruction_sets()) {
      for (std::size_t i = 0; i < sweep().size(); ++i) {
        if (!sweep()[i]->applies(*cpu::device(std::string(set)))) continue;
        QTest::addRow("%s %s", std::string(set).c_str(), sweep()[i]->name.c_str())
            << QString::fromStdString(std::string(set)) << static_cast<int>(i);
      }
    }
  }
  // In the file's packing and in the device's; the same bits for each number of threads.
  void agrees() {
    QFETCH(QString, set);
    QFETCH(int, index);
    const Device& device = *cpu::device(set.toStdString());
    const auto at = static_cast<std::size_t>(index);
    for (const bool preferred : {false, true}) {
      std::optional<std::vector<float>> first;
      for (const int threads : {1, 3}) {
        std::vector<float> outputs;
        const std::string wrong = fault(at, device, stream(device, threads), preferred, &outputs);
        const std::string place =
            std::to_string(threads) + " threads, " + (preferred ? "packed" : "rows") + ": ";
        QVERIFY2(wrong.empty(), (place + wrong + repeat_command(QTest::currentDataTag())).c_str());
        if (!first) first = outputs;
        QVERIFY2(
            same_bits(*first, outputs),
            (place + "other bits than with one thread" + repeat_command(QTest::currentDataTag())).c_str());
      }
    }
  }

  void plantedMistakesAreSeen_data() {
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < sweep().size(); ++i)
      QTest::addRow("%s", sweep()[i]->name.c_str()) << static_cast<int>(i);
  }
  void plantedMistakesAreSeen() {
    QFETCH(int, index);
    const auto at = static_cast<std::size_t>(index);
    const auto stream = reference::device().make_stream({});
    QVERIFY(fault(at, reference::device(), *stream, false).empty());
    QVERIFY(!fault(at, PlantedDevice(off_in_one_element), *stream, false).empty());
    QVERIFY(!fault(at, PlantedDevice(one_short), *stream, false).empty());
    QVERIFY(!fault(at, PlantedDevice(overrunning), *stream, false).empty());
  }

  void cleanupTestCase() { streams_.clear(); }

 private:
  Stream& stream(const Device& device, int threads) {
    auto& known = streams_[{device.instruction_set(), threads}];
    if (!known) known = device.make_stream({threads});
    return *known;
  }

  std::map<std::pair<std::string, int>, std::unique_ptr<Stream>> streams_;
};
FOVEA_TEST(OperationsTest)

#include "operations_test.moc"
