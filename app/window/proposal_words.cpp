#include "app/window/proposal_words.h"

#include <QCoreApplication>
#include <QLocale>
#include <cmath>

#include "app/library/fit_words.h"
#include "app/words/qt_text.h"
#include "app/words/tier_words.h"
#include "ui/language/number_text.h"

namespace fovea::app {
namespace {

// Unqualified at the beginning of a function, where lupdate would lose the namespace.
using ui::ProposalView;

struct ProposalWords {
  Q_DECLARE_TR_FUNCTIONS(fovea::app::ProposalWords)
};

using Fact = ProposalView::Fact;

Fact fit_fact(const Candidate& candidate) {
  switch (candidate.fit.kind) {
    case FitKind::fits:
      return {ProposalWords::tr("Fits completely"), ProposalWords::tr("at its published precision")};
    case FitKind::lower_precision:
      return {ProposalWords::tr("Fits"), ProposalWords::tr("what is seldom used, at lower precision")};
    case FitKind::experts_elsewhere:
      return {ProposalWords::tr("Fits in part"), candidate.fit.on_card
                                                     ? ProposalWords::tr("some experts outside the card")
                                                     : ProposalWords::tr("some experts on the disk")};
    case FitKind::does_not_fit:
      break;
  }
  return {ProposalWords::tr("Does not fit"), {}};
}

// 1, 2, … 10, 15, 20, …: a bound needs no digits.
QString speed_text(double tokens_per_second) {
  const double rounded = tokens_per_second < 10 ? std::max(1.0, std::round(tokens_per_second))
                                                : 5 * std::round(tokens_per_second / 5);
  return ProposalWords::tr("up to %1").arg(ui::number_text(rounded, 0));
}

}  // namespace

ProposalView proposal_view(const Candidate& candidate) {
  ProposalView view{.state = ProposalView::State::ready, .name = published_name(candidate.name)};
  view.about = ProposalWords::tr("The most capable model that is quick on this computer");
  const std::int64_t taken = taken_bytes(candidate.fit.report.plan);
  view.facts.push_back({ui::bytes_text(taken > 0 ? taken : candidate.fit.needed_bytes),
                        ProposalWords::tr("of %1 memory").arg(ui::bytes_text(candidate.fit.budget_bytes))});
  view.facts.push_back(fit_fact(candidate));
  if (candidate.tokens_per_second > 0)
    view.facts.push_back({speed_text(candidate.tokens_per_second), ProposalWords::tr("tokens a second")});
  const QString size = ui::bytes_text(candidate.file_bytes);
  view.accept = !candidate.path.empty() ? ProposalWords::tr("Open it")
                : candidate.entry && candidate.entry->bytes_from_shape
                    ? ProposalWords::tr("Download about %1").arg(size)
                    : ProposalWords::tr("Download %1").arg(size);
  QStringList why;
  if (candidate.entry) {
    const std::string language = QLocale().name().section(QLatin1Char('_'), 0, 0).toStdString();
    why += ProposalWords::tr("Good at: %1.").arg(q(good_at(*candidate.entry, language)));
  }
  why += ProposalWords::tr(
      "Of the models on this computer and those that Fovea knows, it does best in published tests, taking "
      "into account what fits in the memory that is free now and how fast it writes here.");
  why += fit_reason(candidate.fit);
  view.why = why.join(QStringLiteral(" "));
  return view;
}

}  // namespace fovea::app
