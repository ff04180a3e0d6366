// The window with a real engine, the demo model and a real history.
#pragma once

#include <QPlainTextEdit>

#include "app/history/worker/history_thread.h"
#include "app/window/chat_controller.h"
#include "tests/support/test.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/transcript_view.h"

namespace fovea::tests {

inline GenerateRequest short_answers(const ModelInfo&) {
  GenerateRequest request;
  request.sampling.seed = 7;
  request.max_tokens = 12;
  return request;
}

inline GenerateRequest endless_answers(const ModelInfo&) {
  GenerateRequest request;
  request.sampling.seed = 7;
  request.sampling.temperature = 1.5F;
  return request;
}

// A window with its controller and a history in a folder of its own, or in `folder`.
struct Desk {
  explicit Desk(app::RequestDefaults defaults = short_answers, std::int64_t context = 1024,
                const std::filesystem::path& folder = {}) {
    LoadOptions load;
    load.context = context;
    load.threads = 2;
    history =
        std::make_unique<app::history::HistoryThread>((folder.empty() ? own.path() : folder) / "history.db");
    controller = std::make_unique<app::ChatController>(window, *history, load, std::move(defaults));
    window.show();
  }

  app::ConversationController& conversation() { return controller->conversation(); }
  std::string stored(std::size_t message) { return conversation().messages().at(message).text; }

  bool open(const QString& path) {
    controller->open_model(path);
    return QTest::qWaitFor([this] { return window.state() != ui::ChatWindow::State::loading; }, kLong);
  }
  bool open_demo() {
    return open(QString::fromStdString(demo_model().string())) &&
           window.state() == ui::ChatWindow::State::ready;
  }

  void type(const QString& text) {
    auto* input = window.findChild<QPlainTextEdit*>(QStringLiteral("input"));
    QTest::keyClicks(input, text);
    QTest::keyClick(input, Qt::Key_Return);
  }
  bool answered() {
    return QTest::qWaitFor([this] { return window.state() == ui::ChatWindow::State::ready; }, kLong);
  }
  // The new answer, and not the one that stood there before; it may have ended already.
  bool streaming() {
    return QTest::qWaitFor(
        [&] {
          const int last = window.transcript().message_count() - 1;
          return last >= 0 && !window.transcript().message_text(last).isEmpty() &&
                 (window.state() == ui::ChatWindow::State::ready ||
                  window.transcript().conversation().at(last).view().streaming);
        },
        kLong);
  }

  TemporaryFolder own;
  ui::ChatWindow window;
  std::unique_ptr<app::history::HistoryThread> history;
  std::unique_ptr<app::ChatController> controller;
};

}  // namespace fovea::tests
