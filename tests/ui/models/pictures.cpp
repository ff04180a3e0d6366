// Takes pictures of the models window with synthetic models.
#include "tests/ui/pictures/pictures.h"

#include <QApplication>
#include <QPushButton>

#include "tests/ui/models/samples.h"
#include "ui/models/compare_dialog.h"
#include "ui/models/download_list.h"
#include "ui/models/download_page.h"
#include "ui/models/library_page.h"
#include "ui/models/model_rows.h"
#include "ui/models/models_view.h"
#include "ui/models/prepare_dialog.h"

namespace {

using namespace fovea::ui;
using namespace fovea::tests;

Pictures pictures;

void take(QWidget& widget, const QString& name) {
  widget.show();
  for (int i = 0; i < 3; ++i) QApplication::processEvents();
  pictures.save(widget, name);
}

// As on a screen that is large enough; the offscreen platform's is not.
QSize usual_size(const QWidget& widget) {
  return {widget.fontMetrics().averageCharWidth() * 165, widget.fontMetrics().height() * 42};
}

void library() {
  ModelsView dialog;
  dialog.resize(usual_size(dialog));
  LibraryPage& page = dialog.library();
  take(dialog, QStringLiteral("library-empty"));
  page.set_folders(sample_folders());
  const auto models = sample_models();
  page.set_models(models);
  const char* const names[] = {"fits", "lower", "disk", "not", "broken", "unread"};
  for (std::size_t i = 0; i < models.size(); ++i) {
    page.select(models[i].path);
    if (i == 1) page.show_work(QStringLiteral("gpt-oss-120b-mxfp4: 12.1 GB of 63.4 GB"), 12, 63);
    if (i == 2) page.show_work({}, 0, 0);
    if (i == 2)
      page.show_notice(QStringLiteral("gpt-oss-120b-mxfp4 is intact: 63.4 GB was read without an error."));
    if (i == 4) page.show_error(models[i].error);
    take(dialog, QStringLiteral("library-") + QLatin1String(names[i]));
  }
  page.select(models[0].path);
  page.show_notice({});
  dialog.resize(dialog.minimumSize());
  take(dialog, QStringLiteral("library-small"));
}

void download() {
  ModelsView dialog;
  dialog.resize(usual_size(dialog));
  dialog.show_download();
  DownloadPage& page = dialog.download();
  take(dialog, QStringLiteral("download-empty"));
  page.set_catalogue(sample_catalogue());
  take(dialog, QStringLiteral("download-catalogue"));
  page.search(QStringLiteral("qwen3 30b a3b"));
  take(dialog, QStringLiteral("download-searching"));
  page.show_found(QStringLiteral("qwen3 30b a3b"), sample_repositories());
  page.show_versions(page.repository(), sample_versions());
  for (const DownloadRow& row : sample_downloads()) page.downloads().set_download(row);
  take(dialog, QStringLiteral("download-versions"));
  page.ask_token();
  page.show_error(
      QStringLiteral("https://huggingface.co/api/models/org/gated: the hub wants a token (status 401). "
                     "Check the name; a private or gated repository needs a token"));
  take(dialog, QStringLiteral("download-token"));
  page.token_saved();
  page.show_notice(QStringLiteral("The token is in the keyring."));
  page.search(QStringLiteral("no such thing"));
  page.show_found(QStringLiteral("no such thing"), {});
  page.set_offline(true);
  take(dialog, QStringLiteral("download-offline"));
  dialog.resize(dialog.minimumSize());
  take(dialog, QStringLiteral("download-small"));
}

void prepare() {
  PrepareDialog dialog(
      QStringLiteral("Qwen3-30B-A3B-Instruct-2507-Q4_K_M"),
      {{QStringLiteral("file"), QStringLiteral("As the model has it, nothing is lost"), true},
       {QStringLiteral("q3"), QStringLiteral("3 bits per weight: a noticeable difference"), true},
       {QStringLiteral("q2"), QStringLiteral("2 bits per weight: for what is seldom used"), false}},
      true);
  dialog.show_ready(QStringLiteral("It takes 27.3 GB on the disk; 210 GB is free there."));
  take(dialog, QStringLiteral("prepare"));
}

}  // namespace

void compare() {
  CompareDialog dialog(
      QStringLiteral("Qwen3-30B-A3B-Instruct-2507-Q4_K_M"),
      QStringLiteral("hot experts at 4 bits, the others at 2 bits"),
      {{QStringLiteral("Every weight as in the model's file"),
        QStringLiteral("It takes 18.9 GB, which does not fit: 9.3 GB is free beside the open model."), false},
       {QStringLiteral("Everything at the lowest precision, 2 bits"),
        QStringLiteral(
            "This takes 13.1 GB and then 10.2 GB, one after the other. There is no room for that while the "
            "model is open, so it is closed and reopened afterwards. The conversation is kept."),
        true, true},
       {QStringLiteral("A fixed mix of the same size: as many bytes, and nothing changes"), {}}});
  take(dialog, QStringLiteral("compare"));
  dialog.findChild<QPushButton*>(QStringLiteral("startCompare"))->click();
  dialog.show_progress(
      QStringLiteral("Reading (everything at 2 bits): 640 of 1,792 tokens. About 1:20 left."), 640, 1792);
  take(dialog, QStringLiteral("compare-running"));
  dialog.show_result(
      {.sentence = QStringLiteral(
           "As it is now, the model reaches 108.3 % of the quality of “everything at 2 bits”, takes 13.1 GB "
           "instead of 10.2 GB, and writes just as fast, as far as can be told."),
       .now = QStringLiteral("as it is now"),
       .other = QStringLiteral("everything at 2 bits"),
       .rows = {{QStringLiteral("Perplexity of the text"), QStringLiteral("9.07"), QStringLiteral("8.38")},
                {QStringLiteral("Memory"), QStringLiteral("10.2 GB"), QStringLiteral("13.1 GB")},
                {QStringLiteral("Writing speed"), QStringLiteral("14.2 tokens a second (13.9 to 14.6)"),
                 QStringLiteral("13.8 tokens a second (13.1 to 14.4)")},
                {QStringLiteral("First word after a long question"), QStringLiteral("2.9 s"),
                 QStringLiteral("3.0 s")}},
       .note = QStringLiteral("Quality is the probability that the model gives to the text's next token, "
                              "averaged over 896 tokens. The difference is 0.0797 ± 0.0121 nats per token; "
                              "up to twice its margin of error, it may be chance. Speeds count as different "
                              "only if every round of one is faster than every round of the other.")});
  take(dialog, QStringLiteral("compare-result"));
}

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  if (!pictures.begin(application, argc, argv)) return 2;
  library();
  download();
  prepare();
  compare();
  return 0;
}
