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
    QCOMPARE(found->device->name, std::string("cpu"));
    QVERIFY(found->first == nullptr);
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

  void namesOfTwoCards() {
    QCOMPARE(names_of("cuda:0,cuda:1"), (std::vector<std::string>{"cuda:0", "cuda:1"}));
    for (const char* one :
         {"", "cpu", "cuda:3", "cuda:0,cuda:0", "cuda:0,cpu", "cuda:0,", "cuda:0,cuda:1,cuda:2"})
      QCOMPARE(names_of(one), std::vector<std::string>{one});
  }

  // Of more than two the ones with the most memory, whatever their order; one that is of no use is none.
  void twoCardsAreOffered_data() {
    QTest::addColumn<QList<int>>("gibibytes");
    QTest::addColumn<int>("unusable");
    QTest::addColumn<QString>("names");
    QTest::addColumn<QString>("text");
    QTest::newRow("one") << QList<int>{24} << -1 << QString() << QString();
    QTest::newRow("two") << QList<int>{24, 48} << -1 << "cuda:0,cuda:1" << "Both cards: Card 0 and Card 1, ";
    QTest::newRow("one of two") << QList<int>{24, 48} << 1 << QString() << QString();
    QTest::newRow("three") << QList<int>{24, 8, 48} << -1 << "cuda:0,cuda:2"
                           << "Two cards: Card 0 and Card 2, ";
    QTest::newRow("two of three") << QList<int>{24, 8, 48} << 2 << "cuda:0,cuda:1"
                                  << "Both cards: Card 0 and Card 1, ";
    QTest::newRow("four alike") << QList<int>{24, 24, 24, 24} << -1 << "cuda:0,cuda:1"
                                << "Two cards: Card 0 and Card 1, ";
  }
  void twoCardsAreOffered() {
    QFETCH(QList<int>, gibibytes);
    QFETCH(int, unusable);
    QFETCH(QString, names);
    QFETCH(QString, text);
    std::vector<DeviceInfo> all{processor()};
    for (int i = 0; i < gibibytes.size(); ++i) {
      all.push_back(card("cuda:" + std::to_string(i), "Card " + std::to_string(i),
                         i == unusable ? said("too old") : Phrase()));
      all.back().memory_bytes = gibibytes[i] * gib;
    }
    const auto offers = device_offers(all, {}, {});
    QCOMPARE(offers.size(), all.size() + (names.isEmpty() ? 1 : 2));
    if (names.isEmpty()) return;
    QCOMPARE(QString::fromStdString(offers.back().choice.name), names);
    QVERIFY2(offers.back().text.startsWith(text), qPrintable(offers.back().text));
    QVERIFY(offers.back().usable);
    const auto found = find_device(all, offers.back().choice);
    FOVEA_VERIFY(found);
    QCOMPARE(choice_of(*found), offers.back().choice);
  }

  void twoAlikeAreToldApart() {
    const std::vector<DeviceInfo> all{processor(), card("cuda:0", "NVIDIA GeForce RTX 4090"),
                                      card("cuda:1", "NVIDIA GeForce RTX 4090")};
    QCOMPARE(device_offers(all, {}, {}).back().text,
             QStringLiteral("Both cards: two RTX 4090, 68.7\u00A0GB together"));
    QCOMPARE(short_name(all[1], all[2]), QStringLiteral("RTX 4090 (cuda:0)"));
    QCOMPARE(short_name(all[1], card("cuda:2", "NVIDIA RTX A6000")), QStringLiteral("RTX 4090"));
  }

  // Two that somebody chose on the command line or before there was a third.
  void othersThatWereChosenAreOffered() {
    const std::vector<DeviceInfo> all{processor(), card("cuda:0", "A"), card("cuda:1", "B"),
                                      card("cuda:2", "C")};
    const DeviceChoice chosen{"cuda:2,cuda:1", "C + B"};
    const auto offers = device_offers(all, {}, chosen);
    QCOMPARE(offers.size(), all.size() + 3);
    QCOMPARE(offers.back().choice, chosen);
    QVERIFY(offers.back().usable && !offers.back().is_gone);
    const auto found = find_device(all, chosen);
    FOVEA_VERIFY(found);
    QVERIFY(found->first == &all[3] && found->device == &all[2]);
  }

  // Of two the one that is gone, is another now, or is of no use is named, and the choice stays.
  void oneOfTwoThatIsGone_data() {
    QTest::addColumn<QString>("last");
    QTest::addColumn<bool>("is_usable");
    QTest::newRow("gone") << QString() << true;
    QTest::newRow("another") << "Card C" << true;
    QTest::newRow("of no use") << "Card B" << false;
  }
  void oneOfTwoThatIsGone() {
    QFETCH(QString, last);
    QFETCH(bool, is_usable);
    std::vector<DeviceInfo> all{processor(), card("cuda:0", "Card A")};
    if (!last.isEmpty())
      all.push_back(card("cuda:1", last.toStdString(), is_usable ? Phrase() : said("too old")));
    const DeviceChoice chosen{"cuda:0,cuda:1", "Card A + Card B"};
    const auto found = find_device(all, chosen);
    QVERIFY(!found);
    QVERIFY2(found.error().message().contains("cuda:1 (Card B)"), found.error().message().c_str());
    QVERIFY(!found.error().message().contains("Card A"));
    const auto offers = device_offers(all, {}, chosen);
    QVERIFY(offers.back().is_gone && !offers.back().usable);
    QCOMPARE(offers.back().choice, chosen);
    QVERIFY2(offers.back().why.contains(QStringLiteral("cuda:1 (Card B)")), qPrintable(offers.back().why));
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
