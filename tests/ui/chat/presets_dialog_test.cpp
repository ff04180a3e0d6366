// The library of presets and prompts: found by words, used, copied, changed; what is built in stays.
#include "ui/chat/presets_dialog.h"

#include <QLineEdit>
#include <QListWidget>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabWidget>

#include "tests/support/test.h"
#include "ui/chat/prompt_dialog.h"
#include "ui/chat/saved_list.h"

using namespace fovea::ui;

namespace {

PresetView preset(const char* id, const char* name, const char* instructions, bool built_in = false) {
  PresetView view{.id = QLatin1String(id), .name = QLatin1String(name), .settings = {}, .built_in = built_in};
  view.settings.instructions = QLatin1String(instructions);
  return view;
}

}  // namespace

class PresetsDialogTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    dialog_ = std::make_unique<PresetsDialog>();
    dialog_->set_presets({preset("a", "Poet", "Write in verse."),
                          preset("b", "Cook", "You know every sauce."),
                          preset("c", "Precise", "Be exact.", true)});
    dialog_->set_prompts(
        {{QStringLiteral("s"), QStringLiteral("Sum up"), QStringLiteral("Sum this up:\n"), false},
         {QStringLiteral("e"), QStringLiteral("Explain"), QStringLiteral("Explain it:"), true}});
    dialog_->show();
    presets_ = dialog_->findChild<SavedList*>(QStringLiteral("presets"));
    prompts_ = dialog_->findChild<SavedList*>(QStringLiteral("prompts"));
  }

  void wordsFindByNameAndText() {
    auto* field = presets_->findChild<QLineEdit*>();
    QCOMPARE(shown(presets_),
             QStringList({QStringLiteral("Poet"), QStringLiteral("Cook"), QStringLiteral("Precise")}));
    field->setText(QStringLiteral("SAUCE"));
    QCOMPARE(shown(presets_), QStringList(QStringLiteral("Cook")));
    field->setText(QStringLiteral("in po"));  // each word somewhere
    QCOMPARE(shown(presets_), QStringList(QStringLiteral("Poet")));
    field->setText(QStringLiteral("xylophone"));
    QVERIFY(shown(presets_).isEmpty());
    QVERIFY(!button(presets_, "use")->isEnabled());
    QVERIFY(button(presets_, "new")->isEnabled());
    field->clear();
    QCOMPARE(shown(presets_).size(), 3);
  }

  void theKeyboardUsesWhatWasFound() {
    QSignalSpy used(dialog_.get(), &PresetsDialog::presetUsed);
    auto* field = presets_->findChild<QLineEdit*>();
    field->setFocus();
    QTest::keyClick(field, Qt::Key_Down);
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(used.value(0), QVariantList({QStringLiteral("b")}));
  }

  void whatIsBuiltInIsCopied() {
    std::vector<PresetView> edited, saved;
    connect(dialog_.get(), &PresetsDialog::presetEditWanted, this,
            [&](const auto& view) { edited.push_back(view); });
    connect(dialog_.get(), &PresetsDialog::presetSaved, this,
            [&](const auto& view) { saved.push_back(view); });
    dialog_->choose_preset(QStringLiteral("c"));
    QVERIFY(!button(presets_, "delete")->isEnabled());
    QCOMPARE(button(presets_, "edit")->text(), QStringLiteral("Edit a copy…"));
    button(presets_, "edit")->click();
    QCOMPARE(edited.size(), std::size_t{1});
    QCOMPARE(edited[0], preset("", "Precise (copy)", "Be exact."));
    dialog_->choose_preset(QStringLiteral("a"));
    QVERIFY(button(presets_, "delete")->isEnabled());
    button(presets_, "edit")->click();
    QCOMPARE(edited[1], preset("a", "Poet", "Write in verse."));
    button(presets_, "copy")->click();
    QCOMPARE(saved[0], preset("", "Poet (copy)", "Write in verse."));
    button(presets_, "new")->click();
    QCOMPARE(edited[2], PresetView{});
  }

  void deletingAsksFirst() {
    QSignalSpy deleted(dialog_.get(), &PresetsDialog::presetDeleted);
    dialog_->choose_preset(QStringLiteral("b"));
    button(presets_, "delete")->click();
    auto* question = dialog_->findChild<QMessageBox*>(QStringLiteral("deleteSaved"));
    QVERIFY(question && question->text().contains(QStringLiteral("Cook")));
    QTest::keyClick(question, Qt::Key_Escape);
    QTRY_VERIFY(!dialog_->findChild<QMessageBox*>(QStringLiteral("deleteSaved")));
    QCOMPARE(deleted.count(), 0);
    button(presets_, "delete")->click();
    dialog_->findChild<QMessageBox*>(QStringLiteral("deleteSaved"))->accept();
    QTRY_COMPARE(deleted.count(), 1);
    QCOMPARE(deleted[0][0].toString(), QStringLiteral("b"));
  }

  void promptsAreChanged() {
    std::vector<PromptView> saved;
    connect(dialog_.get(), &PresetsDialog::promptSaved, this,
            [&](const auto& view) { saved.push_back(view); });
    QSignalSpy used(dialog_.get(), &PresetsDialog::promptUsed);
    dialog_->findChild<QTabWidget*>()->setCurrentIndex(1);
    button(prompts_, "use")->click();
    QCOMPARE(used.value(0), QVariantList({QStringLiteral("s")}));
    button(prompts_, "edit")->click();
    auto* editor = dialog_->findChild<PromptDialog*>();
    QVERIFY(editor);
    auto* name = editor->findChild<QLineEdit*>(QStringLiteral("promptName"));
    auto* text = editor->findChild<QPlainTextEdit*>(QStringLiteral("promptText"));
    QCOMPARE(text->toPlainText(), QStringLiteral("Sum this up:\n"));
    QPushButton* save = nullptr;
    for (auto* each : editor->findChildren<QPushButton*>())
      if (each->isDefault()) save = each;
    QVERIFY(save && save->isEnabled());
    text->setPlainText(QStringLiteral(" \n"));
    QVERIFY(!save->isEnabled());
    text->setPlainText(QStringLiteral("In short:"));
    name->setText(QStringLiteral(" Short "));
    save->click();
    QCOMPARE(saved.size(), std::size_t{1});
    QCOMPARE(saved[0],
             (PromptView{QStringLiteral("s"), QStringLiteral("Short"), QStringLiteral("In short:"), false}));
  }

  // While the list is set again, as when something was saved.
  void theChoiceStays() {
    dialog_->choose_preset(QStringLiteral("b"));
    dialog_->set_presets({preset("d", "Another", "x"), preset("b", "Chef", "You know every sauce.")});
    QCOMPARE(presets_->chosen(), QStringLiteral("b"));
    dialog_->set_presets({preset("d", "Another", "x")});
    QCOMPARE(presets_->chosen(), QStringLiteral("d"));
  }

 private:
  static QPushButton* button(SavedList* list, const char* name) {
    return list->findChild<QPushButton*>(QLatin1String(name));
  }
  static QStringList shown(SavedList* list) {
    QStringList names;
    auto* rows = list->findChild<QListWidget*>();
    for (int row = 0; row < rows->count(); ++row) names += rows->item(row)->text();
    return names;
  }

  std::unique_ptr<PresetsDialog> dialog_;
  SavedList *presets_ = nullptr, *prompts_ = nullptr;
};
FOVEA_TEST(PresetsDialogTest)

#include "presets_dialog_test.moc"
