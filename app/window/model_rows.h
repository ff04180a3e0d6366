// What the library and the downloads tell, in the models window's words.
#pragma once

#include <QString>
#include <vector>

#include "app/advisor/candidates.h"
#include "app/download/download_types.h"
#include "app/download/hub_types.h"
#include "app/library/library_types.h"
#include "app/words/error_words.h"
#include "engine/api/prepare.h"
#include "ui/models/model_rows.h"

namespace fovea::app {

// `open_model`: the one in the chat window, with its links followed.
ui::LibraryRow row_of(const LibraryModel& model, const std::filesystem::path& open_model);
ui::RepositoryRow row_of(const HubModel& model);
// `repository`: its name tells the model where the file's name does not. Of versions by their size the
// largest that fits is proposed: as exact as there is room for.
std::vector<ui::VersionRow> rows_of(const std::vector<ModelChoice>& choices, const std::string& repository,
                                    const ModelRoom& machine);
// `path`: where it is already; empty: nowhere.
ui::CatalogueRow row_of(const Candidate& candidate, const std::filesystem::path& path);
ui::DownloadRow row_of(const DownloadStatus& status);
// Why it waits or failed, in the window's language; empty: for no reason.
ErrorText why_words(const DownloadStatus& status);

ui::TierChoice tier_choice(const std::string& tier);   // not chosen
ui::TierChoice tier_choice(const CloserTier& better);  // instead of the other one; not chosen

QString time_words(std::int64_t seconds);  // "6 minutes"

}  // namespace fovea::app
