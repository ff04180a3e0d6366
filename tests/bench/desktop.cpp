// The window's times and memory, each in a fresh process with an empty data folder:
//   bench_desktop                     from starting the program to a window that takes keys, and its memory;
//                                     and the same at the very first start, which proposes a model
//   bench_desktop MODEL [STORES]      also: from a key press to its letter on the screen, while that model
//                                     answers
// On Qt's offscreen platform, or on the X server of $DISPLAY with QT_QPA_PLATFORM=xcb. As root it empties the
// system's file cache before every other start.
#include "app/window/desktop.h"

#include <QAbstractScrollArea>
#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QLabel>
#include <QPlainTextEdit>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest/QtTest>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "ui/chat/chat_window.h"
#include "ui/live/live_panel.h"

using namespace fovea;

namespace {

constexpr int kStarts = 7;
constexpr int kKeys = 300;

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Of this process alone, and with its share of the libraries.
struct Memory {
  double resident_mb = 0, own_mb = 0;
};
Memory memory() {
  Memory memory;
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string line; std::getline(file, line);) {
    const auto kilobytes = [&line] { return std::strtod(line.substr(line.find(':') + 1).c_str(), nullptr); };
    if (line.starts_with("Rss:")) memory.resident_mb = kilobytes() * 1024 / 1e6;
    if (line.starts_with("Pss:")) memory.own_mb = kilobytes() * 1024 / 1e6;
  }
  return memory;
}

// Counts the paints of one widget.
class Paints : public QObject {
 public:
  explicit Paints(QWidget* widget) { widget->installEventFilter(this); }
  bool eventFilter(QObject*, QEvent* event) override {
    if (event->type() == QEvent::Paint) ++count;
    return false;
  }
  int count = 0;
};

QPlainTextEdit* input_of(app::Desktop& desktop) {
  return desktop.window().findChild<QPlainTextEdit*>(QStringLiteral("input"));
}

// Prints what a start took and what it holds a second later, and ends.
[[noreturn]] void tell_start(double milliseconds) {
  QTest::qWait(1000);
  const Memory used = memory();
  std::printf("%.1f %.1f %.1f\n", milliseconds, used.resident_mb, used.own_mb);
  std::fflush(stdout);
  std::_Exit(0);
}

// One start: without a model the window proposes one and has nothing to type into. The page is painted, and
// Tab has reached something that shows it.
int start_once(double began_ms) {
  app::Desktop desktop({});
  desktop.start();
  const Paints page(desktop.window().findChild<QWidget*>(QStringLiteral("welcome")));
  while (page.count == 0) QCoreApplication::processEvents();
  QTest::keyClick(&desktop.window(), Qt::Key_Tab);
  const Paints reached(QApplication::focusWidget());
  while (reached.count == 0) QCoreApplication::processEvents();
  tell_start(now_ms() - began_ms);
}

// Keys while a model answers: each is timed to the end of the paint that shows it.
int type_while_answering(const char* model, const char* stores) {
  app::WindowRequest request;
  request.load.emplace();
  request.load->model = model;
  request.load->context = 2048;
  if (*stores != '\0') {
    request.load->precision.policy = PolicyKind::dynaexq;
    request.load->precision.budget_bytes = 188'000'000;
    request.load->precision.stores_folder = stores;
  }
  app::Desktop desktop(request);
  desktop.start();
  ui::ChatWindow& window = desktop.window();
  window.resize(1360, 840);
  using State = ui::ChatWindow::State;
  if (!QTest::qWaitFor([&] { return window.state() == State::ready; }, 300'000)) return 1;
  QPlainTextEdit* input = input_of(desktop);
  const Paints paints(input->viewport());
  std::vector<double> times;
  while (static_cast<int>(times.size()) < kKeys) {
    if (window.state() != State::generating) {
      input->clear();
      Q_EMIT window.sendRequested(QStringLiteral("Write a long story about the sea"));
      if (!QTest::qWaitFor([&] { return window.state() == State::generating; }, 60'000)) return 1;
    }
    QTest::qWait(13);
    const int before = paints.count;
    const double pressed = now_ms();
    QTest::keyClick(input, Qt::Key_A);
    while (paints.count == before) QCoreApplication::processEvents();
    if (window.state() == State::generating) times.push_back(now_ms() - pressed);
  }
  std::ranges::sort(times);
  std::printf(
      "key press to paint while %s answers%s: median %.2f ms, 99 %% %.2f ms, worst %.2f ms (%d keys)\n",
      QFileInfo(QString::fromLocal8Bit(model)).fileName().toUtf8().constData(),
      desktop.live_panel().isVisible() ? ", panel open" : "", times[times.size() / 2],
      times[times.size() * 99 / 100], times.back(), kKeys);
  std::fflush(stdout);
  std::_Exit(0);
}

bool forget_files() {
  ::sync();
  std::ofstream file("/proc/sys/vm/drop_caches");
  file << "3\n";
  file.flush();
  return file.good();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

bool measure_starts(const QString& program, bool cold, bool first) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  std::vector<double> times, resident, own;
  for (int i = 0; i < kStarts; ++i) {
    const QTemporaryDir data;
    qputenv("FOVEA_DATA", data.path().toUtf8());
    qputenv("HF_HUB_CACHE", data.path().toUtf8() + "/hub");  // what lies in the user's own is not looked at
    if (!first &&
        !app::SettingsFile(app::settings_path()).update([](app::Settings& s) { s.text_percent = 110; }))
      return false;
    if (cold && !forget_files()) return false;
    QProcess child;
    child.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    child.start(program, {QStringLiteral("--start"), QString::number(now_ms(), 'f', 3)});
    if (!child.waitForFinished(120'000) || child.exitCode() != 0) return false;
    const QList<QByteArray> fields = child.readAllStandardOutput().trimmed().split(' ');
    if (fields.size() != 3) return false;
    if (i == 0 && !cold) continue;  // brings the files into memory
    times.push_back(fields[0].toDouble());
    resident.push_back(fields[1].toDouble());
    own.push_back(fields[2].toDouble());
  }
  std::printf("%s, %s: median %.0f ms, worst %.0f ms; memory %.0f MB resident, %.0f MB its own\n",
              first ? "first start to a usable window" : "start to a usable window",
              cold ? "files not in memory" : "files in memory", median(times),
              *std::ranges::max_element(times), median(resident), median(own));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  if (argc == 3 && QByteArray(argv[1]) == "--start") return start_once(QByteArray(argv[2]).toDouble());
  if (argc == 4 && QByteArray(argv[1]) == "--type") return type_while_answering(argv[2], argv[3]);
  const QString program = QCoreApplication::applicationFilePath();
  for (const bool first : {false, true}) {
    if (!measure_starts(program, false, first)) return 1;
    if (::geteuid() == 0) measure_starts(program, true, first);
  }
  if (argc < 2) return 0;
  for (const char* stores : {"", argc > 2 ? argv[2] : ""}) {
    const QTemporaryDir data;
    qputenv("FOVEA_DATA", data.path().toUtf8());
    QProcess child;
    child.setProcessChannelMode(QProcess::ForwardedChannels);
    child.start(program,
                {QStringLiteral("--type"), QString::fromLocal8Bit(argv[1]), QString::fromLocal8Bit(stores)});
    if (!child.waitForFinished(600'000) || child.exitCode() != 0) return 1;
    if (argc == 2) break;
  }
  return 0;
}
