// Takes the pictures of README and docs, and those that the window is judged by: the program's own window
// with its real engine and the demo model, on Qt's offscreen platform, at one size and in one theme. The long
// answer is a stored one, since the demo model would not write it.
//   fovea_screenshot MODEL FOLDER light|dark WIDTHxHEIGHT [--moving]       scripts/screenshot calls it.
// FOVEA_SCREENSHOT_STORES=FOLDER keeps what is prepared there, so that it is prepared once.
#include <QAbstractButton>
#include <QAction>
#include <QApplication>
#include <QDir>
#include <QFont>
#include <QFile>
#include <QScrollBar>
#include <QTemporaryDir>
#include <QtTest/QtTest>
#include <cstdio>
#include <filesystem>
#include <functional>

#include "app/library/data_folder.h"
#include "app/window/desktop.h"
#include "engine/core/result.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/error_bar.h"
#include "ui/chat/sidebar.h"
#include "ui/chat/starter_view.h"
#include "ui/chat/transcript_view.h"
#include "ui/chat/welcome_view.h"
#include "ui/live/live_panel.h"
#include "ui/live/story_view.h"
#include "ui/live/tour_view.h"
#include "ui/theme/motion.h"
#include "ui/wizard/wizard_dialog.h"

using namespace fovea;

namespace {

using State = ui::ChatWindow::State;
constexpr int kLong = 900'000;
constexpr int kFrameMilliseconds = 200;
constexpr int kFrames = 200;

constexpr auto kQuestion =
    "How does a router choose experts, and what does it cost to keep one in fewer bits? With the formula, "
    "please, and in "
    "Python.";
constexpr auto kAnswer =
    R"(A router scores all $n$ experts of a layer for each token and keeps the best $k$. From the token's state $x$ it computes

$$g_i(x) = \frac{e^{w_i \cdot x}}{\sum_{j=1}^{n} e^{w_j \cdot x}}, \qquad y = \sum_{i \in \operatorname{top}_k} g_i(x)\, E_i(x).$$

In code:

```python
import numpy as np

def route(x, weights, k=8):
    """The k experts for the state x, and how much each counts."""
    scores = weights @ x
    gates = np.exp(scores - scores.max())
    gates /= gates.sum()
    chosen = np.argsort(gates)[-k:][::-1]
    return chosen, gates[chosen]
```

Keeping expert $i$ in $b$ bits costs what it gets wrong, times how often it is asked:

$$L_i(b) = \sqrt{\frac{1}{T} \sum_{t=1}^{T} g_i(x_t)^2 \left\lVert E_i(x_t) - E_i^{(b)}(x_t) \right\rVert^2}$$

| Expert | Used by | Kept in |
|:--|--:|--:|
| 17 | 31 % of the tokens | 8 bits |
| 4 | 12 % | 4 bits |
| 42 | 0.3 % | 2 bits |

So a **hot** expert earns its bits, and a **cold** one gives them away:

1. count who is asked,
2. give the next bit to the expert whose $\Delta L_i$ for each byte is largest,
3. stop where the budget ends.
)";

class Camera {
 public:
  Camera(app::Desktop& desktop, QString demo, QString folder, const QString& theme, QSize size)
      : desktop_(desktop),
        window_(desktop.window()),
        demo_(std::move(demo)),
        folder_(std::move(folder)),
        suffix_(QStringLiteral("_%1_%2x%3.png").arg(theme).arg(size.width()).arg(size.height())),
        size_(size) {}

  bool take_all();
  bool film();

 private:
  // Where words have just changed they are laid out first, as before each frame.
  bool grab(QWidget& widget, const QString& name) {
    QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
    return widget.grab().save(QDir(folder_).filePath(name + suffix_));
  }
  bool save(QWidget& widget, const char* name) {
    QTest::qWait(600);
    return grab(widget, QLatin1String(name));
  }
  bool ready() {
    return QTest::qWaitFor([&] { return window_.state() == State::ready; }, kLong);
  }
  bool take_first_start();
  bool take_page(const char* action, const char* name);
  bool open_demo();
  void ask(const char* title, std::uint64_t seed);
  bool take_chat();
  bool take_answer();
  bool take_panel();
  bool take_wizard();

  app::Desktop& desktop_;
  ui::ChatWindow& window_;
  QString demo_, folder_, suffix_;
  QSize size_;
};

bool Camera::take_first_start() {
  const auto* main = window_.welcome().findChild<QAbstractButton*>(QStringLiteral("welcomeMain"));
  const auto* find = window_.welcome().findChild<QAbstractButton*>(QStringLiteral("welcomeFind"));
  if (!QTest::qWaitFor([&] { return main->isVisible() || find->isVisible(); }, kLong)) return false;
  QTest::qWait(5000);                // the speed is measured
  window_.welcome().set_demo(true);  // as where it was built
  return save(window_, "first_start");
}

bool Camera::take_page(const char* action, const char* name) {
  window_.findChild<QAction*>(QLatin1String(action))->trigger();
  const bool saved = save(window_, name);
  window_.leave_page();
  return saved;
}

// As if it had just been built: before, there is no model. Until its store is made, and its experts move.
bool Camera::open_demo() {
  const std::filesystem::path place = app::models_folder() / "demo.gguf";
  std::filesystem::create_directories(place.parent_path());
  std::filesystem::create_symlink(std::filesystem::absolute(demo_.toStdString()), place);
  desktop_.chat().open_model(QString::fromStdString(place.string()));
  return QTest::qWaitFor(
      [&] {
        return desktop_.chat().model_loaded() && window_.state() == State::ready &&
               desktop_.chat().model().settings.precision.policy == PolicyKind::fovea;
      },
      kLong);
}

// What the card of this title asks, in a new chat.
void Camera::ask(const char* title, std::uint64_t seed) {
  Q_EMIT window_.newChatRequested();
  ui::ChatSettingsView settings;
  settings.seed = seed;
  desktop_.chat().conversation().set_chat_settings(settings);
  for (auto* card : window_.findChildren<ui::StarterCard*>())
    if (card->accessibleName() == QLatin1String(title)) card->click();
}

// While an answer is written. Some end before the picture is taken; another seed writes another one.
bool Camera::take_chat() {
  for (const char* first : {"Python", "Health"}) {
    ask(first, 1);
    if (!ready()) return false;
  }
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    ask("A poem", seed);
    const ui::TranscriptView& transcript = window_.transcript();
    const auto has_moved = [&] {  // some experts, as the panel says
      return desktop_.live_panel().findChild<ui::StoryView*>()->text().contains(QStringLiteral("more bits"));
    };
    const auto is_long = [&] {
      return window_.state() == State::ready ||
             (transcript.message_count() == 2 && transcript.message_text(1).size() > 220 && has_moved());
    };
    if (!QTest::qWaitFor(is_long, kLong)) return false;
    const bool taken = window_.state() == State::generating && grab(window_, QStringLiteral("chat"));
    if (!ready()) return false;
    if (taken) return true;
  }
  return false;
}

bool Camera::take_answer() {
  app::history::Id stored = 0;
  desktop_.history().ask(
      &window_,
      [](app::history::History& history) -> Result<app::history::Id> {
        app::history::NewTurn asked;
        asked.created.title = "Routers and bits";
        asked.text = kQuestion;
        FOVEA_TRY(const auto turn, history.add_turn(asked));
        FOVEA_CHECK(history.append_answer(turn.answer.id, kAnswer));
        FOVEA_CHECK(history.finish_answer(turn.answer.id, {}));
        return turn.conversation.id;
      },
      [&](const Result<app::history::Id>& id) { stored = id.value_or(-1); });
  if (!QTest::qWaitFor([&] { return stored != 0; }, kLong) || stored < 0) return false;
  desktop_.chat().conversation().open(stored);
  if (!QTest::qWaitFor([&] { return window_.transcript().message_count() == 2; }, kLong)) return false;
  Q_EMIT window_.sidebar().renameRequested(stored, QStringLiteral("Routers and bits"));  // and lists it
  QTest::qWait(600);
  window_.transcript().verticalScrollBar()->setValue(0);
  return save(window_, "answer");
}

bool Camera::take_panel() {
  auto* detach = window_.findChild<QAction*>(QStringLiteral("detachLiveAction"));
  detach->trigger();
  desktop_.live_panel().window()->resize(size_);
  const bool saved = save(*desktop_.live_panel().window(), "panel");
  detach->trigger();
  return saved;
}

bool Camera::take_wizard() {
  Q_EMIT desktop_.live_panel().choosePrecisionRequested();
  for (QWidget* top : QApplication::topLevelWidgets()) {
    auto* wizard = qobject_cast<ui::WizardDialog*>(top);
    if (!wizard || !wizard->isVisible()) continue;
    const auto* next = wizard->findChild<QAbstractButton*>(QStringLiteral("wizardNext"));
    const bool planned = QTest::qWaitFor([&] { return next->isEnabled(); }, kLong);
    const bool saved = planned && save(*wizard, "wizard");
    wizard->close();
    return saved;
  }
  return false;
}

bool Camera::take_all() {
  ui::motion::set_less(true);  // nothing on its way
  if (!take_first_start() || !take_page("settingsAction", "settings") || !open_demo()) return false;
  Q_EMIT window_.newChatRequested();
  window_.clear_error();
  return save(window_, "empty_chat") && take_chat() && take_panel() && take_answer() && take_wizard() &&
         take_page("modelsAction", "models");
}

// The tour, from its first question on.
bool Camera::film() {
  if (!open_demo()) return false;
  window_.clear_error();
  window_.findChild<QAction*>(QStringLiteral("tourAction"))->trigger();
  if (!QTest::qWaitFor([&] { return window_.state() == State::generating; }, kLong)) return false;
  for (int frame = 0; frame < kFrames; ++frame) {
    QElapsedTimer taken;
    taken.start();
    if (!window_.grab().save(
            QDir(folder_).filePath(QStringLiteral("%1.png").arg(frame, 4, 10, QLatin1Char('0')))))
      return false;
    QTest::qWait(std::max(0, kFrameMilliseconds - static_cast<int>(taken.elapsed())));
  }
  desktop_.live_panel().tour().findChild<QAbstractButton*>(QStringLiteral("tourEnd"))->click();
  return ready();
}

bool write_settings(const std::filesystem::path& data, const char* theme) {
  std::filesystem::create_directories(data / "config");
  QFile file(data / "config/settings.json");
  return file.open(QFile::WriteOnly) &&
         file.write(
             QStringLiteral(
                 R"({"appearance": {"theme": "%1", "language": "en"}, "generation": {"max_tokens": 240}})")
                 .arg(QLatin1String(theme))
                 .toUtf8()) > 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool moving = argc == 6 && QLatin1String(argv[5]) == QLatin1String("--moving");
  const QStringList sides = argc > 4 ? QString::fromLatin1(argv[4]).split(QLatin1Char('x')) : QStringList();
  if ((argc != 5 && !moving) || sides.size() != 2) {
    std::fputs("usage: fovea_screenshot MODEL FOLDER light|dark WIDTHxHEIGHT [--moving]\n", stderr);
    return 2;
  }
  const QSize size(sides[0].toInt(), sides[1].toInt());
  const QTemporaryDir folder;
  const std::filesystem::path data = folder.path().toStdString();
  qputenv("FOVEA_DATA", folder.path().toUtf8());
  qputenv("HF_HUB_CACHE", folder.path().toUtf8() + "/hub");
  if (qEnvironmentVariableIsSet("FOVEA_SCREENSHOT_STORES"))
    std::filesystem::create_directory_symlink(qgetenv("FOVEA_SCREENSHOT_STORES").toStdString(),
                                              data / "stores");
  if (!write_settings(data, argv[3])) return 1;

  QApplication application(argc, argv);
  QFont font = QApplication::font();
  font.setPointSizeF(9.75);  // 13 pixels, as a desktop has it
  QApplication::setFont(font);
  app::Desktop desktop({});
  desktop.start();
  desktop.window().resize(size);
  Camera camera(desktop, QString::fromLocal8Bit(argv[1]), QString::fromLocal8Bit(argv[2]),
                QLatin1String(argv[3]), size);
  const bool good = moving ? camera.film() : camera.take_all();
  if (!good) {
    std::fprintf(stderr, "fovea_screenshot: not every picture could be taken. %s\n",
                 desktop.window().error_bar().message().toUtf8().constData());
  }
  QSignalSpy closed(&desktop, &app::Desktop::closed);
  desktop.window().close();
  if (closed.isEmpty()) closed.wait(kLong);
  return good ? 0 : 1;
}
