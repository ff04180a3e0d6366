// Presets and prompts: what the settings keep of them, and what the window does with them.
#include "app/window/presets.h"

#include <QAction>
#include <QComboBox>
#include <QMenu>
#include <QSignalSpy>
#include <set>

#include "app/history/worker/history_thread.h"
#include "app/library/data_folder.h"
#include "app/window/desktop.h"
#include "tests/app/window/closing.h"
#include "tests/support/environment.h"
#include "tests/support/test.h"
#include "ui/chat/chat_settings_dialog.h"
#include "ui/chat/composer.h"
#include "ui/chat/error_bar.h"
#include "ui/chat/folder_dialog.h"
#include "ui/chat/presets_dialog.h"
#include "ui/chat/sidebar.h"

using namespace fovea;

namespace {

ui::PresetView poet() {
  ui::PresetView preset{.id = QStringLiteral("p"), .name = QStringLiteral("Poet"), .settings = {}};
  preset.settings.instructions = QStringLiteral("Write in verse.");
  preset.settings.temperature = 1.25;
  preset.settings.as_json = true;
  return preset;
}

QAction* command(QWidget& window, const char* menu, const QString& text) {
  for (QAction* action : window.findChild<QMenu*>(QLatin1String(menu))->actions())
    if (action->text() == text) return action;
  return nullptr;
}

}  // namespace

class PresetsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<tests::DataFolder>(); }
  void cleanup() { folder_.reset(); }

  void whatIsKeptComesBack() {
    app::Settings settings;
    const std::size_t built_in = app::presets_of(settings).size();
    app::keep(poet(), settings);
    QCOMPARE(app::presets_of(settings).size(), built_in + 1);
    QCOMPARE(app::presets_of(settings).front(), poet());
    ui::PresetView renamed = poet();
    renamed.name = QStringLiteral("Bard");
    renamed.settings.top_k = 3;
    app::keep(renamed, settings);
    QCOMPARE(app::presets_of(settings).size(), built_in + 1);
    QCOMPARE(app::presets_of(settings).front(), renamed);
    app::forget_preset(QStringLiteral("p"), settings);
    QCOMPARE(app::presets_of(settings).size(), built_in);
  }

  // They had no id and no settings.
  void instructionsOfBeforeArePresets() {
    app::Settings settings;
    settings.system_prompts = {{"Brief", "Be brief."}};
    ui::PresetView brief = app::presets_of(settings).front();
    QCOMPARE(brief.id, QStringLiteral("Brief"));
    QCOMPARE(brief.settings.instructions, QStringLiteral("Be brief."));
    brief.name = QStringLiteral("Short");
    app::keep(brief, settings);
    QCOMPARE(settings.system_prompts.size(), std::size_t{1});
    QCOMPARE(settings.system_prompts[0].id, std::string("Brief"));
    QCOMPARE(settings.system_prompts[0].name, std::string("Short"));
  }

  void promptsAreKeptLikewise() {
    app::Settings settings;
    const std::size_t built_in = app::prompts_of(settings).size();
    const ui::PromptView sum =
        app::with_id(ui::PromptView{{}, QStringLiteral("Sum"), QStringLiteral("In short:"), false});
    QVERIFY(!sum.id.isEmpty());
    QCOMPARE(app::with_id(sum).id, sum.id);
    QVERIFY(app::with_id(ui::PromptView{}).id != sum.id);
    app::keep(sum, settings);
    QCOMPARE(app::prompts_of(settings).front(), sum);
    app::forget_prompt(sum.id, settings);
    QCOMPARE(app::prompts_of(settings).size(), built_in);
  }

  void whatIsBuiltInHasNamesOfItsOwn() {
    std::set<QString> ids, names;
    for (const ui::PresetView& preset : app::presets_of({})) {
      QVERIFY(preset.built_in && !preset.settings.instructions.isEmpty());
      QVERIFY(ids.insert(preset.id).second && names.insert(preset.name).second);
    }
    for (const ui::PromptView& prompt : app::prompts_of({})) {
      QVERIFY(prompt.built_in && !prompt.text.trimmed().isEmpty());
      QVERIFY(ids.insert(prompt.id).second);
    }
    QVERIFY(names.size() >= 5);
  }

  // From the menus, which the command palette has too; and from the library.
  void aChatIsGivenAPreset() {
    app::Desktop desktop({});
    desktop.start();
    ui::ChatWindow& window = desktop.window();
    QAction* precise = command(window, "presetsMenu", QStringLiteral("Precise"));
    QVERIFY(precise);
    precise->trigger();
    const ui::ChatSettingsView set = desktop.chat().conversation().chat_settings();
    QCOMPARE(set.temperature.value_or(-1), 0.2);
    QVERIFY(!set.instructions.isEmpty());
    command(window, "promptsMenu", QStringLiteral("Summarise"))->trigger();
    QVERIFY(window.composer().text().startsWith(QStringLiteral("Summarise this text")));

    window.findChild<QAction*>(QStringLiteral("presetsAction"))->trigger();
    auto* library = window.findChild<ui::PresetsDialog*>();
    QVERIFY(library && library->isVisible());
    Q_EMIT library->presetSaved(poet());
    QCOMPARE(desktop.settings().system_prompts.size(), std::size_t{1});
    QVERIFY(command(window, "presetsMenu", QStringLiteral("Poet")));
    Q_EMIT library->presetUsed(QStringLiteral("p"));
    QVERIFY(!library->isVisible());
    QCOMPARE(desktop.chat().conversation().chat_settings(), poet().settings);
    Q_EMIT window.chatSettingsRequested();
    auto* settings = window.findChild<ui::ChatSettingsDialog*>();
    QVERIFY(settings);
    QCOMPARE(settings->settings(), poet().settings);
    settings->reject();
    QVERIFY(tests::close(desktop));
  }

  void aPresetIsMadeAndDeletedInTheLibrary() {
    app::Desktop desktop({});
    desktop.start();
    Q_EMIT desktop.window().presetsRequested();
    auto* library = desktop.window().findChild<ui::PresetsDialog*>();
    Q_EMIT library->presetEditWanted({});
    auto* editor = library->findChild<ui::ChatSettingsDialog*>();
    QVERIFY(editor);
    editor->ask_name(QStringLiteral("Made"));
    editor->accept();
    QCOMPARE(desktop.settings().system_prompts.size(), std::size_t{1});
    QCOMPARE(desktop.settings().system_prompts[0].name, std::string("Made"));
    QVERIFY(!desktop.settings().system_prompts[0].id.empty());
    const QString id = QString::fromStdString(desktop.settings().system_prompts[0].id);
    Q_EMIT library->presetDeleted(id);
    QVERIFY(desktop.settings().system_prompts.empty());
    QVERIFY(!command(desktop.window(), "presetsMenu", QStringLiteral("Made")));
    QVERIFY(tests::close(desktop));
  }

  void aFolderNamesWhatItsChatsStartWith() {
    const qint64 folder = make_folder("built-in-precise", "");
    app::Desktop desktop({});
    desktop.start();
    ui::ChatWindow& window = desktop.window();
    QSignalSpy models(&window, &ui::ChatWindow::modelRequested);
    Q_EMIT window.sidebar().newChatInRequested(folder);
    QTRY_COMPARE(desktop.chat().conversation().conversation().folder, folder);
    QCOMPARE(desktop.chat().conversation().chat_settings().temperature.value_or(-1), 0.2);
    QCOMPARE(models.count(), 0);
    Q_EMIT window.newChatRequested();
    QVERIFY(!desktop.chat().conversation().chat_settings().temperature);

    Q_EMIT window.sidebar().folderSettingsRequested(folder);
    QTRY_VERIFY(window.findChild<ui::FolderDialog*>());
    auto* dialog = window.findChild<ui::FolderDialog*>();
    auto* preset = dialog->findChild<QComboBox*>(QStringLiteral("folderPreset"));
    QCOMPARE(preset->currentText(), QStringLiteral("Precise"));
    preset->setCurrentText(QStringLiteral("Creative"));
    dialog->accept();
    Q_EMIT window.sidebar().newChatInRequested(folder);
    QTRY_COMPARE(desktop.chat().conversation().chat_settings().temperature.value_or(-1), 1.1);
    QVERIFY(tests::close(desktop));
  }

  void aFolderOpensItsModel() {
    const std::filesystem::path path = folder_->path() / "some.gguf";
    QFile file(QString::fromStdString(path.string()));
    QVERIFY(file.open(QFile::WriteOnly));
    file.close();
    const qint64 folder = make_folder("", path.string());
    app::Desktop desktop({});
    desktop.start();
    QSignalSpy models(&desktop.window(), &ui::ChatWindow::modelRequested);
    Q_EMIT desktop.window().sidebar().newChatInRequested(folder);
    QTRY_COMPARE(models.count(), 1);
    QCOMPARE(models[0][0].toString(), QString::fromStdString(path.string()));
    QVERIFY(tests::close(desktop));
  }

  // Said, and nothing else taken in its place unsaid.
  void whatAFolderNamesMayBeGone_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("said");
    QTest::newRow("a preset") << QStringLiteral("gone") << QString()
                              << QStringLiteral("The preset that chats in “Work”");
    QTest::newRow("a model") << QString() << QStringLiteral("/gone/away.gguf")
                             << QStringLiteral("The model that chats in “Work”");
  }
  void whatAFolderNamesMayBeGone() {
    QFETCH(QString, preset);
    QFETCH(QString, model);
    QFETCH(QString, said);
    const qint64 folder = make_folder(preset.toStdString(), model.toStdString());
    app::Desktop desktop({});
    desktop.start();
    QSignalSpy models(&desktop.window(), &ui::ChatWindow::modelRequested);
    Q_EMIT desktop.window().sidebar().newChatInRequested(folder);
    QTRY_VERIFY2(desktop.window().error_bar().message().startsWith(said),
                 qPrintable(desktop.window().error_bar().message()));
    QCOMPARE(desktop.chat().conversation().conversation().folder, folder);
    QCOMPARE(models.count(), 0);
    QVERIFY(tests::close(desktop));
  }

 private:
  // In the history of the program that is started next.
  static qint64 make_folder(const std::string& preset, const std::string& model) {
    auto history = app::history::History::open(app::history_file());
    if (!history) return 0;
    const auto made = history->create_folder("Work");
    return made && history->set_folder_defaults(made->id, preset, model) ? made->id : 0;
  }

  std::unique_ptr<tests::DataFolder> folder_;
};
FOVEA_TEST(PresetsTest)

#include "presets_test.moc"
