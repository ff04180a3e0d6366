// Synthetic models and downloads that the tests and the pictures share.
#pragma once

#include <vector>

#include "ui/models/model_rows.h"

namespace fovea::tests {

std::vector<ui::LibraryRow> sample_models();
std::vector<ui::RepositoryRow> sample_repositories();
std::vector<ui::VersionRow> sample_versions();
std::vector<ui::CatalogueRow> sample_catalogue();
std::vector<ui::DownloadRow> sample_downloads();
std::vector<ui::FolderView> sample_folders();

}  // namespace fovea::tests
