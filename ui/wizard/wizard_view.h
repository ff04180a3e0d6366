// What the wizard's pages show, and what they tell. Plain data, all words ready to be read.
#pragma once

#include <QString>
#include <QStringList>
#include <QtGlobal>
#include <functional>
#include <optional>
#include <vector>

#include "ui/theme/fit.h"

namespace fovea::ui {

enum class WizardPage { machine, wish, models, memory, start, calibration };
inline constexpr int wizard_pages = 6;

// A number with the sentence that says where it comes from.
struct FactView {
  QString name = {};
  QString value = {};
  QString why = {};
  bool is_detail = false;  // shown only to who asks
  bool operator==(const FactView&) const = default;
};

enum class WishView { speed, quality, long_context };

struct ModelRow {
  QString name = {};
  QString place = {};  // "on this computer", "to download, 18.6 GB"
  FitView fit = FitView::fits;
  QString fit_text = {};  // "fits"
  QString good_at = {};
  QString holds = {};  // what the memory would hold
  std::vector<FactView> facts = {};
  bool usable = true;  // it can be chosen
};

struct ChoiceView {
  QString text = {};
  QString why = {};
};

// What can be set on the memory page …
struct MemoryOptions {
  QString model = {};
  std::vector<qint64> contexts = {};  // tokens
  qint64 trained_context = 0;         // longer ones are offered where the model's positions can be stretched
  std::vector<ChoiceView> kv_types = {};
  std::vector<ChoiceView> precisions = {};
  qint64 max_bytes =
      0;  // of the device: the budget cannot be larger; 0: none can be set, and budget_why says why
  QString budget_why = {};
  // Reads a size as the command line does; nothing when it is none.
  std::function<std::optional<qint64>(const QString&)> size_of = {};
};
inline constexpr int max_prefer = 2;
// … and what is set: indices into the options.
struct MemoryChoice {
  int context = 0;
  int kv_type = 0;
  int precision = 0;
  int prefer = 0;  // 0 exact … max_prefer fast
  qint64 budget_bytes = 0;
  bool operator==(const MemoryChoice&) const = default;
};

struct BudgetPartView {
  enum class Kind { dense, tier, kv, activations, safety };
  Kind kind = Kind::dense;
  double bits_per_weight = 0;  // of Kind::tier
  QString name = {};
  qint64 bytes = 0;
  QString why = {};
};

// One bar.
struct BudgetBarView {
  QString name = {};      // of two cards; else empty
  bool planning = false;  // the numbers are of the choice before
  std::vector<BudgetPartView> parts = {};
  qint64 budget_bytes = 0;
  qint64 total_bytes = 0;
  qint64 needed_bytes = 0;  // without what is kept free of the budget, unless that lacks too
  bool over = false;        // more than the budget
};

struct BudgetView : BudgetBarView {
  std::optional<BudgetBarView> first_card = {};  // of two cards the one with the first layers
  bool fits = true;
  QString verdict = {}, verdict_details = {};
  QString why_short = {};  // whose numbers these are …
  QString why = {};        // … and how they were found
  QStringList notes = {};
  QStringList remedies = {};  // each a change that would do
  // Whether exact and fast are to be weighed with this precision, …
  bool prefers = false;
  bool can_prefer = false;  // … and can be
  QString prefer_why = {};
};

struct StartView {
  QString text = {};  // what will happen
  std::vector<FactView> facts = {};
  QString command = {};  // that does it in a terminal; empty: the window does it
  bool busy = false;
  QString progress = {};
  qint64 done = 0, total = 0;  // total 0: not known
  QString error = {}, error_details = {};
  bool can_download = false;  // the button is there
};

struct ComparisonRow {
  QString name = {};
  QString predicted = {};
  QString measured = {};
  QString why = {};
  bool operator==(const ComparisonRow&) const = default;
};

struct CalibrationView {
  QString text = {};
  bool can_measure = false;  // a model is open
  bool running = false;
  qint64 done = 0, total = 0;
  std::vector<ComparisonRow> rows = {};
  QString error = {}, error_details = {};
  QString command_line = {};
};

// Which of the buttons can be pressed, and what they say.
struct NavigationView {
  bool back = true;
  bool skip = true;
  bool next = true;
  QString next_text = {};
};

}  // namespace fovea::ui
