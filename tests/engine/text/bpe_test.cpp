// Words of any length against byte-pair encoding as its paper tells it (Sennrich et al. 2016, algorithm 1).
#include "engine/text/bpe.h"

#include <algorithm>
#include <random>

#include "tests/support/test.h"

using fovea::TokenId;
using namespace fovea::text;

namespace {

// A vocabulary of a few bytes with random merges. Bytes of `text` that are no tokens vanish, or are unknown.
struct World {
  static constexpr std::string_view text = "ab c\n";

  World(std::mt19937& random, bool all_bytes) {
    for (int byte = 0; byte < 256; ++byte) {
      const auto b = static_cast<char>(byte);
      if (!all_bytes && (b == 'c' || b == '\n')) continue;
      vocabulary.add(to_byte_alphabet({&b, 1}));
    }
    std::vector<TokenId> tokens;
    for (const char c : text)
      if (const TokenId id = find(std::string(1, c)); id >= 0) tokens.push_back(id);
    for (std::uint32_t rank = 0; rank < 14; ++rank) {
      const TokenId left = tokens[random() % tokens.size()];
      const TokenId right = tokens[random() % tokens.size()];
      const std::string joined = std::string(vocabulary.text(left)) + std::string(vocabulary.text(right));
      if (std::ranges::any_of(merges, [&](const auto& m) { return m.left == left && m.right == right; }))
        continue;
      tokens.push_back(vocabulary.add(joined));
      merges.push_back({left, right, tokens.back(), rank});
    }
    unknown = vocabulary.add("<unknown>");
    vocabulary.index();
  }

  TokenId find(std::string_view bytes) const {
    const std::string spelled = to_byte_alphabet(bytes);
    for (TokenId id = 0; id < vocabulary.size(); ++id)
      if (vocabulary.text(id) == spelled) return id;
    return -1;
  }

  std::vector<TokenId> expected(std::string_view word, const BpeOptions& options) const {
    if (options.ignore_merges)
      if (const TokenId whole = find(word); whole >= 0) return {whole};
    std::vector<TokenId> ids;
    bool behind_unknown = false;
    for (const char c : word) {
      const TokenId id = find({&c, 1});
      if (id < 0 && (options.unknown < 0 || (behind_unknown && options.fuse_unknown))) continue;
      ids.push_back(id < 0 ? options.unknown : id);
      behind_unknown = id < 0;
    }
    while (true) {
      const Bpe::Merge* best = nullptr;
      std::size_t at = 0;
      for (std::size_t i = 0; i + 1 < ids.size(); ++i)
        for (const Bpe::Merge& merge : merges)
          if (merge.left == ids[i] && merge.right == ids[i + 1] &&
              (best == nullptr || merge.rank < best->rank)) {
            best = &merge;
            at = i;
          }
      if (best == nullptr) return ids;
      ids[at] = best->joined;
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
  }

  Vocabulary vocabulary;
  std::vector<Bpe::Merge> merges;
  TokenId unknown = -1;
};

}  // namespace

class BpeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void wordsOfAnyLengthEqualThePapersAlgorithm_data() {
    QTest::addColumn<bool>("all_bytes");
    QTest::addColumn<bool>("has_unknown");
    QTest::addColumn<bool>("fuse_unknown");
    QTest::addColumn<bool>("ignore_merges");
    QTest::newRow("every byte is a token") << true << false << false << false;
    QTest::newRow("unknown bytes vanish") << false << false << false << false;
    QTest::newRow("unknown bytes are told") << false << true << false << false;
    QTest::newRow("unknown bytes are fused") << false << true << true << false;
    QTest::newRow("whole words first") << true << false << false << true;
  }
  void wordsOfAnyLengthEqualThePapersAlgorithm() {
    QFETCH(bool, all_bytes);
    QFETCH(bool, has_unknown);
    QFETCH(bool, fuse_unknown);
    QFETCH(bool, ignore_merges);
    std::mt19937 random(fovea::tests::seed());
    std::size_t joined = 0;
    for (int round = 0; round < fovea::tests::rounds(60); ++round) {
      const World world(random, all_bytes);
      BpeOptions options;
      options.byte_level = true;
      options.ignore_merges = ignore_merges;
      options.fuse_unknown = fuse_unknown;
      options.unknown = has_unknown ? world.unknown : -1;
      const Bpe bpe(world.vocabulary, options, world.merges);
      std::vector<std::string> words;  // some come twice
      for (int i = 0; i < 12; ++i) {
        if (i % 4 == 3) {
          words.push_back(words[random() % words.size()]);
          continue;
        }
        std::string word(1 + random() % (i % 2 == 0 ? 12 : 160), 'a');
        for (char& c : word) c = World::text[random() % World::text.size()];
        words.push_back(std::move(word));
      }
      BpeScratch scratch(1000);
      std::vector<TokenId> out;
      for (const std::string& word : words) {
        const std::size_t begin = out.size();
        bpe.encode(world.vocabulary, word, out, scratch);
        const std::vector<TokenId> got(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end());
        joined += word.size() - got.size();
        QVERIFY2(got == world.expected(word, options),
                 qPrintable(QStringLiteral("seed %1, round %2").arg(fovea::tests::seed()).arg(round)));
      }
    }
    QVERIFY(joined > 100);
  }
};

FOVEA_TEST(BpeTest)
#include "bpe_test.moc"
