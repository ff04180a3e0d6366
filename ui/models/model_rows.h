// What the models window shows. Plain data; words and numbers are ready to be read.
#pragma once

#include <QMetaType>
#include <QString>
#include <QStringList>
#include <vector>

#include "ui/theme/fit.h"

namespace fovea::ui {

struct LibraryRow {
  QString path;  // what identifies it
  QString name;
  QString error;  // why it cannot be opened; empty: it can
  QString error_details = {};
  bool is_read = false;  // what follows is known
  bool is_open = false;  // in the chat window
  bool can_open = false;
  QString architecture;
  QString format;
  QString quantization;
  qint64 bytes = 0;
  double parameters = 0, parameters_active = 0;
  int layers = 0;
  int experts = 0, experts_used = 0;  // of each layer; 0: dense
  qint64 context = 0;                 // tokens
  FitView fit = FitView::unknown;
  QString fit_text, fit_number, fit_why;
  QStringList stores;  // a line for each
  qint64 store_bytes = 0;

  bool operator==(const LibraryRow&) const = default;
};

// A watched folder.
struct FolderView {
  QString path;
  bool is_own = false;  // Fovea's, or the hub's cache: always watched
};

// A model of the catalogue.
struct CatalogueRow {
  QString id = {};
  QString name = {};
  QString good_at = {};
  QString size = {};
  FitView fit = FitView::unknown;
  QString fit_text = {}, fit_why = {};
  QString needs = {};  // "19.9 GB of 54.1 GB"
  QString path = {};   // it is here; empty: it is not

  bool operator==(const CatalogueRow&) const = default;
};

// A repository that a search found.
struct RepositoryRow {
  QString id;
  qint64 downloads = 0;
  qint64 likes = 0;
  bool gated = false;
};

// A version of a model in a repository.
struct VersionRow {
  QString name;
  QString quantization;
  qint64 bytes = 0;
  int files = 1;
  bool is_complete = true;
  bool is_proposed = false;  // the one that is chosen at first
  FitView fit = FitView::unknown;
  QString fit_text, fit_number, fit_why;
};

enum class DownloadStateView { waiting, running, paused, failed, done };

struct DownloadRow {
  qint64 id = 0;
  QString name;
  QString repository;
  DownloadStateView state = DownloadStateView::waiting;
  QString text;  // "3.2 of 18.6 GB, 41 MB/s, 6 minutes left", or why it waits or failed
  qint64 done = 0, total = 0;
  QString path;  // when done
  bool wants_token = false;
  QString details = {};  // behind `text`
};

// A tier that prepare can make.
struct TierChoice {
  QString name;  // "q4"
  QString text;  // what it is
  bool chosen = false;
  QString instead_of = {};  // another tier of as many bits: one of both at most is chosen
};

}  // namespace fovea::ui

Q_DECLARE_METATYPE(fovea::ui::LibraryRow)
