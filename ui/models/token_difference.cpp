#include "ui/models/token_difference.h"

#include <QByteArrayView>
#include <QString>
#include <algorithm>
#include <cstdint>

namespace fovea::ui {
namespace {

constexpr std::size_t kMostTokens = 2000;  // that are compared; of longer answers the rest is not marked

struct Bytes {
  qsizetype begin = 0, end = 0;
};

Bytes bytes_of(const TokenText& answer, std::size_t token) {
  const auto within = [&](qint64 place) { return std::clamp<qsizetype>(place, 0, answer.utf8.size()); };
  const qsizetype begin = token == 0 ? 0 : within(answer.ends[token - 1]);
  return {begin, std::max(begin, within(answer.ends[token]))};
}

std::vector<QByteArrayView> tokens_of(const TokenText& answer) {
  std::vector<QByteArrayView> tokens(std::min(answer.ends.size(), kMostTokens));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto [begin, end] = bytes_of(answer, i);
    tokens[i] = QByteArrayView(answer.utf8).sliced(begin, end - begin);
  }
  return tokens;
}

bool is_inside_character(const QByteArray& utf8, qsizetype place) {
  return place < utf8.size() && (static_cast<unsigned char>(utf8[place]) & 0xc0) == 0x80;
}

Bytes whole_characters(const QByteArray& utf8, Bytes part) {
  while (part.begin > 0 && is_inside_character(utf8, part.begin)) --part.begin;
  while (is_inside_character(utf8, part.end)) ++part.end;
  return part;
}

}  // namespace

std::vector<std::size_t> differing_tokens(const TokenText& answer, const TokenText& other) {
  const std::vector<QByteArrayView> a = tokens_of(answer), b = tokens_of(other);
  // length[i][j]: of the longest common row of tokens from i and j on.
  const std::size_t wide = b.size() + 1;
  std::vector<std::uint16_t> length((a.size() + 1) * wide, 0);
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;)
      length[i * wide + j] = a[i] == b[j] ? static_cast<std::uint16_t>(length[(i + 1) * wide + j + 1] + 1)
                                          : std::max(length[(i + 1) * wide + j], length[i * wide + j + 1]);
  }
  std::vector<std::size_t> differing;
  std::size_t i = 0, j = 0;
  while (i < a.size()) {
    if (j < b.size() && a[i] == b[j]) {
      ++i;
      ++j;
    } else if (j < b.size() && length[i * wide + j + 1] > length[(i + 1) * wide + j]) {
      ++j;
    } else {
      differing.push_back(i++);
    }
  }
  return differing;
}

std::vector<TokenRange> places_of(const TokenText& answer, const std::vector<std::size_t>& tokens) {
  std::vector<TokenRange> places;
  qsizetype counted = 0;  // bytes of the text …
  int units = 0;          // … and the UTF-16 of these
  const auto units_until = [&](qsizetype place) {
    units += static_cast<int>(QString::fromUtf8(answer.utf8.sliced(counted, place - counted)).size());
    counted = place;
    return units;
  };
  for (std::size_t i = 0; i < tokens.size();) {
    Bytes run = bytes_of(answer, tokens[i]);
    for (++i; i < tokens.size() && tokens[i] == tokens[i - 1] + 1; ++i)
      run.end = bytes_of(answer, tokens[i]).end;
    run = whole_characters(answer.utf8, run);
    if (run.end - run.begin > 1 && answer.utf8[run.begin] == ' ') ++run.begin;
    // Two tokens of one character: it is seen once.
    run.begin = std::max(run.begin, counted);
    if (run.begin >= run.end) continue;
    const int begin = units_until(run.begin);
    places.push_back({begin, units_until(run.end) - begin});
  }
  return places;
}

}  // namespace fovea::ui
