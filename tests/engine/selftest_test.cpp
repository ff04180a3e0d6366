// The self test passes on devices that compute right, and says what is wrong with those that do not.
#include "engine/selftest/selftest.h"

#include <QTemporaryDir>
#include <atomic>
#include <functional>

#include "kernels/api/forwarding_device.h"
#include "kernels/cpu/device.h"
#include "tests/support/test.h"

#include "models/apart_device.h"

using namespace fovea;
using namespace fovea::tests;

namespace {

const kernels::Device& cpu() {
  return *kernels::cpu::device(kernels::cpu::available_instruction_sets().back());
}

// The processor, except for what is planted.
class Planted final : public kernels::ForwardingDevice {
 public:
  Planted() : kernels::ForwardingDevice(cpu()) {}
  kernels::OperationTable table = cpu().operations();
  bool copies_in = false;                  // takes memory by copies alone, although it is the host's
  std::int64_t faithful_copies = 1 << 30;  // of more than a kilobyte; the later ones lose a bit

  std::string name() const override { return "planted"; }
  const kernels::OperationTable& operations() const override { return table; }
  bool memory_is_host() const override { return !copies_in; }
  kernels::DeviceFacts facts() const override {
    return {.description = "planted", .memory_bytes = 1LL << 34, .memory_free_bytes = 1LL << 33};
  }
  std::int64_t copies() const { return copies_; }
  void copy(std::byte* target, const std::byte* host, std::int64_t bytes,
            kernels::Stream& stream) const override {
    HostDevice::copy(target, host, bytes, stream);
    if (bytes > 1024 && copies_++ >= faithful_copies) target[bytes / 2] ^= std::byte{0x10};
  }

 private:
  mutable std::atomic<std::int64_t> copies_ = 0;
};

std::string faults(const SelfTestPart& part) {
  std::string text;
  for (const Phrase& fault : part.faults) text += english(fault) + "\n";
  return text;
}

}  // namespace

class SelfTestTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;
  int folders_ = 0;
  ProgressSink silent_;
  selftest::Bench bench(const kernels::Device& device) {
    const std::filesystem::path folder = folder_.filePath(QString::number(++folders_)).toStdString();
    std::filesystem::create_directory(folder);
    return {
        .device = device, .threads = 2, .seed = seed(), .folder = folder, .progress = silent_, .stop = {}};
  }

 private Q_SLOTS:
  void theProcessorPasses() {
    const auto result = selftest::run(cpu(), {.device = {}, .threads = 2, .seed = seed()});
    FOVEA_VERIFY(result);
    QCOMPARE(std::ssize(result->parts), 16);  // thirteen operations, the models, the graphs, the storm
    for (const SelfTestPart& part : result->parts) {
      QVERIFY2(part.failed == 0, (part.name + ": " + faults(part)).c_str());
      QVERIFY(part.checks >= (part.name == "decode graphs" ? 1 : 4));
    }
    QCOMPARE(result->failed(), 0);
    QVERIFY(result->checks() > 500);
  }

  void theQuickFormHasOneCaseOfEach() {
    const auto result = selftest::run(cpu(), {.device = {}, .threads = 2, .seed = seed(), .quick = true});
    FOVEA_VERIFY(result);
    QCOMPARE(std::ssize(result->parts), 13);  // the operations
    for (const SelfTestPart& part : result->parts) {
      QCOMPARE(part.checks, 2);  // in rows, and packed
      QVERIFY(part.failed == 0 && part.worst <= 1);
    }
  }

  void memoryOutOfReachPasses() {
    const ApartDevice apart(cpu());
    for (const auto test : {selftest::test_whole_model, selftest::test_swap_storm, selftest::test_places}) {
      const auto part = test(bench(apart));
      FOVEA_VERIFY(part);
      QVERIFY2(part->failed == 0 && part->checks == 6, faults(*part).c_str());
    }
    QCOMPARE(apart.allocated(), 0);
  }

  // With the card in both roles, and with another one; whichever computes wrong is seen.
  void dividedModelsAreCompared() {
    const ApartDevice apart(cpu()), other(cpu());
    for (const ApartDevice* second : {static_cast<const ApartDevice*>(nullptr), &other}) {
      selftest::Bench of = bench(apart);
      of.second = second;
      const auto part = selftest::test_two_cards(of);
      FOVEA_VERIFY(part);
      QVERIFY2(part->failed == 0 && part->checks == 8, faults(*part).c_str());
    }
    Planted planted;
    planted.table.attention = [](const kernels::Attention& a, kernels::Stream& stream) {
      cpu().operations().attention(a, stream);
      a.out[0] += 1;
    };
    const ApartDevice wrong(planted);
    selftest::Bench of = bench(apart);
    of.second = &wrong;
    const auto part = selftest::test_two_cards(of);
    FOVEA_VERIFY(part);
    QCOMPARE(part->failed, 4);
    QVERIFY2(faults(*part).contains("divided over two cards"), faults(*part).c_str());
  }

  // Whoever computes an expert, it is the same; a card that gets it wrong changes the answer with the places.
  void placesThatMatterAreSeen() {
    Planted planted;
    planted.table.feed_forward = [](const kernels::FeedForward& a, kernels::Stream& stream) {
      cpu().operations().feed_forward(a, stream);
      for (std::int64_t i = 0; i < a.tokens * a.d; ++i) a.out[i] *= 1.5F;
    };
    const ApartDevice wrong(planted);
    const auto part = selftest::test_places(bench(wrong));
    FOVEA_VERIFY(part);
    QVERIFY2(faults(*part).contains("while experts change places, "), faults(*part).c_str());
  }

  // An operation that is off by one element fails its own part, and the models.
  void aWrongOperationIsNamed() {
    Planted planted;
    planted.table.attention_inputs = [](const kernels::AttentionInputs& a, kernels::Stream& stream) {
      if (a.k == nullptr) {
        cpu().operations().attention_inputs(a, stream);
        a.q[0] += 1;
        return;
      }
      std::vector<float> v(a.v, a.v + a.tokens * a.v_stride);
      v[0] += 1;
      kernels::AttentionInputs wrong = a;
      wrong.v = v.data();
      cpu().operations().attention_inputs(wrong, stream);
    };
    const auto operations = selftest::test_operations(bench(planted));
    FOVEA_VERIFY(operations);
    for (const SelfTestPart& part : *operations) {
      QCOMPARE(part.failed > 0, part.name == "attention_inputs");
      QCOMPARE(part.worst > 1, part.failed > 0);
      if (part.failed == 0) continue;
      QCOMPARE(part.failed, part.checks);
      const std::string fault = english(part.faults.front());
      QVERIFY2(fault.starts_with("attention_inputs ") && fault.contains("expected"), fault.c_str());
    }
    const auto model = selftest::test_whole_model(bench(planted));
    FOVEA_VERIFY(model);
    QCOMPARE(model->failed, model->checks);
    const std::string fault = english(model->faults.front());
    QVERIFY2(fault.contains("at once: logit"), fault.c_str());
  }

  // A device that has failed is not said to have no memory.
  void aFailureIsToldWhereNoStreamIsMade() {
    class Failed final : public kernels::ForwardingDevice {
     public:
      explicit Failed(kernels::Failure why) : kernels::ForwardingDevice(cpu()), why_(std::move(why)) {}
      std::unique_ptr<kernels::Stream> make_stream(const kernels::StreamOptions&) const override {
        return nullptr;
      }
      kernels::Failure failure() const override { return why_; }

     private:
      kernels::Failure why_;
    };
    const Failed lost({.action = kernels::Action::running_kernels, .said = "planted"}), full({});
    const auto failed = selftest::test_operations(bench(lost));
    QVERIFY(!failed);
    QCOMPARE(failed.error().kind, ErrorKind::device);
    QCOMPARE(failed.error().what_words(), std::string("running kernels failed: planted"));
    const auto no_memory = selftest::test_operations(bench(full));
    QVERIFY(!no_memory);
    QCOMPARE(no_memory.error().kind, ErrorKind::memory);
  }

  // The last hundred versions that the storm brings are a bit off.
  void lostBitsAreSeen() {
    Planted planted;
    planted.copies_in = true;
    const auto faithful = selftest::test_swap_storm(bench(planted));
    FOVEA_VERIFY(faithful);
    QVERIFY2(faithful->failed == 0, faults(*faithful).c_str());
    Planted lossy;
    lossy.copies_in = true;
    lossy.faithful_copies = planted.copies() - 100;
    const auto storm = selftest::test_swap_storm(bench(lossy));
    FOVEA_VERIFY(storm);
    QVERIFY2(faults(*storm).contains("the logits differ from before"), faults(*storm).c_str());
  }

  // Passes that go on reading the first versions.
  void swapsThatAreNotReadAreSeen() {
    Planted planted;
    planted.table.feed_forward = [](const kernels::FeedForward& a, kernels::Stream&) {
      std::fill_n(a.out, a.tokens * a.d, 0.0F);
    };
    const auto storm = selftest::test_swap_storm(bench(planted));
    FOVEA_VERIFY(storm);
    QVERIFY2(faults(*storm).contains("changed no answer"), faults(*storm).c_str());
  }

  void graphsThatDoOtherThingsAreSeen() {
    const ApartDevice apart(cpu());
    const auto faithful = selftest::test_decode_graphs(bench(apart));
    FOVEA_VERIFY(faithful);
    QCOMPARE(faithful->checks, 6);
    QVERIFY2(faithful->failed == 0, faults(*faithful).c_str());
    apart.shorten_graphs();
    const auto shorter = selftest::test_decode_graphs(bench(apart));
    FOVEA_VERIFY(shorter);
    QCOMPARE(shorter->failed, 3);
    QVERIFY2(faults(*shorter).contains("differs with graphs from call by call, --n-cpu-moe 1"),
             faults(*shorter).c_str());
  }

  void aLostDeviceIsAnError() {
    const ApartDevice broken(cpu());
    broken.fail("the device is lost");
    const auto result = selftest::run(broken, {});
    QVERIFY(!result);
    QCOMPARE(result.error().kind, ErrorKind::device);
    QVERIFY(result.error().message().contains("the device is lost"));
  }

  void itCanBeStopped() {
    std::stop_source stop;
    stop.request_stop();
    const auto result = selftest::run(cpu(), {}, {}, stop.get_token());
    QVERIFY(!result);
    QCOMPARE(result.error().kind, ErrorKind::cancelled);
  }

  void aMissingDeviceIsNamed() {
    const auto result = run_selftest({.device = "cuda:99"});
    QVERIFY(!result);
    QCOMPARE(result.error().kind, ErrorKind::not_found);
    QVERIFY(result.error().message().contains("cuda:99"));
  }
};
FOVEA_TEST(SelfTestTest)

#include "selftest_test.moc"
