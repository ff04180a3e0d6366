#include "ui/chat/source_map.h"

#include <algorithm>

namespace fovea::ui {
namespace {

constexpr QStringView kMarks = u"*_`~[]()#>\\|!<-+=$ \t\n\r";
constexpr qsizetype kMostMarks = 12;     // that follow each other
constexpr qsizetype kMostLeftOut = 400;  // of the source, such as an address
constexpr qsizetype kMostAdded = 12;     // to it, such as a list's dot with its indent
constexpr qsizetype kAlike = 4;          // characters that must go on alike
constexpr qsizetype kFarAlike = 16;      // … further away

bool same(QChar a, QChar b) {
  return a == b || (a.isSpace() && b.isSpace());
}

bool alike(QStringView a, QStringView b, qsizetype most) {
  const qsizetype count = std::min({a.size(), b.size(), most});
  if (count == 0 || (count < most && count < b.size())) return false;
  return std::equal(a.begin(), a.begin() + count, b.begin(), same);
}

struct Step {
  qsizetype source = 0, read = 0;
};

// How many characters of both to pass over until they go on alike.
Step find_again(QStringView source, QStringView read) {
  for (qsizetype marks = 1; marks <= std::min(kMostMarks, source.size() - 1); ++marks) {
    if (!kMarks.contains(source[marks - 1])) break;
    if (same(source[marks], read[0])) return {marks, 0};
  }
  for (qsizetype sum = 1; sum <= kMostLeftOut; ++sum) {
    for (qsizetype added = 0; added <= std::min({sum, kMostAdded, read.size() - 1}); ++added) {
      const qsizetype left_out = sum - added;
      if (left_out < source.size() && alike(source.sliced(left_out), read.sliced(added), kAlike))
        return {left_out, added};
    }
  }
  const qsizetype far = source.indexOf(read.first(std::min(kFarAlike, read.size())));
  return far >= 0 ? Step{far, 0} : Step{0, 1};
}

}  // namespace

std::vector<int> places_in_source(QStringView source, QStringView read) {
  std::vector<int> places(static_cast<std::size_t>(read.size()), -1);
  qsizetype at = 0;
  for (qsizetype i = 0; i < read.size() && at < source.size();) {
    if (same(source[at], read[i])) {
      places[static_cast<std::size_t>(i++)] = static_cast<int>(at++);
      continue;
    }
    const Step step = find_again(source.sliced(at), read.sliced(i));
    at += step.source;
    i += step.read;
  }
  return places;
}

}  // namespace fovea::ui
