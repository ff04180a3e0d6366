// What side by side says that it takes, and what of it has room on the disk: of models that are planned only.
#include "app/window/beside_offer.h"

#include "engine/checkpoint/errors.h"
#include "engine/core/errors.h"
#include "tests/support/test.h"
#include "ui/language/language.h"

using namespace fovea;
using app::BesideOffer;
using app::Counterpart;
using app::Counterparts;
using app::StoreNeed;

namespace {

constexpr std::int64_t kGb = 1'000'000'000;

// A fixed mix and the full model with experts from the disk, each with a store of its own that is to be
// written.
Counterparts both(std::int64_t mix_bytes, std::int64_t full_bytes, std::int64_t disk_free_bytes) {
  const auto store = [&](std::int64_t bytes, double seconds) {
    return StoreNeed{.needed = true, .bytes = bytes, .free_bytes = disk_free_bytes, .seconds = seconds};
  };
  Counterparts found{.bytes = 8 * kGb, .free_bytes = 4 * kGb};
  found.choices = {
      {.kind = Counterpart::Kind::file, .bytes = 40 * kGb},
      {.kind = Counterpart::Kind::file_elsewhere,
       .bytes = 8 * kGb,
       .room = Counterpart::Room::in_its_place,
       .store = store(full_bytes, 120),
       .pass_bytes = 30 * kGb},
      {.kind = Counterpart::Kind::fixed,
       .bytes = 8 * kGb,
       .room = Counterpart::Room::in_its_place,
       .store = store(mix_bytes, 60)},
  };
  found.choices[1].options.chunk = 512;
  return found;
}

// With spaces that break.
BesideOffer offer(const Counterparts& found) {
  BesideOffer offer = app::offer_beside(
      found, {.disk_bytes_per_s = 3e9, .device = {.read_gb_per_s = 30, .gop_per_s = 100}}, 400);
  for (QString* const words : {&offer.takes.text, &offer.why_not_full.text})
    words->replace(QChar::Nbsp, QLatin1Char(' '));
  return offer;
}

qsizetype count(const BesideOffer& offer, const char* words) {
  return offer.takes.text.count(QLatin1String(words));
}

}  // namespace

class BesideOfferTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { ui::use_language(QStringLiteral("en")); }

  // 12 and 40 GB, a minute and two: said once.
  void whatBothWriteIsSaidOnce() {
    const BesideOffer found = offer(both(12 * kGb, 40 * kGb, 52 * kGb));
    QVERIFY(found.is_possible && found.full && found.why_not_full.text.isEmpty());
    QCOMPARE(count(found, "is written to the disk"), 1);
    QVERIFY2(found.takes.text.contains(QStringLiteral(
                 "First, 52.0 GB is written to the disk. This takes about 3 minutes and is done only once.")),
             qPrintable(found.takes.text));
    QCOMPARE(found.full_pass_seconds, 10.0);
    QVERIFY2(found.takes.text.contains(QStringLiteral("This takes about 20 seconds and can be stopped.")),
             qPrintable(found.takes.text));
  }

  // Each has room by itself, and both do not: the answers are written, and not held against the full model.
  void theSumHasToHaveRoom() {
    const BesideOffer found = offer(both(12 * kGb, 40 * kGb, 52 * kGb - 1));
    QVERIFY(found.is_possible && !found.full);
    QCOMPARE(found.full_pass_seconds, 0.0);
    QVERIFY2(found.takes.text.contains(
                 QStringLiteral("First, 12.0 GB is written to the disk. This takes about 1 minute and")),
             qPrintable(found.takes.text));
    QCOMPARE(found.why_not_full.text, QStringLiteral("Together with the fixed mix, 52.0 GB would have to be "
                                                     "written to the disk, where only 52.0 GB is free."));
    QVERIFY(found.takes.text.contains(found.why_not_full.text));
  }

  // 400 tokens of 2 · 10^9 multiply-adds each are 1.6 · 10^12 operations: 16 seconds at 10^11 a second, for
  // each of two answers.
  void timeIsToldWhereItFitsMemory() {
    Counterparts some = both(0, 0, 0);
    Counterpart& file = some.choices[0];
    file.room = Counterpart::Room::in_its_place;
    file.plan.options.chunk = 512;
    file.plan.prompt.device.multiply_adds = 2e9;
    some.choices.erase(some.choices.begin() + 1);
    BesideOffer found = offer(some);
    QVERIFY2(
        found.takes.text.endsWith(QStringLiteral(
            "which takes 40.0 GB of memory. Reading them takes at least 32 seconds and can be stopped.")),
        qPrintable(found.takes.text));
    some.choices[0].plan.prompt.device.multiply_adds = 0;
    QVERIFY(!offer(some).takes.text.contains(QStringLiteral("at least")));
  }

  void whatIsThereCountsNot() {
    Counterparts some = both(12 * kGb, 40 * kGb, 40 * kGb);
    some.choices[2].store.there = true;
    BesideOffer found = offer(some);
    QVERIFY(found.full);
    QVERIFY2(found.takes.text.contains(
                 QStringLiteral("First, 40.0 GB is written to the disk. This takes about 2 minutes and")),
             qPrintable(found.takes.text));
    some.choices[1].store.bytes += 1;
    found = offer(some);
    QVERIFY(found.is_possible && !found.full);
    QVERIFY2(found.why_not_full.text.startsWith(QStringLiteral("40.0 GB would have to be written")),
             qPrintable(found.why_not_full.text));
    QCOMPARE(count(found, "Nothing is written to the disk."), 1);
    some.choices[1].store.there = true;
    found = offer(some);
    QVERIFY(found.full);
    QCOMPARE(count(found, "Nothing is written to the disk."), 1);
  }

  // What few can read of why a model cannot be opened stands behind Details.
  void anErrorsInsidesAreDetails() {
    const Error damaged = errors::gguf_dimensions("\"blk.2\"", 9).advise(phrases::download_again());
    Counterparts some = both(0, 0, 0);
    some.choices[0].trouble = some.choices[1].trouble = damaged;
    BesideOffer found = offer(some);
    QVERIFY(found.is_possible && !found.full);
    QVERIFY2(found.takes.text.endsWith(QStringLiteral(
                 "They cannot be compared with the model at full precision. A file is damaged or "
                 "is not what was expected. Download the file again")),
             qPrintable(found.takes.text));
    QVERIFY2(found.takes.details.contains(QStringLiteral("blk.2")), qPrintable(found.takes.details));
    some.choices[2].trouble = damaged;
    found = offer(some);
    QVERIFY(!found.is_possible && !found.takes.text.contains(QStringLiteral("blk.2")));
    QVERIFY(found.takes.details.contains(QStringLiteral("blk.2")));
  }

  void withoutRoomForTheMixThereIsNone() {
    const BesideOffer found = offer(both(12 * kGb, 1, 12 * kGb - 1));
    QVERIFY(!found.is_possible && !found.full);
    QVERIFY2(found.takes.text.startsWith(
                 QStringLiteral("The fixed mix cannot be opened here. 12.0 GB would have")),
             qPrintable(found.takes.text));
  }
};

FOVEA_TEST(BesideOfferTest)

#include "beside_offer_test.moc"
