// Settings of one conversation: what is not set stays the model's, and all of them are kept as a preset.
#include "ui/chat/chat_settings_dialog.h"

#include <QAccessible>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTimer>

#include "tests/support/test.h"

using namespace fovea::ui;

namespace {

ChatSettingsView usual() {
  ChatSettingsView view;
  view.temperature = 0.7;
  view.top_p = 0.9;
  view.min_p = 0.0;
  view.repetition_penalty = 1.1;
  view.dry_multiplier = 0.0;
  view.top_k = 40;
  return view;
}

QPushButton* button(QWidget& dialog, const QString& text) {
  for (QPushButton* each : dialog.findChildren<QPushButton*>())
    if (each->text() == text) return each;
  return nullptr;
}

void keep_as(ChatSettingsDialog& dialog, const QString& name) {
  QTimer::singleShot(0, &dialog, [name] {
    auto* ask = qobject_cast<QInputDialog*>(QApplication::activeModalWidget());
    if (!ask) return;
    ask->setTextValue(name);
    ask->accept();
  });
  button(dialog, QStringLiteral("Save as a preset…"))->click();
}

}  // namespace

class ChatSettingsDialogTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void whatIsNotSetStaysTheModels() {
    const ChatSettingsDialog dialog({}, usual(), {});
    QCOMPARE(dialog.settings(), ChatSettingsView{});
    QStringList shown;
    for (const auto* box : dialog.findChildren<QDoubleSpinBox*>()) shown += box->text();
    QVERIFY2(shown.contains(QStringLiteral("automatic: 0.7")), qPrintable(shown.join(QLatin1Char(' '))));
  }

  void whatIsSetComesBack() {
    ChatSettingsView set;
    set.instructions = QStringLiteral("Answer briefly.");
    set.temperature = 0;
    set.top_p = 0.5;
    set.min_p = 0.05;
    set.repetition_penalty = 1.5;
    set.dry_multiplier = 0.9;
    set.top_k = 0;
    set.max_tokens = 200;
    set.seed = 9223372036854775807U;
    set.thinking = false;
    set.effort = QStringLiteral("high");
    set.as_json = true;
    set.schema = QStringLiteral("{}");
    set.leave_out_oldest = true;
    const ChatSettingsDialog dialog(set, usual(), {});
    QCOMPARE(dialog.settings(), set);
  }

  // What a model cannot be told is not offered, and stays as it was for one that can.
  void onlyWhatTheTemplateHasIsOffered_data() {
    QTest::addColumn<bool>("thinking");
    QTest::addColumn<bool>("effort");
    QTest::newRow("nothing") << false << false;
    QTest::newRow("a switch") << true << false;
    QTest::newRow("an effort") << false << true;
    QTest::newRow("both") << true << true;
  }
  void onlyWhatTheTemplateHasIsOffered() {
    QFETCH(bool, thinking);
    QFETCH(bool, effort);
    ChatSettingsView set;
    set.effort = QStringLiteral("medium");
    ChatSettingsDialog dialog(set, usual(), {}, {.thinking = thinking, .effort = effort});
    dialog.show();
    auto* choice = dialog.findChild<QComboBox*>(QStringLiteral("thinking"));
    QCOMPARE(choice->isVisible(), thinking);
    QCOMPARE(dialog.findChild<QComboBox*>(QStringLiteral("effort"))->isVisible(), effort);
    QCOMPARE(dialog.settings(), set);
    choice->setCurrentIndex(2);
    QVERIFY(dialog.settings().thinking == false);
  }

  void aWrongSchemaIsSaidAndNotTaken() {
    const auto fault = [](const QString& schema) {
      return schema == QStringLiteral("{}") ? QString() : QStringLiteral("wrong: ") + schema;
    };
    ChatSettingsDialog dialog({}, usual(), {}, {}, nullptr, fault);
    dialog.show();
    auto* schema = dialog.findChild<QPlainTextEdit*>(QStringLiteral("schema"));
    auto* error = dialog.findChild<QLabel*>(QStringLiteral("schema_error"));
    auto* as_json = dialog.findChild<QCheckBox*>(QStringLiteral("as_json"));
    auto* accept = dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok);
    QVERIFY(!schema->isVisible() && accept->isEnabled());
    as_json->setChecked(true);
    QVERIFY(schema->isVisible() && !error->isVisible() && accept->isEnabled());
    schema->setPlainText(QStringLiteral("{"));
    QVERIFY(error->isVisible() && !accept->isEnabled());
    QCOMPARE(error->text(), QStringLiteral("wrong: {"));
    schema->setPlainText(QStringLiteral("{}"));
    QVERIFY(!error->isVisible() && accept->isEnabled());
    schema->setPlainText(QStringLiteral("{"));
    as_json->setChecked(false);
    QVERIFY(!error->isVisible() && accept->isEnabled());
    QVERIFY(!dialog.settings().as_json);
  }

  void whatIsTypedIsTaken() {
    ChatSettingsDialog dialog({}, usual(), {});
    dialog.show();
    auto* instructions = dialog.findChild<QPlainTextEdit*>(QStringLiteral("instructions"));
    QTest::keyClicks(instructions, QStringLiteral("Be kind"));
    auto* temperature = dialog.findChildren<QDoubleSpinBox*>().front();
    temperature->setFocus();
    QTest::keyClick(temperature, Qt::Key_Up);  // from "automatic" to the least number
    auto* seed = dialog.findChildren<QLineEdit*>().back();
    for (QLineEdit* each : dialog.findChildren<QLineEdit*>())
      if (each->placeholderText().contains(QStringLiteral("new one"))) seed = each;
    QTest::keyClicks(seed, QStringLiteral("4x2"));  // letters stay out
    QCOMPARE(dialog.settings().instructions, QStringLiteral("Be kind"));
    QCOMPARE(dialog.settings().temperature.value_or(-1), 0.0);
    QCOMPARE(dialog.settings().seed.value_or(0), quint64{42});
  }

  void presetsFillEverything() {
    PresetView poet{.id = QStringLiteral("p"), .name = QStringLiteral("Poet"), .settings = {}};
    poet.settings.instructions = QStringLiteral("Write in verse.");
    poet.settings.temperature = 1.25;
    poet.settings.thinking = true;
    poet.settings.as_json = true;
    poet.settings.seed = 5;
    ChatSettingsView before;
    before.top_k = 3;
    before.leave_out_oldest = true;
    ChatSettingsDialog dialog(before, usual(), {poet});
    dialog.show();
    auto* presets = dialog.findChild<QComboBox*>(QStringLiteral("preset"));
    QCOMPARE(dialog.settings(), before);
    presets->setFocus();
    QTest::keyClick(presets, Qt::Key_Down);
    QCOMPARE(dialog.settings(), poet.settings);  // and nothing of what there was
  }

  void settingsAreKeptAsPresets() {
    const PresetView poet{.id = QStringLiteral("p"), .name = QStringLiteral("Poet"), .settings = {}};
    const PresetView precise{
        .id = QStringLiteral("b"), .name = QStringLiteral("Precise"), .settings = {}, .built_in = true};
    ChatSettingsView set;
    set.instructions = QStringLiteral("Say arr.");
    set.top_k = 7;
    ChatSettingsDialog dialog(set, usual(), {poet, precise});
    dialog.show();
    std::vector<PresetView> saved;
    connect(&dialog, &ChatSettingsDialog::presetSaved, this,
            [&saved](const PresetView& preset) { saved.push_back(preset); });
    keep_as(dialog, QStringLiteral(" Pirate "));
    keep_as(dialog, QStringLiteral("Poet"));     // in its place
    keep_as(dialog, QStringLiteral("Precise"));  // what is built in stays
    keep_as(dialog, QString());                  // no name: nothing
    QCOMPARE(saved.size(), std::size_t{3});
    QCOMPARE(saved[0], (PresetView{.id = {}, .name = QStringLiteral("Pirate"), .settings = set}));
    QCOMPARE(saved[1],
             (PresetView{.id = QStringLiteral("p"), .name = QStringLiteral("Poet"), .settings = set}));
    QCOMPARE(saved[2], (PresetView{.id = {}, .name = QStringLiteral("Precise"), .settings = set}));
    dialog.set_presets({poet, precise}, QStringLiteral("b"));
    QCOMPARE(dialog.findChild<QComboBox*>(QStringLiteral("preset"))->currentText(),
             QStringLiteral("Precise"));
    QCOMPARE(dialog.settings(), set);
  }

  void aPresetNeedsAName() {
    ChatSettingsDialog dialog({}, usual(), {});
    auto* name = dialog.findChild<QLineEdit*>(QStringLiteral("presetName"));
    dialog.show();
    QVERIFY(!name->isVisible());
    dialog.ask_name(QStringLiteral("Poet"));
    QVERIFY(name->isVisible());
    QVERIFY(!dialog.findChild<QComboBox*>(QStringLiteral("preset"))->isVisible());
    auto* accept = dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok);
    QVERIFY(accept->isEnabled());
    name->setText(QStringLiteral("  "));
    QVERIFY(!accept->isEnabled());
    name->setText(QStringLiteral(" A  name "));
    QVERIFY(accept->isEnabled());
    QCOMPARE(dialog.name(), QStringLiteral("A name"));
  }

  // By keys alone, each control with a name.
  void tabReachesEverything() {
    ChatSettingsDialog dialog({}, usual(), {}, {.thinking = true, .effort = true});
    dialog.show();
    dialog.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&dialog));
    QSet<const QWidget*> reached;
    for (int i = 0; i < 60; ++i) {
      QTest::keyClick(QApplication::focusWidget() ? QApplication::focusWidget() : &dialog, Qt::Key_Tab);
      const QWidget* focused = QApplication::focusWidget();
      QVERIFY(focused);
      reached.insert(focused);
      const QAccessibleInterface* face = QAccessible::queryAccessibleInterface(const_cast<QWidget*>(focused));
      QVERIFY2(face && !face->text(QAccessible::Name).isEmpty(),
               qPrintable(QLatin1String(focused->metaObject()->className()) + QLatin1Char(' ') +
                          focused->objectName()));
    }
    for (const QWidget* widget : dialog.findChildren<QWidget*>()) {
      const bool stop = (widget->focusPolicy() & Qt::TabFocus) && widget->isVisible() &&
                        widget->isEnabled() && !widget->focusProxy() &&
                        !widget->objectName().startsWith(QStringLiteral("qt_"));
      QVERIFY2(!stop || reached.contains(widget), widget->metaObject()->className());
    }
  }
};
FOVEA_TEST(ChatSettingsDialogTest)

#include "chat_settings_dialog_test.moc"
