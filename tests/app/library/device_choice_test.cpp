// On which device models run: what is offered, and what becomes of a choice when the machine changes.
#include "app/library/device_choice.h"

#include "engine/api/errors.h"
#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::app;

namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

DeviceInfo processor() {
  return {.name = "cpu",
          .description = "A processor",
          .instruction_set = "avx2",
          .instruction_sets = {"avx2"},
          .cores = 8,
          .memory_bytes = 64 * gib,
          .memory_free_bytes = 40 * gib};
}

// Any reason.
Phrase said(const std::string& words) {
  return phrases::name_place(words);
}

DeviceInfo card(const std::string& name, const std::string& description, const Phrase& unusable = {}) {
  return {.name = name,
          .description = description,
          .instruction_set = {},
          .instruction_sets = {},
          .memory_bytes = 32 * gib,
          .memory_free_bytes = 16 * gib,
          .unusable = unusable};
}

}  // namespace

class DeviceChoiceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Before an answer fails for want of it; of main memory the system has its own means.
  void aFullCardIsSaid() {
    const auto with_free = [](std::int64_t bytes) {
      return DeviceMemory{.used_bytes = 32 * gib - bytes, .total_bytes = 32 * gib};
    };
    QVERIFY(short_of_memory("cuda:1", with_free(gib)).isEmpty());
    const QString sentence = short_of_memory("cuda:1", with_free(50'000'000));
    QVERIFY2(sentence.contains("cuda:1") && sentence.contains("50"), qPrintable(sentence));
    QVERIFY(!short_of_memory("cuda:1", with_free(0)).isEmpty());
    QVERIFY(short_of_memory("cpu", with_free(0)).isEmpty());
    QVERIFY(short_of_memory("", with_free(0)).isEmpty());
    QVERIFY(short_of_memory("cuda:1", {}).isEmpty());
  }
  // The same rule for the settings, the command line and the engine: no name is the processor's.
  void automaticIsTheProcessor() {
    QVERIFY(same_device({}, automatic_device));
    QVERIFY(same_device({}, "cpu"));
    QVERIFY(!same_device({}, "cuda:0"));
    const std::vector<DeviceInfo> all{processor(), card("cuda:0", "A card")};
    const auto found = find_device(all, {});
    FOVEA_VERIFY(found);
    QCOMPARE((*found)->name, std::string("cpu"));
  }

  void offersWhatIsThere() {
    const auto offers = device_offers(
        {processor(), card("cuda:0", "Card A"), card("cuda:1", "Card B", said("too old"))}, {}, {});
    QCOMPARE(offers.size(), std::size_t{4});
    QVERIFY(offers[0].choice.name.empty());
    QVERIFY2(offers[0].text.contains(QStringLiteral("processor")), qPrintable(offers[0].text));
    QCOMPARE(offers[1].choice.name, std::string("cpu"));
    QVERIFY(offers[1].choice.description.empty());
    QCOMPARE(offers[2].choice, (DeviceChoice{"cuda:0", "Card A"}));
    QVERIFY2(offers[2].text.contains(QStringLiteral("Card A")) &&
                 offers[2].text.contains(QStringLiteral("34.4\u00A0GB")),
             qPrintable(offers[2].text));
    QVERIFY2(offers[2].why.contains(QStringLiteral("17.2\u00A0GB")), qPrintable(offers[2].why));  // free
    QVERIFY(offers[2].usable);
    QVERIFY(!offers[3].usable);
    QVERIFY(offers[3].why.contains(QStringLiteral("too old")));
    for (const DeviceOffer& offer : offers) QVERIFY(!offer.is_gone);
  }

  void saysWhyThereIsNoCard() {
    const auto offers = device_offers({processor()}, said("there is no driver"), {});
    QVERIFY(offers[0].why.contains(QStringLiteral("there is no driver")));
  }

  // A card that is gone stays the choice and is of no use; it is not the processor's turn, nor another
  // card's.
  void aCardThatIsGone_data() {
    QTest::addColumn<bool>("replaced");
    QTest::newRow("no card") << false;
    QTest::newRow("another card has its name") << true;
  }
  void aCardThatIsGone() {
    QFETCH(bool, replaced);
    std::vector<DeviceInfo> all{processor()};
    if (replaced) all.push_back(card("cuda:0", "Card B"));
    const DeviceChoice chosen{"cuda:0", "Card A"};
    const auto found = find_device(all, chosen);
    QVERIFY(!found);
    QCOMPARE(found.error().kind, ErrorKind::not_found);
    QVERIFY2(found.error().message().contains("Card A"), found.error().message().c_str());
    QCOMPARE(found.error().message().contains("Card B"), replaced);
    const auto offers = device_offers(all, {}, chosen);
    QCOMPARE(offers.size(), all.size() + 2);
    QVERIFY(offers.back().is_gone && !offers.back().usable);
    QCOMPARE(offers.back().choice, chosen);
    QVERIFY2(offers.back().text.contains(QStringLiteral("Card A")), qPrintable(offers.back().text));
  }

  void aCardOfNoUseIsAnError() {
    const auto found = find_device({processor(), card("cuda:0", "Card A", said("its driver is too old"))},
                                   {"cuda:0", "Card A"});
    QVERIFY(!found);
    QCOMPARE(found.error().kind, ErrorKind::unsupported);
    QVERIFY(found.error().message().contains("its driver is too old"));
  }

  void roomIsWhatIsFree() {
    QCOMPARE(room_on(processor(), 0), 39 * gib);                    // a gibibyte for the desktop
    QCOMPARE(room_on(processor(), 100 * gib), 63 * gib);            // never more than there is
    QCOMPARE(room_on(card("cuda:0", "A"), 0), 16 * gib - gib / 2);  // a thirty-second for others
    QCOMPARE(room_on(card("cuda:0", "A"), 16 * gib), 32 * gib - gib);
  }
};

FOVEA_TEST(DeviceChoiceTest)
#include "device_choice_test.moc"
