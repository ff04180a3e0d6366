#include "app/words/tier_words.h"

#include <QCoreApplication>
#include <QStringList>

namespace fovea::app {
namespace {

struct TierWords {
  Q_DECLARE_TR_FUNCTIONS(fovea::app::TierWords)
};

}  // namespace

QString tier_words(std::string_view tier) {
  if (tier == "file") return TierWords::tr("the file's precision");
  if (tier == "bf16") return TierWords::tr("16 bits");
  if (tier == "q8") return TierWords::tr("8 bits");
  if (tier == "q6") return TierWords::tr("6 bits");
  if (tier == "q5") return TierWords::tr("5 bits");
  if (tier == "q4") return TierWords::tr("4 bits");
  if (tier == "q4e") return TierWords::tr("4 bits in other steps");
  if (tier == "q3") return TierWords::tr("3 bits");
  if (tier == "q2") return TierWords::tr("2 bits");
  return QString::fromUtf8(tier.data(), std::ssize(tier));
}

QString tier_words(const std::vector<std::string>& tiers) {
  QStringList words;
  for (const std::string& tier : tiers) words += tier_words(tier);
  return words.join(QStringLiteral(", "));
}

// Its last words are one of those above, or these.
QString published_name(const std::string& name) {
  const std::size_t comma = name.rfind(", ");
  if (comma == std::string::npos) return QString::fromStdString(name);
  const std::string precision = name.substr(comma + 2);
  return QString::fromStdString(name.substr(0, comma + 2)) +
         (precision == "as published" ? TierWords::tr("as published") : TierWords::tr(precision.c_str()));
}

}  // namespace fovea::app
