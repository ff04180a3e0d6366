// Draws sample conversations into PNG files, to be looked at:
//   QT_QPA_PLATFORM=offscreen QT_SCALE_FACTOR=2 fovea_transcript_pictures FOLDER [SUFFIX]
#include <QApplication>
#include <QDir>
#include <QLineEdit>
#include <QScrollBar>
#include <QtTest/QtTest>
#include <cstdio>

#include "ui/chat/chat_settings_dialog.h"
#include "ui/chat/find_bar.h"
#include "ui/chat/transcript_view.h"
#include "ui/theme/theme.h"

using namespace fovea::ui;

namespace {

MessageView make(MessageId id, Author author, const char* text) {
  MessageView view;
  view.id = id;
  view.author = author;
  view.text = QString::fromUtf8(text);
  view.actions = MessageAction::copy;
  if (author == Author::user) {
    view.actions |= MessageAction::edit;
  } else {
    view.author_name = QStringLiteral("Qwen3-30B-A3B");
    view.actions |= MessageAction::regenerate | MessageAction::continue_answer;
    view.details = QStringLiteral("34.2 tokens a second · 412 tokens · seed 7");
  }
  view.actions |= MessageAction::remove;
  return view;
}

std::vector<MessageView> prose() {
  std::vector<MessageView> messages;
  messages.push_back(
      make(1, Author::user, "How does top-k routing in a mixture of experts work? Show it in code."));
  messages.push_back(
      make(2, Author::assistant,
           "<think>\nThe user wants an explanation.\n</think>\n\n"
           "A router scores every expert for each token and keeps only the **k best**. The chosen experts' "
           "outputs are "
           "summed, weighted by their renormalised scores, so that the layer computes *a small share* of its "
           "weights "
           "for each token.\n\n"
           "## The formula\n\n"
           "With scores $s = W_r x$ and the set $T$ of the $k$ largest, the gate is "
           "$g_i = \\frac{e^{s_i}}{\\sum_{j \\in T} e^{s_j}}$ and the output is\n\n"
           "\\[\ny = \\sum_{i \\in T} g_i \\, E_i(x)\n\\]\n\n"
           "## In code\n\n"
           "```python\ndef route(x, w_router, experts, k=8):\n    \"\"\"Sum of the k best experts' "
           "outputs.\"\"\"\n"
           "    scores = x @ w_router  # [experts]\n    best = np.argsort(scores)[-k:]\n"
           "    gate = np.exp(scores[best] - scores[best].max())\n    gate /= gate.sum()\n"
           "    return sum(g * experts[i](x) for g, i in zip(gate, best))\n```\n\n"
           "What matters in practice:\n\n"
           "1. **Balance**: without an auxiliary loss a few experts take everything.\n"
           "2. **Locality**: neighbouring tokens often choose the same experts,\n"
           "   - which caching can use,\n   - and prefetching cannot always.\n"
           "3. `k` is small: 8 of 128 here.\n\n"
           "> The eye sees sharply only where it looks.\n\n"
           "| Model | Experts | Top-k | Width |\n|---|--:|--:|--:|\n| Qwen3-30B-A3B | 128 | 8 | 768 |\n"
           "| Mixtral-8x7B | 8 | 2 | 14,336 |\n| gpt-oss-120b | 128 | 4 | 2,880 |\n\n"
           "More in [the paper](https://arxiv.org/abs/1701.06538). It costs $5 or $6, not more."));
  messages.back().reasoning_seconds = 12;
  messages.back().sibling_index = 1;
  messages.back().sibling_count = 3;
  messages.push_back(make(3, Author::user, "And how much memory does it need?"));
  messages.push_back(make(4, Author::assistant, "About **17 GB** at 4 bits for the experts, and"));
  messages.back().note = QStringLiteral("Stopped");
  return messages;
}

std::vector<MessageView> scripts() {
  std::vector<MessageView> messages;
  messages.push_back(make(1, Author::user, "שלום, תוכל להסביר בעברית?"));
  messages.push_back(
      make(2, Author::assistant,
           "בוודאי. מודל *תערובת מומחים* בוחר לכל אסימון רק **כמה** מומחים, למשל `top-k = 8`.\n\n"
           "- פריט ראשון\n- פריט שני\n\nمرحبا بالعالم، هذا نص عربي مع كلمة English في الوسط.\n\n"
           "专家混合模型为每个词元只选择少数几个专家，因此每一步只需要读取一小部分权重。这一段文字没有空格，"
           "但是仍然应该在行尾正确换行，并且标点符号不应出现在行首。\n\n"
           "日本語の文章も同じように改行されます。Emoji: 🙂 👩‍👩‍👧 🇯🇵 "
           "✅"));
  messages.push_back(
      make(3, Author::user,
           "A very long message of the user that surely needs more than one line in its bubble, because it "
           "goes on and on about this and that:\n\n  int main() { return 0; }\n\nand ends here."));
  messages.push_back(make(4, Author::assistant,
                          "<think>\nFirst I look at the **question**.\n\n```cpp\nint main() { return 0; } // "
                          "a line that is much too long for the "
                          "column and so has to be wrapped somewhere, with its rest a little to the "
                          "right\n```\n\nThen I answer."));
  messages.back().streaming = true;
  messages.push_back(
      make(5, Author::assistant,
           "- [ ] to do\n- [x] done\n\n### Small heading\n\nText with <b>raw html</b> and &amp; entities.\n\n"
           "```diff\n@@ -1,2 +1,2 @@\n-old line\n+new line\n```\n\n```json\n{\"name\": \"fovea\", \"bits\": "
           "[4, 8], \"on\": true}\n```\n\n---\n\nEnd."));
  messages.back().note =
      QStringLiteral("The context is full: the 3 oldest messages no longer fit and were left out");
  messages.back().note_kind = NoteKind::warning;
  messages.push_back(make(6, Author::assistant, ""));
  messages.back().note = QStringLiteral("The model could not be read: disk error");
  messages.back().note_kind = NoteKind::failure;
  return messages;
}

std::vector<MessageView> mathematics() {
  std::vector<MessageView> messages;
  messages.push_back(make(1, Author::user,
                          "Solve $ax^2 + bx + c = 0$ and show why, please. Is this the same?\n\n"
                          "$$x = \\frac{2c}{-b \\mp \\sqrt{b^2 - 4ac}}$$"));
  messages.push_back(make(2, Author::assistant,
                          R"(Divide by $a$, which is not $0$, and complete the square:

\begin{align}
x^2 + \frac{b}{a} x &= -\frac{c}{a} \\
\left( x + \frac{b}{2a} \right)^2 &= \frac{b^2 - 4ac}{4a^2} \\
x &= \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}
\end{align}

The **discriminant** $\Delta = b^2 - 4ac$ tells how many solutions are real ($\Delta \ge 0$), and $\frac{\sqrt{\Delta}}{a}$ is how far they are apart. Written as a matrix, $A = \begin{pmatrix} 0 & -c/a \\ 1 & -b/a \end{pmatrix}$ has them as its eigenvalues.

- $x_1 + x_2 = -\frac{b}{a}$, and
- $x_1 x_2 = \frac{c}{a}$ (*Vieta*).

| Case | $\Delta$ | Solutions |
|---|:-:|---|
| two | $> 0$ | $x_{1,2} = \frac{-b \pm \sqrt{\Delta}}{2a}$ |
| one | $= 0$ | $x = -\frac{b}{2a}$ |
| none | $< 0$ | $x \in \mathbb{C} \setminus \mathbb{R}$ |

> In general: $$f(x) = \sum_{n=0}^{\infty} \frac{f^{(n)}(a)}{n!} (x-a)^n, \qquad |x| = \begin{cases} x & \text{if } x \ge 0 \\ -x & \text{otherwise} \end{cases}$$

A long one within a line is broken where a reader expects it, $e^x = 1 + x + \frac{x^2}{2!} + \frac{x^3}{3!} + \frac{x^4}{4!} + \frac{x^5}{5!} + \frac{x^6}{6!} + \frac{x^7}{7!} + \cdots$, and goes on. What nobody knows, $\foo{x} + 1$, stays as it is written, and so does what is not finished: $\frac{1}{$.

$$\int_{-\infty}^{\infty} e^{-x^2} \, dx = \sqrt{\pi} \quad \lim_{n \to \infty} \left( 1 + \frac{1}{n} \right)^n = e$$)"));
  return messages;
}

std::vector<MessageView> calls() {
  std::vector<MessageView> messages;
  messages.push_back(make(1, Author::user, "What is the weather in Rome and in Zürich?"));
  messages.push_back(
      make(2, Author::assistant,
           "<think>\nTwo cities.\n</think>\n\nI look it up.\n\n<tool_call>\n{\"name\": \"weather\", "
           "\"arguments\": {\"city\": \"Rome\", \"days\": 3, \"units\": [\"°C\", \"mm\"]}}\n</tool_call>\n"
           "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>\n\nBoth were asked."));
  messages.push_back(
      make(3, Author::assistant, "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Zür"));
  messages.back().streaming = true;
  return messages;
}

void save(QWidget& view, const QString& path) {
  QTest::qWait(20);
  if (!view.grab().save(path)) std::fprintf(stderr, "cannot write %s\n", path.toUtf8().constData());
}

void draw(const QString& folder, const QString& suffix, Scheme scheme) {
  const QString end =
      QStringLiteral("_%1%2.png")
          .arg(scheme == Scheme::dark ? QStringLiteral("dark") : QStringLiteral("light"), suffix);
  TranscriptView view;
  view.resize(900, 1250);
  view.show();
  view.set_messages(prose());
  QTest::keyClick(&view, Qt::Key_Home);
  QTest::mouseMove(view.viewport(), view.rect_of_message(1).center());
  save(view, folder + QStringLiteral("/prose") + end);
  view.setFocus();
  view.activate(1, view.controls_of(1).at(0));
  view.focus_message(1);
  QTest::keyClick(&view, Qt::Key_F, Qt::ControlModifier);
  QTest::keyClicks(view.findChild<FindBar*>()->findChild<QLineEdit*>(), QStringLiteral("expert"));
  QTest::qWait(200);
  view.select({1, 120}, {1, 420});
  save(view, folder + QStringLiteral("/find") + end);
  QTest::keyClick(view.findChild<FindBar*>(), Qt::Key_Escape);
  view.set_messages(scripts());
  QTest::keyClick(&view, Qt::Key_Home);
  view.activate(3, view.controls_of(3).at(0));
  QTest::keyClick(&view, Qt::Key_Home);
  save(view, folder + QStringLiteral("/scripts") + end);
  QTest::keyClick(&view, Qt::Key_End);
  view.resize(520, 900);
  save(view, folder + QStringLiteral("/narrow") + end);
  view.resize(900, 1250);
  view.set_messages(mathematics());
  QTest::keyClick(&view, Qt::Key_Home);
  save(view, folder + QStringLiteral("/mathematics") + end);
  view.resize(420, 1250);
  view.select({1, 20}, {1, 160});
  QTest::keyClick(&view, Qt::Key_Home);
  save(view, folder + QStringLiteral("/mathematics_narrow") + end);
  view.select({0, 0}, {0, 0});
  view.resize(900, 700);
  view.set_messages(calls());
  view.activate(1, view.controls_of(1).at(1));
  QTest::keyClick(&view, Qt::Key_Home);
  save(view, folder + QStringLiteral("/calls") + end);
  ChatSettingsView set, usual;
  set.thinking = true;
  set.effort = QStringLiteral("low");
  set.as_json = true;
  set.schema = QStringLiteral("{\"type\": \"object\", \"properties\": {\"city\": {\"type\": \"string\"}}}");
  usual.temperature = 0.7;
  usual.top_p = 0.95;
  usual.min_p = usual.dry_multiplier = 0;
  usual.repetition_penalty = 1;
  usual.top_k = 40;
  usual.max_tokens = 0;
  ChatSettingsDialog settings(set, usual, {}, {.thinking = true, .effort = true});
  settings.show();
  save(settings, folder + QStringLiteral("/settings") + end);
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  if (argc < 2) {
    std::fputs("usage: fovea_transcript_pictures FOLDER [SUFFIX]\n", stderr);
    return 2;
  }
  const QString folder = QString::fromLocal8Bit(argv[1]);
  QDir().mkpath(folder);
  for (const Scheme scheme : {Scheme::light, Scheme::dark}) {
    apply_theme(application, scheme);
    draw(folder, argc > 2 ? QString::fromLocal8Bit(argv[2]) : QString(), scheme);
  }
  return 0;
}
