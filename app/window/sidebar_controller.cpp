#include "app/window/sidebar_controller.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QRegularExpression>
#include <QThreadPool>
#include <algorithm>
#include <iterator>

#include "app/files/files.h"
#include "app/history/exchange.h"
#include "app/history/worker/history_thread.h"
#include "app/window/conversation_view.h"
#include "app/window/window_errors.h"
#include "app/words/qt_text.h"
#include "engine/core/atomic_file.h"
#include "engine/core/result.h"
#include "ui/chat/chat_window.h"

namespace fovea::app {
namespace {

constexpr int kHits = 50;
constexpr int kDeleted = 20;  // that a menu offers
constexpr std::int64_t kImportLimit = std::int64_t{2} << 30;

Result<history::ImportReport> import_conversations(history::History& history, const std::string& path) {
  FOVEA_TRY(const std::string text, read_file(path, kImportLimit));
  history::ImportReport total;
  FOVEA_TRY(const history::Parsed parsed,
            history::read_json(text, path, [&](std::vector<history::Archive>& archives) -> Result<void> {
              FOVEA_TRY(const history::ImportReport part, history.import(archives));
              total.imported += part.imported;
              total.already_there += part.already_there;
              return {};
            }));
  total.left_out = parsed.left_out;
  total.left_out_count = parsed.left_out_count;
  return total;
}

Result<void> write_file(const std::string& path, const std::string& text) {
  FOVEA_TRY(AtomicFile file, AtomicFile::create(path));
  FOVEA_CHECK(file.write(text));
  return file.commit();
}

}  // namespace

SidebarController::SidebarController(ui::ChatWindow& window, history::HistoryThread& history)
    : window_(window), history_(history) {
  ui::Sidebar& sidebar = window.sidebar();
  connect(&sidebar, &ui::Sidebar::conversationRequested, this, &SidebarController::openRequested);
  connect(&sidebar, &ui::Sidebar::searchRequested, this, &SidebarController::search);
  connect(&sidebar, &ui::Sidebar::moreRequested, this, &SidebarController::load_more);
  connect(&sidebar, &ui::Sidebar::renameRequested, this, &SidebarController::rename);
  connect(&sidebar, &ui::Sidebar::pinRequested, this, &SidebarController::pin);
  connect(&sidebar, &ui::Sidebar::deleteRequested, this, &SidebarController::remove);
  connect(&sidebar, &ui::Sidebar::undoDeleteRequested, this, &SidebarController::restore);
  connect(&sidebar, &ui::Sidebar::exportRequested, this, &SidebarController::export_to_file);
  connect(&window, &ui::ChatWindow::importRequested, this, &SidebarController::import_file);
  connect(&window, &ui::ChatWindow::deletedWanted, this, &SidebarController::list_deleted);
  connect(&window, &ui::ChatWindow::restoreRequested, this, &SidebarController::restore);
  connect(&history, &history::HistoryThread::recovered, this, &SidebarController::refresh);
}

Result<SidebarController::Listed> SidebarController::list(history::History& history, int count) {
  Listed listed;
  FOVEA_TRY(listed.page, history.conversations(count));
  FOVEA_TRY(listed.in_folders, history.in_folders());
  FOVEA_TRY(listed.folders, history.folders());
  return listed;
}

void SidebarController::refresh() {
  history_.ask(
      this, [count = wanted_](history::History& history) { return list(history, count); },
      [this](const Result<Listed>& listed) { show(listed); });
}

// All from the first one on: what was listed may have moved or gone meanwhile.
void SidebarController::load_more() {
  if (!more_ || wanted_ > static_cast<int>(listed_.size())) return;  // asked for already
  wanted_ += kPage;
  refresh();
}

void SidebarController::show(const Result<Listed>& listed) {
  if (!listed) {
    wanted_ = std::max(kPage, static_cast<int>(listed_.size()));
    return tell_error(window_, listed.error());
  }
  listed_ = listed->page.conversations;
  more_ = listed->page.more;
  std::vector<ui::ConversationItem> items = items_of(listed_);
  std::ranges::copy(items_of(listed->in_folders), std::back_inserter(items));
  window_.sidebar().set_conversations(items, more_, items_of(listed->folders));
  Q_EMIT shown();
}

void SidebarController::search(const QString& text) {
  history_.search(this, text, kHits, [this](const Result<history::SearchResult>& result) {
    if (!result) return tell_error(window_, result.error());
    window_.sidebar().set_results(items_of(*result));
  });
}

void SidebarController::rename(qint64 conversation, const QString& title) {
  history_.tell([conversation, name = title.toStdString()](history::History& history) {
    return history.rename(conversation, name);
  });
  if (conversation == window_.sidebar().current()) window_.set_conversation_title(title);
  refresh();
}

void SidebarController::pin(qint64 conversation, bool pinned) {
  history_.tell(
      [conversation, pinned](history::History& history) { return history.set_pinned(conversation, pinned); });
  refresh();
}

void SidebarController::remove(qint64 conversation) {
  history_.ask(
      this,
      [conversation](history::History& history) -> Result<history::Conversation> {
        FOVEA_TRY(const history::Conversation found, history.conversation(conversation));
        FOVEA_CHECK(history.remove(conversation));
        return found;
      },
      [this, conversation](const Result<history::Conversation>& found) {
        if (!found) return tell_error(window_, found.error());
        window_.sidebar().show_deleted(conversation, q(found->title));
        Q_EMIT removed(conversation);
        refresh();
      });
}

void SidebarController::list_deleted() {
  history_.ask(
      this, [](history::History& history) { return history.removed(kDeleted); },
      [this](const Result<history::ConversationPage>& page) {
        if (!page) return tell_error(window_, page.error());
        window_.set_deleted(items_of(page->conversations));
      });
}

void SidebarController::restore(qint64 conversation) {
  history_.ask(
      this, [conversation](history::History& history) { return history.restore(conversation); },
      [this, conversation](const Result<void>& restored) {
        if (!restored) return tell_error(window_, restored.error());
        refresh();
        Q_EMIT openRequested(conversation, 0, {});
      });
}

void SidebarController::export_to_file(qint64 conversation, ui::ExportFormat format) {
  const bool markdown = format == ui::ExportFormat::markdown;
  history_.ask(
      this,
      [conversation, markdown](history::History& history) -> Result<std::pair<QString, std::string>> {
        if (markdown) {
          FOVEA_TRY(const history::Branch branch, history.branch(conversation));
          return std::pair(q(branch.conversation.title), history::to_markdown(branch));
        }
        FOVEA_TRY(const history::Archive archive, history.archive(conversation));
        return std::pair(q(archive.conversation.title), history::to_json({archive}));
      },
      [this, markdown](const Result<std::pair<QString, std::string>>& text) {
        if (!text) return tell_error(window_, text.error());
        QString name = text->first;
        name.replace(QRegularExpression(QStringLiteral("[/\\\\:*?\"<>|\\x00-\\x1f]")), QStringLiteral("-"));
        const QString suffix = markdown ? QStringLiteral(".md") : QStringLiteral(".json");
        const QString path = QFileDialog::getSaveFileName(
            &window_, tr("Export the conversation"), name.left(80).trimmed() + suffix,
            markdown ? tr("Markdown (*.md)") : tr("JSON (*.json)"));
        if (path.isEmpty()) return;
        if (const auto written = write_file(path.toStdString(), text->second); !written)
          return tell_error(window_, written.error());
        window_.show_notice(tr("Exported to %1").arg(path));
      });
}

void SidebarController::import_file(const QString& path) {
  window_.show_notice(tr("Importing %1 …").arg(QFileInfo(path).fileName()));
  history_.ask(
      this,
      [name = path.toStdString()](history::History& history) { return import_conversations(history, name); },
      [this](const Result<history::ImportReport>& report) {
        if (!report) return tell_error(window_, report.error());
        QStringList parts{tr("%n conversation(s) imported", nullptr, report->imported)};
        if (report->already_there > 0) parts += tr("%n were there already", nullptr, report->already_there);
        if (report->left_out_count > 0) {
          parts += tr("%n could not be read", nullptr, report->left_out_count) + QStringLiteral(" (") +
                   sentence_words(report->left_out.front()) + QStringLiteral(")");
        }
        window_.show_notice(parts.join(QStringLiteral("; ")));
        refresh();
      });
}

}  // namespace fovea::app
