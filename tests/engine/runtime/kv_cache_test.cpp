#include "engine/runtime/kv_cache.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "tests/support/test.h"

#include "heap_device.h"

using fovea::ErrorKind;
using fovea::TokenId;
using fovea::runtime::KvCache;
using fovea::runtime::PageShape;
using fovea::runtime::Sequence;
using Tokens = std::vector<TokenId>;

namespace {

const PageShape small{.layers = {{3, 32}, {3, 32}}, .page_tokens = 4};

// Few wide heads beside many narrow ones, and a layer that keeps no keys and values.
const PageShape mixed_shape{.layers = {{1, 64}, {4, 16}, {4, 16}, {0, 0}, {2, 32}}, .page_tokens = 4};

// Two of four layers see the last tokens only.
const PageShape shape_with_windows{.layers = {{1, 32, true}, {2, 32}, {0, 0}, {2, 16, true}, {1, 16}},
                                   .page_tokens = 4};
constexpr std::int64_t window = 6;

// What a pass would write for the last of these tokens: a byte that depends on all of them and on the place.
std::uint8_t content(std::span<const TokenId> prefix, std::int64_t layer, std::int64_t head, bool values) {
  std::uint64_t hash = 1469598103934665603U;
  for (const TokenId token : prefix) hash = (hash ^ static_cast<std::uint64_t>(token)) * 1099511628211U;
  hash = (hash ^ static_cast<std::uint64_t>(layer * 16 + head * 2 + (values ? 1 : 0))) * 1099511628211U;
  return static_cast<std::uint8_t>((hash >> 32) % 255);  // never 255, the poison
}

// Calls visit(bytes of one head at one position, expected content) for every row of [from, until).
template <class Visit>
void for_rows(const Sequence& sequence, const Tokens& tokens, std::int64_t from, std::int64_t until,
              Visit visit) {
  for (std::int64_t position = from; position < until; ++position) {
    const std::span prefix(tokens.data(), static_cast<std::size_t>(position + 1));
    for (std::size_t layer = 0; layer < sequence.pages().size(); ++layer) {
      const auto& pages = sequence.pages()[layer];
      const std::int64_t row = fovea::kernels::row_bytes(pages.type, pages.head_dim);
      for (std::int64_t head = 0; head < pages.kv_heads; ++head) {
        const std::int64_t offset = (head * pages.page_tokens + position % pages.page_tokens) * row;
        for (const bool values : {false, true}) {
          std::byte* page = (values ? pages.values : pages.keys)[position / pages.page_tokens];
          if (page == nullptr && position + window <= sequence.length()) continue;  // out of sight
          if (page == nullptr) qFatal("a window sees what is not there");
          visit(std::span(page + offset, static_cast<std::size_t>(row)),
                content(prefix, static_cast<std::int64_t>(layer), head, values));
        }
      }
    }
  }
}

bool compute(Sequence& sequence, std::span<const TokenId> more) {
  if (!sequence.reserve(static_cast<std::int64_t>(more.size()))) return false;
  Tokens all(sequence.tokens().begin(), sequence.tokens().end());
  all.insert(all.end(), more.begin(), more.end());
  for_rows(sequence, all, sequence.length(), static_cast<std::int64_t>(all.size()),
           [](std::span<std::byte> row, std::uint8_t byte) { std::memset(row.data(), byte, row.size()); });
  sequence.commit(more);
  return true;
}

bool intact(const Sequence& sequence, const Tokens& expected) {
  if (!std::ranges::equal(sequence.tokens(), expected)) return false;
  bool good = true;
  for_rows(sequence, expected, 0, sequence.length(), [&](std::span<std::byte> row, std::uint8_t byte) {
    good = good && std::ranges::all_of(row, [byte](std::byte found) { return found == std::byte{byte}; });
  });
  return good;
}

// What the lists of pages said under each revision.
class Revisions {
 public:
  // False: a list is another one than an earlier one of this revision, as far as both reach.
  bool hold(const Sequence& sequence) {
    const std::int64_t used = (sequence.length() + small.page_tokens - 1) / small.page_tokens;
    auto& known = known_[sequence.pages_revision()];
    known.resize(2 * sequence.pages().size());
    for (std::size_t list = 0; list < known.size(); ++list) {
      const auto& pages = sequence.pages()[list / 2];
      std::byte* const* const now = list % 2 == 0 ? pages.keys : pages.values;
      const auto common = std::min<std::int64_t>(used, std::ssize(known[list]));
      if (!std::equal(now, now + common, known[list].begin())) return false;
      known[list].insert(known[list].end(), now + common, now + used);
    }
    return used == 0 || sequence.pages_revision() != 0;
  }

 private:
  std::map<std::uint64_t, std::vector<std::vector<std::byte*>>> known_;
};

constexpr std::int64_t state_bytes = 24;

// What a pass would leave behind these tokens.
std::array<std::uint64_t, 3> state_of(std::span<const TokenId> tokens) {
  std::array<std::uint64_t, 3> state{};
  for (const TokenId token : tokens) {
    state[0] += 1;
    state[1] = state[1] * 1099511628211U + static_cast<std::uint64_t>(token) + 1;
    state[2] ^= state[1];
  }
  return state;
}

bool has_own_state(const Sequence& sequence) {
  const auto expected = state_of(sequence.tokens());
  return sequence.state() != nullptr && std::memcmp(sequence.state(), expected.data(), state_bytes) == 0;
}

// As a pass does: from the state that it finds.
bool compute_state(Sequence& sequence, std::span<const TokenId> more) {
  if (!has_own_state(sequence) || !compute(sequence, more)) return false;
  const auto state = state_of(sequence.tokens());
  std::memcpy(sequence.state(), state.data(), state_bytes);
  return true;
}

std::unique_ptr<KvCache> make_stateful(std::int64_t context, std::int64_t blocks, std::int64_t spacing = 1,
                                       std::int64_t turn_ends = 0) {
  return KvCache::create({.shape = small,
                          .context = context,
                          .state = {.bytes = state_bytes,
                                    .sequences = blocks,
                                    .saved = blocks,
                                    .spacing = spacing,
                                    .turn_ends = turn_ends},
                          .poison = true},
                         fovea::tests::heap_device(), fovea::tests::no_stream())
      .value();
}

std::unique_ptr<KvCache> make_cache(std::int64_t context, const PageShape& shape = small,
                                    std::int64_t places = 0, std::int64_t saved = 0,
                                    std::int64_t first_layers = 0) {
  return KvCache::create({.shape = shape,
                          .context = context,
                          .first_layers = first_layers,
                          .windows = {.window = places > 0 ? window : 0, .places = places, .saved = saved},
                          .poison = true},
                         fovea::tests::heap_device(), fovea::tests::no_stream(), &fovea::tests::heap_device())
      .value();
}

Tokens range(TokenId first, std::size_t count) {
  Tokens tokens(count);
  for (std::size_t i = 0; i < count; ++i) tokens[i] = first + static_cast<TokenId>(i);
  return tokens;
}

Tokens joined(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Sequence branch_of(KvCache& cache, const Sequence& sequence) {
  return cache.begin(sequence.tokens(), sequence.length());
}

}  // namespace

class KvCacheTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void bytesAreWhatTheContextNeeds_data() {
    QTest::addColumn<int>("type");
    QTest::addColumn<qint64>("token_bytes");
    QTest::newRow("f32") << static_cast<int>(fovea::kernels::Type::f32) << qint64{2 * 2 * 3 * 32 * 4};
    QTest::newRow("f16") << static_cast<int>(fovea::kernels::Type::f16) << qint64{2 * 2 * 3 * 32 * 2};
    QTest::newRow("q8_0") << static_cast<int>(fovea::kernels::Type::q8_0) << qint64{2 * 2 * 3 * 34};
  }
  void bytesAreWhatTheContextNeeds() {
    QFETCH(int, type);
    QFETCH(qint64, token_bytes);
    PageShape shape = small;
    shape.type = static_cast<fovea::kernels::Type>(type);
    const std::int64_t before = fovea::tests::heap_device().allocated();
    const auto cache = make_cache(13, shape);
    QCOMPARE(cache->bytes(), 5 * 4 * token_bytes);  // 13 tokens in pages of 4, and a spare page
    QCOMPARE(fovea::tests::heap_device().allocated() - before, cache->bytes());
  }

  // Those of the first layers lie elsewhere, and what a window has passed goes there as here.
  void theFirstLayersLieElsewhere() {
    const fovea::tests::HeapDevice device, host;
    const KvCache::Settings settings{.shape = shape_with_windows,
                                     .context = 24,
                                     .sequences = 2,
                                     .first_layers = 2,
                                     .windows = {.window = window, .places = 6, .saved = 4},
                                     .poison = true};
    {
      const auto cache = KvCache::create(settings, device, fovea::tests::no_stream(), &host);
      FOVEA_VERIFY(cache);
      const std::int64_t pages = KvCache::pages(settings);
      constexpr std::int64_t element = 4 * 2 * 2;  // of a page: keys and values of two bytes
      QCOMPARE((*cache)->first_bytes(), pages * element * 64 + 6 * element * 32);
      QCOMPARE(host.allocated(), (*cache)->first_bytes() + 4 * element * 32);
      QCOMPARE((*cache)->bytes(), pages * element * 16);
      QCOMPARE((*cache)->window_bytes().device, 6 * element * 32);
      QCOMPARE((*cache)->window_bytes().host, 4 * element * (32 + 32));
      QCOMPARE(device.allocated(), (*cache)->bytes() + (6 + 4) * element * 32);
      Sequence sequence = (*cache)->begin({}, 0);
      const Tokens text = range(1, 18);
      QVERIFY(compute(sequence, text));
      QVERIFY(intact(sequence, text));
      QVERIFY(std::ranges::none_of(std::span(sequence.pages()[1].keys, 5),
                                   [](const std::byte* page) { return page == nullptr; }));
      for (const std::size_t layer : {0, 3}) QVERIFY(sequence.pages()[layer].keys[0] == nullptr);
      // Another one that writes on in the last page has a copy of it, in both places.
      Sequence branch = branch_of(**cache, sequence);
      QVERIFY(compute(branch, range(100, 3)));
      QVERIFY(compute(sequence, range(200, 3)));
      QCOMPARE((*cache)->statistics().copies, 1);
      QVERIFY(intact(branch, joined(text, range(100, 3))));
      QVERIFY(intact(sequence, joined(text, range(200, 3))));
      // Back to what has been passed: it was kept of both.
      sequence.discard();
      const Sequence back = (*cache)->begin(text, 9);
      QVERIFY(back.length() > 0 && intact(back, range(1, static_cast<std::size_t>(back.length()))));
    }
    QVERIFY(device.allocated() == 0 && host.allocated() == 0);
  }

  // Of each layer its own heads, none of one without any; they lie behind each other.
  void layersHaveTheirOwnHeads() {
    const auto cache = make_cache(13, mixed_shape);
    const std::int64_t token = 2 * 2 * (64 + 2 * 4 * 16 + 2 * 32);  // keys and values of two bytes
    QCOMPARE(cache->shape().token_bytes(), token);
    QCOMPARE(cache->bytes(), 5 * 4 * token);
    Sequence sequence = cache->begin({}, 0);
    FOVEA_VERIFY(sequence.reserve(1));
    const std::byte* expected = sequence.pages()[0].keys[0];
    for (std::size_t layer = 0; layer < mixed_shape.layers.size(); ++layer) {
      const auto [kv_heads, head_dim, has_window] = mixed_shape.layers[layer];
      QVERIFY(!has_window);
      const auto& pages = sequence.pages()[layer];
      QCOMPARE(pages.kv_heads, kv_heads);
      QCOMPARE(pages.head_dim, head_dim);
      for (const auto* list : {pages.keys, pages.values}) {
        QVERIFY(list[0] == expected);
        expected += kv_heads * 4 * head_dim * 2;
      }
    }
  }

  void headsThatDoNotFillABlockAreRefused() {
    PageShape shape = small;
    shape.layers[1].head_dim = 20;
    shape.type = fovea::kernels::Type::q8_0;
    const auto cache = KvCache::create({.shape = shape, .context = 16}, fovea::tests::heap_device(),
                                       fovea::tests::no_stream());
    QVERIFY(!cache);
    QCOMPARE(cache.error().kind, ErrorKind::unsupported);
  }

  void aPrefixIsFoundAcrossSequences() {
    const auto cache = make_cache(64);
    {
      Sequence first = cache->begin(range(0, 11), 11);
      QCOMPARE(first.length(), 0);
      QVERIFY(compute(first, range(0, 11)));
    }
    Sequence whole = cache->begin(range(0, 20), 20);
    QCOMPARE(whole.length(), 11);
    Sequence limited = cache->begin(range(0, 11), 10);
    QCOMPARE(limited.length(), 10);
    Sequence branch = cache->begin(joined(range(0, 6), range(50, 6)), 12);
    QCOMPARE(branch.length(), 6);
    QCOMPARE(cache->begin(range(90, 5), 5).length(), 0);
    for (const Sequence* each : {&whole, &limited, &branch})
      QVERIFY(intact(*each, range(0, static_cast<std::size_t>(each->length()))));
  }

  void aBranchCopiesOnlyWhenItWrites() {
    const auto cache = make_cache(64);
    Sequence first = cache->begin({}, 0);
    QVERIFY(compute(first, range(0, 6)));
    Sequence branch = branch_of(*cache, first);
    QCOMPARE(cache->statistics().used, 2);
    QCOMPARE(cache->statistics().copies, 0);
    QVERIFY(compute(branch, range(70, 3)));
    QCOMPARE(cache->statistics().copies, 1);
    QVERIFY(compute(first, range(6, 3)));
    QCOMPARE(cache->statistics().copies, 1);
    QVERIFY(intact(first, range(0, 9)));
    QVERIFY(intact(branch, joined(range(0, 6), range(70, 3))));
  }

  void theOldestConversationGivesWayFirst() {
    const auto cache = make_cache(16);  // 5 pages
    for (const TokenId start : {100, 200}) {
      Sequence sequence = cache->begin({}, 0);
      QVERIFY(compute(sequence, range(start, 8)));
    }
    QCOMPARE(cache->begin(range(100, 8), 8).length(), 8);  // used again: now the younger one
    Sequence third = cache->begin({}, 0);
    QVERIFY(compute(third, range(300, 9)));
    QCOMPARE(cache->statistics().evictions, 2);
    QCOMPARE(cache->begin(range(100, 8), 8).length(), 8);
    QCOMPARE(cache->begin(range(200, 8), 8).length(), 0);
    QVERIFY(intact(third, range(300, 9)));
  }

  void aSequenceMayFillTheContextWhateverIsCached() {
    const auto cache = make_cache(16);
    {
      QVERIFY(compute(*std::make_unique<Sequence>(cache->begin({}, 0)), range(0, 15)));
    }
    Sequence branch = cache->begin(range(0, 14), 14);
    QVERIFY(compute(branch, range(50, 2)));
    QCOMPARE(branch.length(), 16);
    const std::int64_t evictions = cache->statistics().evictions;
    const auto refused = branch.reserve(5);
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::context_full);
    QVERIFY(refused.error().what_words().find("21 tokens need 6 pages") != std::string::npos);
    QCOMPARE(cache->statistics().evictions, evictions);
    QVERIFY(intact(branch, joined(range(0, 14), range(50, 2))));
  }

  void anUnwrittenReservationLeavesNothing() {
    const auto cache = make_cache(32);
    {
      Sequence sequence = cache->begin({}, 0);
      QVERIFY(compute(sequence, range(0, 5)));
      FOVEA_VERIFY(sequence.reserve(20));
    }
    QCOMPARE(cache->statistics().cached, 2);
    QCOMPARE(cache->begin(range(0, 32), 32).length(), 5);
    cache->clear();
    QCOMPARE(cache->statistics().free, cache->statistics().pages);
  }

  // A page that is begun belongs to nobody when its sequence has gone: the next one writes on in it.
  void aConversationGoesOnWhereItWas() {
    const auto cache = make_cache(64);
    {
      Sequence first = cache->begin({}, 0);
      QVERIFY(compute(first, range(0, 6)));
    }
    Sequence next = cache->begin(range(0, 6), 6);
    QVERIFY(compute(next, range(6, 3)));
    QCOMPARE(cache->statistics().copies, 0);
    QVERIFY(intact(next, range(0, 9)));
  }

  // The same text, computed twice at once, is kept once.
  void whatTwoComputedIsKeptOnce() {
    const auto cache = make_cache(64);
    {
      Sequence first = cache->begin({}, 0), second = cache->begin({}, 0);
      QVERIFY(compute(first, range(0, 6)));
      QVERIFY(compute(second, range(0, 7)));
      QCOMPARE(cache->statistics().used, 3);  // the second pages are not full
    }
    QCOMPARE(cache->statistics().cached, 2);
    QCOMPARE(cache->begin(range(0, 9), 9).length(), 7);
  }

  // What others know stays: a page that they computed, that they hold, or that their pages follow.
  void discardingForgetsOnlyWhatIsOnesOwn() {
    const auto cache = make_cache(64);
    const auto discard = [&](Sequence sequence) {
      sequence.discard();
      QCOMPARE(sequence.length(), 0);
    };
    const auto computed = [&](const Tokens& tokens) {
      Sequence sequence = cache->begin({}, 0);
      if (!compute(sequence, tokens)) qFatal("the cache is full");
      return sequence;
    };
    discard(computed(range(0, 6)));
    QCOMPARE(cache->statistics().free, cache->statistics().pages);

    {
      const Sequence before = computed(range(0, 8));
    }
    discard(computed(range(0, 8)));
    QCOMPARE(cache->begin(range(0, 8), 8).length(), 8);
    cache->clear();

    Sequence held = computed(range(0, 6));
    Sequence holder = branch_of(*cache, held);
    discard(std::move(held));
    QVERIFY(intact(holder, range(0, 6)));
    QCOMPARE(branch_of(*cache, holder).length(), 6);
    discard(std::move(holder));
    cache->clear();

    Sequence followed = computed(range(0, 8));
    const Tokens other = joined(range(0, 4), range(50, 2));
    {
      Sequence follower = cache->begin(other, 4);
      QVERIFY(compute(follower, range(50, 2)));
    }
    discard(std::move(followed));
    QCOMPARE(cache->begin(other, 6).length(), 6);
    cache->clear();
    QCOMPARE(cache->statistics().free, cache->statistics().pages);
  }

  // Sequences come, grow, fork, shrink and go, over few pages and few token ids, so that they share much.
  void anythingInAnyOrder_data() {
    QTest::addColumn<int>("context");
    QTest::addColumn<bool>("evicts");
    QTest::addColumn<bool>("mixed");
    QTest::addColumn<int>("saved");
    QTest::addColumn<int>("first_layers");
    const auto row = [](const char* name, int context, bool evicts, bool mixed, int saved,
                        int first_layers = 0) {
      QTest::newRow(name) << context << evicts << mixed << saved << first_layers;
    };
    row("room for everything", 40'000, false, false, -1);
    row("pages run out", 60, true, false, -1);
    row("layers of several shapes", 60, true, true, -1);
    row("windows, room for everything", 40'000, false, false, 2'000);
    row("windows that keep nothing", 40'000, false, false, 0);
    row("windows that keep little", 40'000, false, false, 9);
    row("windows, pages run out", 60, true, false, 5);
    row("windows on both sides", 40'000, false, false, 9, 2);
    row("windows on both sides, pages run out", 60, true, false, 5, 2);
  }
  void anythingInAnyOrder() {
    QFETCH(int, context);
    QFETCH(bool, evicts);
    QFETCH(bool, mixed);
    QFETCH(int, saved);
    QFETCH(int, first_layers);
    // Six sequences; a pass of nine tokens begins and ends within a page.
    constexpr int places = 6 * ((window + 9) / 4 + 3);
    for (int round = 0; round < fovea::tests::rounds(8); ++round) {
      const unsigned seed = fovea::tests::seed() + static_cast<unsigned>(round);
      const std::string failure =
          saved < 0
              ? random_operations(seed, make_cache(context, mixed ? mixed_shape : small), evicts, true)
              : random_operations(seed, make_cache(context, shape_with_windows, places, saved, first_layers),
                                  evicts, saved > 1000);
      QVERIFY2(failure.empty(), qPrintable(QString("%1; FOVEA_TEST_SEED=%2").arg(failure.c_str()).arg(seed)));
    }
  }

  // On the device there is room for what a pass sees; what it passed is kept as far as that goes.
  void windowsKeepWhatTheySee() {
    constexpr std::int64_t places = (window + 3) / 4 + 3;
    const Tokens all = range(0, 40);
    for (const std::int64_t saved : {0, 2, 20}) {
      const auto cache = make_cache(64, shape_with_windows, places, saved);
      QCOMPARE(cache->bytes(), 17 * 4 * 2 * (2 * 64 + 32));
      QCOMPARE(cache->window_bytes().device, places * 4 * 2 * (64 + 2 * 32));
      QCOMPARE(cache->window_bytes().host, saved * 4 * 2 * (64 + 2 * 32));
      QCOMPARE(cache->token_bytes(true), 2 * (64 + 2 * 32));
      {
        Sequence sequence = cache->begin({}, 0);
        for (std::size_t at = 0; at < all.size(); at += 3) {
          const std::size_t end = std::min(all.size(), at + 3);
          QVERIFY(compute(sequence, std::span(all).subspan(at, end - at)));
          QVERIFY(intact(sequence, Tokens(all.begin(), all.begin() + std::ptrdiff_t(end))));
          QVERIFY(sequence.pages()[0].keys[0] == nullptr || std::ssize(sequence.tokens()) < window + 4);
          QVERIFY(sequence.pages()[1].keys[0] != nullptr);
        }
      }
      QCOMPARE(cache->statistics().saved, std::min<std::int64_t>(saved, 10 - places));
      QCOMPARE(cache->begin(all, 40).length(), 40);
      const Sequence back = cache->begin(all, 13);
      QCOMPARE(back.length(), saved == 20 ? 13 : 0);
      QVERIFY(intact(back, range(0, std::size_t(back.length()))));
    }
  }

  // A sequence finds its window although others have been there meanwhile; what it does not find costs it
  // what lies before.
  void aWindowsRoomIsSequences() {
    const auto cache = make_cache(64, shape_with_windows, 2 * ((window + 4) / 4 + 3), 0);
    auto first = std::make_unique<Sequence>(cache->begin({}, 0));
    Sequence second = cache->begin({}, 0), third = cache->begin({}, 0);
    QVERIFY(compute(*first, range(0, 17)));
    QVERIFY(compute(second, range(100, 18)));
    const auto refused = third.reserve(28);
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::context_full);
    QVERIFY(intact(*first, range(0, 17)) && intact(second, range(100, 18)));
    third.truncate(0);
    QVERIFY(compute(third, range(200, 4)));
    first.reset();
    QVERIFY(compute(third, range(204, 9)));
    QVERIFY(intact(second, range(100, 18)) && intact(third, joined(range(200, 4), range(204, 9))));
  }

  // A synthetic recurrent state: a number that depends on every token before. Wherever a sequence begins, is
  // shortened or goes on, its state is that of its own tokens.
  void aStateFollowsItsSequence() {
    const auto cache = make_stateful(64, 8);
    QCOMPARE(cache->bytes(), 17 * small.page_bytes());
    QCOMPARE(cache->state_bytes().device, 8 * state_bytes);
    QCOMPARE(cache->state_bytes().host, 9 * state_bytes);
    {
      Sequence first = cache->begin({}, 0);
      QVERIFY(has_own_state(first));
      QVERIFY(compute_state(first, range(0, 6)));
      first.save_state();
      QVERIFY(compute_state(first, range(6, 5)));
    }
    // The pages are there to the end, the state of the sixth token is the last that was kept.
    Sequence again = cache->begin(range(0, 20), 20);
    QCOMPARE(again.length(), 6);
    QVERIFY(has_own_state(again) && intact(again, range(0, 6)));
    QVERIFY(compute_state(again, range(50, 7)));
    Sequence copy = branch_of(*cache, again);
    QCOMPARE(copy.length(), 6);
    QVERIFY(copy.state() != again.state());
    QVERIFY(compute_state(copy, range(70, 3)));
    QVERIFY(has_own_state(again) && has_own_state(copy));
    again.save_state();
    again.truncate(12);  // between two saved states
    QCOMPARE(again.length(), 6);
    QVERIFY(has_own_state(again) && intact(again, range(0, 6)));
    again.truncate(3);  // before the first
    QCOMPARE(again.length(), 0);
    QVERIFY(has_own_state(again));
    // Saved behind the whole of a sequence: begun there.
    QCOMPARE(cache->begin(joined(range(0, 6), range(50, 7)), 13).length(), 13);
    cache->clear();
    QCOMPARE(cache->begin(range(0, 6), 6).length(), 0);
  }

  // Saved states give way to others, the longest unused first, and sequences to nobody.
  void statesRunOut() {
    const auto cache = make_stateful(64, 2);
    {
      Sequence sequence = cache->begin({}, 0);
      for (const TokenId start : {0, 10, 20}) {
        QVERIFY(compute_state(sequence, range(start, 5)));
        sequence.save_state();  // the third one takes the first one's place
      }
    }
    const Tokens all = joined(joined(range(0, 5), range(10, 5)), range(20, 5));
    QCOMPARE(cache->begin(all, 9).length(), 0);
    std::vector<Sequence> held;
    held.push_back(cache->begin(all, 15));
    QCOMPARE(held.back().length(), 15);
    held.push_back(cache->begin({}, 0));
    for (Sequence& each : held) QVERIFY(has_own_state(each) && each.reserve(1));
    Sequence beyond = cache->begin({}, 0);
    QVERIFY(beyond.state() == nullptr);
    const auto refused = beyond.reserve(1);
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::context_full);
  }

  // The ends of turns leave those at the spacing their place, and none where none may be kept.
  void turnEndsGiveWay() {
    for (const std::int64_t turn_ends : {0, 2}) {
      const auto cache = make_stateful(64, 5, 4, turn_ends);
      Sequence sequence = cache->begin({}, 0);
      Tokens all;
      for (TokenId token = 0; token < 12; ++token) {
        QVERIFY(compute_state(sequence, range(token, 1)));
        all.push_back(token);
        sequence.save_state();
      }
      const auto length_of = [&](std::int64_t limit) { return cache->begin(all, limit).length(); };
      QCOMPARE(length_of(11), turn_ends == 0 ? 8 : 11);
      QCOMPARE(length_of(10), turn_ends == 0 ? 8 : 10);
      QCOMPARE(length_of(9), 8);
      QCOMPARE(length_of(7), 4);
      QCOMPARE(length_of(3), 0);
    }
  }

  void statesInAnyOrder() {
    for (int round = 0; round < fovea::tests::rounds(8); ++round) {
      std::mt19937 random(fovea::tests::seed() + static_cast<unsigned>(round));
      const auto below = [&random](int bound) { return static_cast<int>(random() % unsigned(bound)); };
      const auto cache = make_stateful(200, 6);
      std::vector<Sequence> live;
      int returned = 0;
      for (int step = 0; step < 300; ++step) {
        const auto which = live.empty() ? 0 : static_cast<std::size_t>(below(int(live.size())));
        const int action = live.empty() ? 0 : below(6);
        if (action == 0 && live.size() < 4) {
          Tokens wanted(static_cast<std::size_t>(below(20)));
          for (TokenId& token : wanted) token = below(4) == 0 ? 1 : 0;
          live.push_back(cache->begin(wanted, 20));
          returned += live.back().length() > 0 ? 1 : 0;
        } else if (action <= 2) {
          Tokens more(static_cast<std::size_t>(1 + below(6)));
          for (TokenId& token : more) token = below(4) == 0 ? 1 : 0;
          QVERIFY(compute_state(live[which], more));
        } else if (action == 3) {
          live[which].save_state();
        } else if (action == 4) {
          live[which].truncate(below(static_cast<int>(live[which].length()) + 1));
          returned += live[which].length() > 0 ? 1 : 0;
        } else {
          std::vector<Sequence> kept;
          for (std::size_t i = 0; i < live.size(); ++i)
            if (i != which) kept.push_back(std::move(live[i]));
          live.swap(kept);
        }
        for (const Sequence& each : live)
          QVERIFY2(has_own_state(each), qPrintable(QString("round %1, step %2").arg(round).arg(step)));
      }
      QVERIFY(returned > 0);
    }
  }

  // The check above sees a page that two sequences wrote.
  void theCheckSeesASharedWrite() {
    const auto cache = make_cache(64);
    Sequence first = cache->begin({}, 0);
    QVERIFY(compute(first, range(0, 6)));
    const Sequence branch = branch_of(*cache, first);
    QVERIFY(intact(branch, range(0, 6)));
    *first.pages()[1].keys[1] ^= std::byte{1};
    QVERIFY(!intact(branch, range(0, 6)));
  }

 private:
  // `returns`: nothing that was computed is lost but with its page.
  static std::string random_operations(unsigned seed, std::unique_ptr<KvCache> cache, bool evicts,
                                       bool returns) {
    std::mt19937 random(seed);
    const auto below = [&random](int bound) {
      return static_cast<int>(random() % static_cast<unsigned>(bound));
    };
    const auto draw = [&](int count) {
      Tokens tokens(static_cast<std::size_t>(count));
      for (TokenId& token : tokens) token = below(3) == 0 ? below(3) : 0;
      return tokens;
    };
    std::vector<std::pair<Sequence, Tokens>> live;
    std::set<Tokens> computed{{}};  // every prefix that was ever computed
    Revisions revisions;
    for (int step = 0; step < 300; ++step) {
      const int action = live.empty() ? 0 : below(7);
      const auto which = live.empty() ? 0 : static_cast<std::size_t>(below(static_cast<int>(live.size())));
      if (action == 0 && live.size() < 6) {
        const Tokens wanted = draw(below(24));
        const std::int64_t limit = below(25);
        Sequence sequence = cache->begin(wanted, limit);
        Tokens longest(wanted.begin(), wanted.begin() + std::min<std::int64_t>(limit, std::ssize(wanted)));
        while (!computed.contains(longest)) longest.pop_back();
        if (evicts || !returns ? sequence.length() > std::ssize(longest)
                               : sequence.length() != std::ssize(longest))
          return "begin found " + std::to_string(sequence.length()) + " of " + std::to_string(longest.size());
        longest.resize(static_cast<std::size_t>(sequence.length()));
        live.emplace_back(std::move(sequence), std::move(longest));
      } else if (action <= 3 && !live.empty()) {
        auto& [sequence, tokens] = live[which];
        const Tokens more = draw(1 + below(9));
        if (compute(sequence, more)) {
          for (const TokenId token : more) {
            tokens.push_back(token);
            computed.insert(tokens);
          }
        } else if (!evicts) {
          return "a reservation failed with pages left";
        }
      } else if (action == 4 && live.size() < 6) {
        live.emplace_back(branch_of(*cache, live[which].first), live[which].second);
        if (live.back().first.length() != std::ssize(live.back().second)) return "a branch is shorter";
      } else if (action == 5) {
        const int length = below(static_cast<int>(live[which].second.size()) + 1);
        live[which].first.truncate(length);
        const std::int64_t found = live[which].first.length();
        if (returns && !evicts ? found != length : found > length) return "cut too far";
        live[which].second.resize(static_cast<std::size_t>(found));
      } else if (!live.empty()) {
        std::vector<std::pair<Sequence, Tokens>> kept;
        for (std::size_t i = 0; i < live.size(); ++i) {
          if (i != which) kept.push_back(std::move(live[i]));
        }
        live.swap(kept);
      }
      for (const auto& [sequence, tokens] : live) {
        if (!intact(sequence, tokens)) return "a sequence changed in step " + std::to_string(step);
        if (!revisions.hold(sequence))
          return "a list changed without a revision in step " + std::to_string(step);
      }
    }
    live.clear();
    const auto statistics = cache->statistics();
    if (statistics.references != 0 || statistics.used != 0) return "references leaked";
    if (evicts && statistics.evictions == 0) return "nothing was evicted: the round tests nothing";
    cache->clear();
    if (cache->statistics().free != statistics.pages) return "pages leaked";
    return {};
  }
};
FOVEA_TEST(KvCacheTest)

#include "kv_cache_test.moc"
