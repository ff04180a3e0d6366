// What is opened for somebody who has not chosen.
#include "app/advisor/proposal.h"

#include <fstream>

#include "tests/support/test.h"

#include "machines.h"

namespace fs = std::filesystem;
using namespace fovea;
using tests::golden;

class ProposalTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    small_ = folder_.path() / "small.gguf";
    famous_ = folder_.path() / "Qwen3-4B-Instruct-2507-Q4_K_M.gguf";  // the catalogue knows its scores
    broken_ = folder_.path() / "broken.gguf";
    fs::copy(golden("models/llama-0-gguf.gguf"), small_);
    fs::copy(golden("models/qwen3_moe-0-gguf.gguf"), famous_);
    std::ofstream(broken_) << "GGUF and nothing behind it";
    for (const app::CatalogueEntry& entry : app::catalogue())
      if (entry.id == "qwen3-4b") QCOMPARE(entry.file, famous_.filename().string());
  }

  void theOneUsedLastComesFirst() {
    const auto proposal = app::propose_model({broken_, gone(), small_, famous_}, {famous_}, app::catalogue(),
                                             tests::processor(16, 12, 20));
    QVERIFY(proposal.model);
    QVERIFY(proposal.was_last);
    QCOMPARE(proposal.model->path, small_);
  }

  void elseTheMostCapable() {
    const auto proposal = app::propose_model({gone()}, {small_, famous_, broken_}, app::catalogue(),
                                             tests::processor(16, 12, 20));
    QVERIFY(proposal.model);
    QVERIFY(!proposal.was_last);
    QCOMPARE(proposal.model->path, famous_);
    QCOMPARE(proposal.fitting, 2);
  }

  void theOnlyOne() {
    const auto proposal =
        app::propose_model({}, {broken_, small_}, app::catalogue(), tests::processor(16, 12, 20));
    QVERIFY(proposal.model);
    QCOMPARE(proposal.model->path, small_);
    QCOMPARE(proposal.fitting, 1);
  }

  void noneWhereNoneFits() {
    app::Machine full = tests::processor(16, 12, 20);
    full.room.precision.budget_bytes = 1000;
    QVERIFY(!app::propose_model({small_}, {small_, famous_}, app::catalogue(), full).model);
    QVERIFY(!app::propose_model({}, {broken_}, app::catalogue(), tests::processor(16, 12, 20)).model);
    QVERIFY(!app::propose_model({}, {}, app::catalogue(), tests::processor(16, 12, 20)).model);
  }

  void itStopsWhenItIsTold() {
    std::stop_source stop;
    stop.request_stop();
    QVERIFY(
        !app::propose_model({small_}, {small_}, {}, tests::processor(16, 12, 20), stop.get_token()).model);
  }

 private:
  fs::path gone() const { return folder_.path() / "gone.gguf"; }

  tests::TemporaryFolder folder_;
  fs::path small_, famous_, broken_;
};
FOVEA_TEST(ProposalTest)

#include "proposal_test.moc"
