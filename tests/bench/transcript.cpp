// The transcript's times on Qt's offscreen platform: opening long conversations, frames while scrolling, and
// how long a key press waits while an answer streams.   QT_QPA_PLATFORM=offscreen bench_transcript
#include <QApplication>
#include <QElapsedTimer>
#include <QImage>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QtTest/QtTest>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>

#include "ui/chat/transcript_view.h"
#include "ui/theme/theme.h"

using namespace fovea::ui;

namespace {

constexpr int kLettersOfToken = 4;

// An answer with about so many tokens: paragraphs, lists, code, a table.
QString answer_text(std::mt19937& random, int tokens) {
  static const char* const kWords[] = {"expert", "router", "the",   "of",     "memory", "weights",
                                       "is",     "a",      "token", "budget", "with",   "layers",
                                       "which",  "cache",  "tier",  "and"};
  const auto words = [&random](int count) {
    QString out;
    for (int i = 0; i < count; ++i) {
      out += QLatin1String(kWords[random() % std::size(kWords)]);
      out += random() % 12 == 0 ? QStringLiteral(" **bold** ") : QStringLiteral(" ");
    }
    return out.trimmed();
  };
  QString text;
  while (text.size() < static_cast<qsizetype>(tokens) * kLettersOfToken) {
    switch (random() % 8) {
      case 0:
        text += QStringLiteral("## ") + words(4) + QStringLiteral("\n\n");
        break;
      case 1:
        for (int i = 0; i < 5; ++i) text += QStringLiteral("- ") + words(12) + QLatin1Char('\n');
        text += QLatin1Char('\n');
        break;
      case 2:
        text += QStringLiteral("```python\n");
        for (int i = 0; i < 15; ++i)
          text += QStringLiteral("    value_%1 = compute(\"%2\", %1)  # note\n").arg(i).arg(words(2));
        text += QStringLiteral("```\n\n");
        break;
      case 3:
        text += QStringLiteral("| a | b | c |\n|---|---|---|\n");
        for (int i = 0; i < 5; ++i) text += QStringLiteral("| %1 | %2 | $x_%1^2$ |\n").arg(i).arg(words(3));
        text += QLatin1Char('\n');
        break;
      default:
        text += words(60) + QStringLiteral(".\n\n");
    }
  }
  return text;
}

// One answer with so many formulas, half of them displayed.
std::vector<MessageView> formulas(int count) {
  static const char* const kFormulas[] = {
      R"(\frac{-b \pm \sqrt{b^2 - 4ac}}{2a})", R"(\sum_{i=1}^{n} i^2 = \frac{n(n+1)(2n+1)}{6})",
      R"(\begin{pmatrix} a & b \\ c & d \end{pmatrix} \begin{pmatrix} x \\ y \end{pmatrix})",
      R"(g_i = \frac{e^{s_i}}{\sum_{j \in T} e^{s_j}})",
      R"(\int_0^\infty e^{-x^2} \, dx = \frac{\sqrt{\pi}}{2})"};
  MessageView view;
  view.id = 1;
  view.author = Author::assistant;
  for (int i = 0; i < count; ++i) {
    const QString tex =
        QString::fromLatin1(kFormulas[static_cast<std::size_t>(i) / 2 % std::size(kFormulas)]);
    view.text += i % 2 == 0 ? QStringLiteral("The value %1 of $%2$ is small.\n\n").arg(i).arg(tex)
                            : QStringLiteral("$$%1$$\n\n").arg(tex);
  }
  return {view};
}

std::vector<MessageView> conversation(int messages, int tokens) {
  std::mt19937 random(1);
  std::vector<MessageView> out;
  for (int i = 0; i < messages; ++i) {
    MessageView view;
    view.id = i + 1;
    view.author = i % 2 == 0 ? Author::user : Author::assistant;
    const int length = i % 2 == 0 ? tokens / messages / 8 : tokens / messages * 2 - tokens / messages / 8;
    view.text = answer_text(random, std::max(4, length));
    out.push_back(std::move(view));
  }
  return out;
}

double resident_mb() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * 4096 / 1e6;
}

void print_times(const char* name, std::vector<double> times) {
  std::ranges::sort(times);
  const auto at = [&times](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  };
  std::printf("  %-58s median %6.2f ms, 99 %% %6.2f ms, worst %6.2f ms\n", name, at(0.5), at(0.99), at(1));
}

void draw(TranscriptView& view, QImage& image) {
  view.render(&image);
}

void open(const char* name, const std::vector<MessageView>& shown) {
  double letters = 0;
  for (const MessageView& view : shown) letters += static_cast<double>(view.text.size());
  TranscriptView view;
  view.resize(1000, 800);
  view.show();
  QImage image(view.size(), QImage::Format_RGB32);
  draw(view, image);
  const double before = resident_mb();
  QElapsedTimer timer;
  timer.start();
  view.set_messages(shown);
  const double set = static_cast<double>(timer.nsecsElapsed()) / 1e6;
  draw(view, image);
  std::printf("  %-58s %6.1f ms (set %.1f ms), %zu layouts, %.1f MB more\n",
              QStringLiteral("%1: %2 messages, %3 k tokens")
                  .arg(QLatin1String(name))
                  .arg(shown.size())
                  .arg(letters / kLettersOfToken / 1e3, 0, 'f', 0)
                  .toUtf8()
                  .constData(),
              static_cast<double>(timer.nsecsElapsed()) / 1e6, set, view.conversation().layouts_held(),
              resident_mb() - before);
}

void scroll(const char* name, const std::vector<MessageView>& shown, int step, int frames) {
  TranscriptView view;
  view.resize(1000, 800);
  view.show();
  view.set_messages(shown);
  QImage image(view.size(), QImage::Format_RGB32);
  QScrollBar* bar = view.verticalScrollBar();
  bar->setValue(bar->maximum() / 2);
  draw(view, image);
  std::vector<double> times;
  QElapsedTimer timer;
  for (int i = 0; i < frames; ++i) {
    timer.start();
    bar->setValue(bar->value() - step);
    draw(view, image);
    times.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
  }
  print_times(name, times);
  std::printf("  %-58s %zu layouts held, %.0f MB resident\n", "", view.conversation().layouts_held(),
              resident_mb());
}

// Tokens arrive all the time; every few, a key is pressed in an editor beside the transcript. What counts is
// the time from the press to the end of the paint, behind whatever the event loop had to do before.
void stream(const char* name, const QString& begin, const QString& piece) {
  QWidget window;
  window.resize(1000, 900);
  auto* view = new TranscriptView(&window);
  view->setGeometry(0, 0, 1000, 800);
  auto* editor = new QPlainTextEdit(&window);
  editor->setGeometry(0, 800, 1000, 100);
  window.show();
  std::vector<MessageView> messages = conversation(20, 20'000);
  MessageView answer;
  answer.id = 1000;
  answer.author = Author::assistant;
  answer.text = begin;
  answer.streaming = true;
  messages.push_back(answer);
  view->set_messages(messages);
  QImage image(window.size(), QImage::Format_RGB32);
  window.render(&image);
  std::vector<double> times;
  const long before = view->layouts_made();
  QElapsedTimer all;
  all.start();
  while (all.elapsed() < 4000) {
    for (int i = 0; i < 4; ++i) view->append_to(1000, piece);
    QElapsedTimer timer;
    timer.start();
    QCoreApplication::processEvents();
    QTest::keyClick(editor, Qt::Key_A);
    QCoreApplication::processEvents();
    times.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
    QTest::qSleep(4);
  }
  print_times(name, times);
  std::printf("  %-58s %.1f layouts a second, %lld characters in the end\n", "",
              static_cast<double>(view->layouts_made() - before) / (static_cast<double>(all.elapsed()) / 1e3),
              static_cast<long long>(view->message(1000)->text.size()));
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  apply_theme(application, Scheme::light);
  {
    TranscriptView warm;  // fonts are loaded at the first use
    warm.resize(1000, 800);
    warm.set_messages(conversation(10, 4000));
    warm.grab();
  }
  std::puts("open");
  open("usual", conversation(200, 200'000));
  open("many", conversation(5000, 1'000'000));
  open("one answer", conversation(2, 200'000));
  open("200 formulas", formulas(200));
  std::puts("scroll through 5,000 messages (offscreen frames)");
  const std::vector<MessageView> many = conversation(5000, 1'000'000);
  scroll("wheel, 120 px", many, 120, 600);
  scroll("a page at a time, 700 px", many, 700, 300);
  std::puts("scroll through 2,000 formulas");
  scroll("wheel, 120 px", formulas(2000), 120, 300);
  scroll("a page at a time, 700 px", formulas(2000), 700, 60);
  std::puts("key press to paint while streaming");
  std::mt19937 random(2);
  stream("prose after 8,000 tokens", answer_text(random, 8000), QStringLiteral("another word "));
  stream("code after 2,000 lines",
         QStringLiteral("```cpp\n") + QStringLiteral("int value = compute(1, \"two\");\n").repeated(2000),
         QStringLiteral("x = f(1);\n"));
  stream("formulas after 200 formulas", formulas(200)[0].text,
         QStringLiteral("so $\\frac{a}{b}$ and\n\n$$\\sum_{i=1}^n x_i$$\n\n"));
  stream("one endless paragraph", QStringLiteral("word ").repeated(20'000), QStringLiteral("word "));
  return 0;
}
