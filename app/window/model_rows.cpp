#include "app/window/model_rows.h"

#include <QCoreApplication>
#include <QLocale>

#include "app/demo/demo_model.h"
#include "app/library/fit_words.h"
#include "app/window/model_words.h"
#include "app/wizard/wizard_words.h"
#include "app/words/qt_text.h"
#include "app/words/tier_words.h"
#include "ui/language/number_text.h"

namespace fovea::app {
namespace {

// Unqualified at the beginning of a function, where lupdate would lose the namespace.
using ui::CatalogueRow;

struct RowWords {
  Q_DECLARE_TR_FUNCTIONS(fovea::app::ModelRows)
};

template <class Row>
void set_fit(Row& row, const ModelFit& fit) {
  row.fit = fit_view(fit.kind);
  row.fit_text = fit_words(fit);
  row.fit_number = fit_number(fit);
  row.fit_why = fit_reason(fit);
}

QString store_words(const StoreFile& store) {
  return RowWords::tr("%1: %2").arg(tier_words(store.tiers), ui::bytes_text(store.bytes));
}

QString tier_text(const std::string& tier) {
  if (tier == "file") return RowWords::tr("As in the model's file; nothing is lost");
  if (tier == "bf16") return RowWords::tr("16 bits per weight");
  if (tier == "q8") return RowWords::tr("8 bits per weight: hardly any difference");
  if (tier == "q4") return RowWords::tr("4 bits per weight: good for nearly everything");
  if (tier == "q3") return RowWords::tr("3 bits per weight: a noticeable difference");
  if (tier == "q2") return RowWords::tr("2 bits per weight: for what is seldom used");
  return tier_words(tier);
}

QString closer_words(const CloserTier& better) {
  const auto percent = [](double share) { return QLocale().toString(100 * share, 'f', 1); };
  return RowWords::tr("%1: suits this model better than %2: error %3 instead of %4 %")
      .arg(tier_words(better.closer), tier_words(better.tier), percent(better.closer_weight_error),
           percent(better.weight_error));
}

QString running_words(const DownloadStatus& status) {
  const QString done =
      RowWords::tr("%1 of %2").arg(ui::bytes_text(status.bytes_done), ui::bytes_text(status.bytes_total));
  if (status.bytes_per_s <= 0) return done;
  const QString speed = ui::bytes_text(status.bytes_per_s);
  if (status.seconds_left < 0) return RowWords::tr("%1, %2 per second").arg(done, speed);
  return RowWords::tr("%1, %2 per second, %3 left").arg(done, speed, time_words(status.seconds_left));
}

QString words_of(const DownloadStatus& status) {
  const QString why = why_words(status).text;
  switch (status.state) {
    case DownloadState::queued:
      return RowWords::tr("Waiting for the previous download");
    case DownloadState::starting:
      return RowWords::tr("Asking the hub where the files are");
    case DownloadState::running:
      return running_words(status);
    case DownloadState::waiting:
      return status.wait_s > 0
                 ? RowWords::tr("Trying again in %n second(s). %1", nullptr, status.wait_s).arg(why)
                 : why;
    case DownloadState::verifying:
      return RowWords::tr("Downloaded; verifying the checksum");
    case DownloadState::paused:
      return status.bytes_done > 0
                 ? RowWords::tr("Paused at %1 of %2")
                       .arg(ui::bytes_text(status.bytes_done), ui::bytes_text(status.bytes_total))
                 : RowWords::tr("Paused");
    case DownloadState::disk_full:
      return RowWords::tr("Continues when there is room on the disk. %1").arg(why);
    case DownloadState::failed:
      return RowWords::tr("Failed. %1").arg(why);
    case DownloadState::done:
      return RowWords::tr("%1, complete and verified").arg(ui::bytes_text(status.bytes_total));
  }
  return {};
}

ui::DownloadStateView view_of(DownloadState state) {
  switch (state) {
    case DownloadState::queued:
    case DownloadState::waiting:
    case DownloadState::disk_full:
      return ui::DownloadStateView::waiting;
    case DownloadState::starting:
    case DownloadState::running:
    case DownloadState::verifying:
      return ui::DownloadStateView::running;
    case DownloadState::paused:
      return ui::DownloadStateView::paused;
    case DownloadState::done:
      return ui::DownloadStateView::done;
    case DownloadState::failed:
      break;
  }
  return ui::DownloadStateView::failed;
}

ui::VersionRow row_of(const ModelChoice& choice, const std::string& repository, const ModelRoom& machine) {
  ui::VersionRow row;
  row.name = q(choice.name);
  row.quantization = q(choice.quantization);
  row.bytes = choice.bytes;
  row.files = static_cast<int>(choice.files.size());
  row.is_complete = choice.is_complete;
  set_fit(row, estimate_fit(repository + " " + choice.name, choice.bytes, machine.options, machine.facts));
  return row;
}

}  // namespace

QString time_words(std::int64_t seconds) {
  if (seconds < 60) return RowWords::tr("%n second(s)", nullptr, static_cast<int>(seconds));
  if (seconds < 60 * 90) return RowWords::tr("%n minute(s)", nullptr, static_cast<int>((seconds + 30) / 60));
  return RowWords::tr("%n hour(s)", nullptr, static_cast<int>((seconds + 1800) / 3600));
}

ui::LibraryRow row_of(const LibraryModel& model, const std::filesystem::path& open_model) {
  ui::LibraryRow row;
  row.path = q(model.path.string());
  row.name = q(model.name);
  if (model.error) {
    const auto [text, details] = error_text(*model.error);
    row.error = text;
    row.error_details = details;
  }
  row.is_read = model.is_read;
  row.is_open = !open_model.empty() && (model.real == open_model || model.path == open_model);
  row.bytes = model.file_bytes;
  if (!model.is_read || model.error) return row;
  row.can_open = !row.is_open && !(model.fit && model.fit->kind == FitKind::does_not_fit);
  const ModelInfo& info = model.info;
  // Files differ by their names, which say the format too.
  if (info.name == demo_model_name) row.name = shown_name(info);
  row.architecture = q(info.architecture);
  row.format = q(info.format);
  row.quantization = q(quantization_of(info));
  row.parameters = static_cast<double>(info.parameters);
  row.parameters_active = static_cast<double>(info.parameters_active);
  row.layers = static_cast<int>(info.layers);
  row.experts = static_cast<int>(info.experts);
  row.experts_used = static_cast<int>(info.experts_used);
  row.context = info.context;
  if (model.fit) set_fit(row, *model.fit);
  for (const StoreFile& store : model.stores) {
    row.stores += store_words(store);
    row.store_bytes += store.bytes;
  }
  return row;
}

ui::RepositoryRow row_of(const HubModel& model) {
  return {q(model.id), model.downloads, model.likes, model.gated};
}

std::vector<ui::VersionRow> rows_of(const std::vector<ModelChoice>& choices, const std::string& repository,
                                    const ModelRoom& machine) {
  std::vector<ui::VersionRow> rows;
  std::size_t proposed = 0;
  for (const ModelChoice& choice : choices) {
    rows.push_back(row_of(choice, repository, machine));
    if (rows.back().is_complete && rows.back().fit == ui::FitView::fits) proposed = rows.size() - 1;
  }
  if (!rows.empty()) rows[proposed].is_proposed = true;
  return rows;
}

CatalogueRow row_of(const Candidate& candidate, const std::filesystem::path& path) {
  const CatalogueEntry& entry = *candidate.entry;
  const QString size = ui::bytes_text(candidate.file_bytes);
  CatalogueRow row{
      .id = q(entry.id),
      .name = published_name(candidate.name),
      .good_at = q(good_at(entry, QLocale().name().section(QLatin1Char('_'), 0, 0).toStdString())),
      .size = entry.bytes_from_shape ? RowWords::tr("about %1").arg(size) : size,
      .path = q(path.string())};
  if (!candidate.trouble.empty()) return row;
  row.fit = fit_view(candidate.fit.kind);
  row.fit_text = fit_words(candidate.fit);
  row.fit_why = fit_reason(candidate.fit);
  row.needs = fit_number(candidate.fit);
  return row;
}

ErrorText why_words(const DownloadStatus& status) {
  if (status.error) return error_text(*status.error);
  if (status.state != DownloadState::waiting) return {};
  return {RowWords::tr("Another program is downloading this file"), {}};
}

ui::DownloadRow row_of(const DownloadStatus& status) {
  ui::DownloadRow row;
  row.id = status.id;
  row.name = q(status.name);
  row.repository = q(status.repository);
  row.state = view_of(status.state);
  row.text = words_of(status);
  row.details = why_words(status).details;
  row.done = status.bytes_done;
  row.total = status.bytes_total;
  row.path = q(status.path.string());
  row.wants_token = status.wants_token;
  return row;
}

ui::TierChoice tier_choice(const std::string& tier) {
  return {q(tier), tier_text(tier)};
}

ui::TierChoice tier_choice(const CloserTier& better) {
  return {.name = q(better.closer), .text = closer_words(better), .instead_of = q(better.tier)};
}

}  // namespace fovea::app
