// Takes a picture of a real conversation: the program's own window, engine and model, on Qt's offscreen
// platform.
//   screenshot MODEL OUT.png [QUESTION …]       scripts/screenshot calls it.
#include <QApplication>
#include <QEventLoop>
#include <QTimer>
#include <cstdio>

#include "app/window/chat_controller.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/composer.h"
#include "ui/chat/error_bar.h"
#include "ui/theme/theme.h"

namespace {

using State = fovea::ui::ChatWindow::State;

bool wait_for_ready(const fovea::ui::ChatWindow& window) {
  QEventLoop loop;
  QTimer timer;
  QObject::connect(&timer, &QTimer::timeout, &loop, [&] {
    if (window.state() == State::ready || window.state() == State::no_model) loop.quit();
  });
  timer.start(50);
  loop.exec();
  return window.state() == State::ready && window.error_bar().message().isEmpty();
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  if (argc < 4) {
    std::fputs("usage: screenshot MODEL OUT.png QUESTION [QUESTION ...]\n", stderr);
    return 2;
  }
  fovea::ui::apply_theme(application, fovea::ui::Scheme::light);
  fovea::ui::ChatWindow window;
  window.resize(980, 720);
  fovea::app::ChatController controller(window, {}, [](const fovea::ModelInfo&) {
    fovea::GenerateRequest request;
    request.sampling.temperature = 0.6F;
    request.sampling.repetition_penalty = 1.1F;
    request.sampling.seed = 4;
    request.max_tokens = 220;
    return request;
  });
  window.show();
  controller.open_model(QString::fromLocal8Bit(argv[1]));
  bool good = wait_for_ready(window);
  for (int i = 3; good && i < argc; ++i) {
    Q_EMIT window.sendRequested(QString::fromLocal8Bit(argv[i]));
    good = wait_for_ready(window);
  }
  if (!good) {
    std::fprintf(stderr, "screenshot: %s\n", window.error_bar().message().toUtf8().constData());
    return 1;
  }
  QEventLoop settle;  // the transcript lays out what arrived last
  QTimer::singleShot(200, &settle, &QEventLoop::quit);
  settle.exec();
  return window.grab().save(QString::fromLocal8Bit(argv[2])) ? 0 : 1;
}
