// The window in German: every text is translated, and says the same with the same numbers in it.
#include "ui/language/language.h"

#include <QCoreApplication>
#include <QDialogButtonBox>
#include <QFile>
#include <QLocale>
#include <QMenuBar>
#include <QProcess>
#include <QPushButton>
#include <QRegularExpression>
#include <QTranslator>
#include <QXmlStreamReader>
#include <nlohmann/json.hpp>
#include <set>

#include "app/download/errors.h"
#include "app/files/error_json.h"
#include "app/history/errors.h"
#include "app/history/history.h"
#include "app/library/device_choice.h"
#include "app/live/panel_files.h"
#include "app/window/desktop.h"
#include "app/window/model_rows.h"
#include "app/window/conversation_view.h"
#include "app/window/wizard_downloads.h"
#include "app/words/error_words.h"
#include "app/words/tier_words.h"
#include "engine/api/model_info.h"
#include "engine/checkpoint/errors.h"
#include "engine/core/device_words.h"
#include "engine/precision/errors.h"
#include "tests/support/environment.h"
#include "tests/support/test.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/composer.h"
#include "ui/settings/settings_page.h"

using namespace fovea;

namespace {

const QString folder = QStringLiteral(FOVEA_SOURCE_DIR "/resources/translations");

struct Text {
  QString context = {}, source = {};
  QStringList translations = {};  // several: plural forms
  bool plural = false, finished = true;
  QString place() const { return context + QStringLiteral(": ") + source; }
};

std::vector<Text> read(const QString& path) {
  std::vector<Text> texts;
  QFile file(path);
  if (!file.open(QFile::ReadOnly)) return texts;
  QXmlStreamReader xml(&file);
  QString context;
  bool has_forms = false;
  while (!xml.atEnd()) {
    xml.readNext();
    if (!xml.isStartElement()) continue;
    if (xml.name() == QLatin1String("name")) {
      context = xml.readElementText();
    } else if (xml.name() == QLatin1String("message")) {
      texts.push_back(
          {.context = context, .plural = xml.attributes().hasAttribute(QStringLiteral("numerus"))});
    } else if (xml.name() == QLatin1String("source")) {
      texts.back().source = xml.readElementText();
    } else if (xml.name() == QLatin1String("translation")) {
      texts.back().finished = !xml.attributes().hasAttribute(QStringLiteral("type"));
      has_forms = texts.back().plural;
      if (!has_forms) texts.back().translations += xml.readElementText();
    } else if (xml.name() == QLatin1String("numerusform") && has_forms) {
      texts.back().translations += xml.readElementText();
    }
  }
  return texts;
}

// %1, %n …, and what must stand in both: the number of tags and of line ends.
QStringList marks(const QString& text) {
  static const QRegularExpression mark(QStringLiteral("%L?(?:[0-9]+|n)|<[^>]*>|\n"));
  QStringList found;
  for (auto each = mark.globalMatch(text); each.hasNext();) found += each.next().captured();
  found.sort();
  return found;
}

// Words of the command line, of files and of libraries, which the window says in others. What a file is
// called stands only where files are chosen.
bool names_machinery(const QString& text) {
  static const QRegularExpression words(QStringLiteral(
      R"((^|\s)--[a-z]|\bq[2-8]\b|\bbf16\b|GGUF|safetensors|FOVEA_|HF_|(?i:dynaexq)|CUDA|\.so\b)"
      R"(|\bblk\.|(?<!\*)\.gguf)"));
  return words.match(text).hasMatch();
}

QString fault_of(const Text& text) {
  // Where lupdate did not see the class, nobody asks for the text under the name that it has taken.
  // Qt asks for the names of its buttons.
  if (!text.context.startsWith(QStringLiteral("fovea::")) && text.context != QStringLiteral("QPlatformTheme"))
    return QStringLiteral("has no namespace");
  if (!text.finished) return QStringLiteral("is not finished");
  for (const QString& translation : text.translations) {
    if (translation.trimmed().isEmpty()) return QStringLiteral("is empty");
    QStringList wanted = marks(text.source), there = marks(translation);
    if (text.plural) {  // one form may leave the number out
      for (const QString& number : {QStringLiteral("%n"), QStringLiteral("%Ln")}) {
        wanted.removeAll(number);
        there.removeAll(number);
      }
    }
    if (wanted != there)
      return QStringLiteral("has %1 instead of %2")
          .arg(there.join(QLatin1Char(' ')), wanted.join(QLatin1Char(' ')));
    if (text.source.endsWith(QStringLiteral("…")) != translation.endsWith(QStringLiteral("…")))
      return QStringLiteral("differs in its last …");
    if (text.source.front().isSpace() != translation.front().isSpace() ||
        text.source.back().isSpace() != translation.back().isSpace())
      return QStringLiteral("differs in its outer spaces");
  }
  return {};
}

}  // namespace

class LanguageTest : public QObject {
  Q_OBJECT

  const tests::TemporaryFolder folder_;

  static QString q(const std::filesystem::path& path) { return QString::fromStdString(path.string()); }
  static QByteArray content(const QString& path) {
    QFile file(path);
    return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
  }
  QString put(const char* name, const QByteArray& bytes) {
    QFile file(q(folder_.path() / name));
    return file.open(QFile::WriteOnly) && file.write(bytes) == bytes.size() ? file.fileName() : QString();
  }
  // The golden folder with one word of its configuration changed.
  QString with_config(const std::string& golden, const char* from, const char* to) {
    const std::filesystem::path copy = folder_.path() / golden;
    std::filesystem::create_directories(copy.parent_path());
    std::filesystem::copy(tests::golden(golden), copy, std::filesystem::copy_options::recursive);
    QByteArray config = content(q(copy / "config.json"));
    put((golden + "/config.json").c_str(), config.replace(from, to));
    return q(copy);
  }

 private Q_SLOTS:
  void cleanup() {
    ui::use_language(QStringLiteral("en"));
    QLocale::setDefault(QLocale::c());
  }

  void everythingIsTranslated_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<int>("least");
    QTest::newRow("de") << QStringLiteral("fovea_de.ts") << 400;
    QTest::newRow("en, plurals") << QStringLiteral("fovea_en.ts") << 5;
  }
  void everythingIsTranslated() {
    QFETCH(QString, file);
    QFETCH(int, least);
    const std::vector<Text> texts = read(folder + QLatin1Char('/') + file);
    QVERIFY(static_cast<int>(texts.size()) >= least);
    QStringList faults;
    for (const Text& text : texts) {
      if (const QString fault = fault_of(text); !fault.isEmpty())
        faults += text.place() + QLatin1Char(' ') + fault;
    }
    QVERIFY2(faults.isEmpty(), qPrintable(faults.join(QLatin1Char('\n'))));
  }

  void theChecksCanFail_data() {
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("translation");
    QTest::newRow("empty") << QStringLiteral("Open") << QString();
    QTest::newRow("another number") << QStringLiteral("%1 of %2") << QStringLiteral("%1 von %1");
    QTest::newRow("one left out") << QStringLiteral("%1 of %2") << QStringLiteral("%1");
    QTest::newRow("a tag") << QStringLiteral("<b>now</b>") << QStringLiteral("<b>jetzt<b>");
    QTest::newRow("dots") << QStringLiteral("Open…") << QStringLiteral("Öffnen");
    QTest::newRow("space") << QStringLiteral(" %1") << QStringLiteral("%1");
  }
  void theChecksCanFail() {
    QFETCH(QString, source);
    QFETCH(QString, translation);
    Text text{.context = QStringLiteral("fovea::Words"), .source = source, .translations = {translation}};
    QVERIFY(!fault_of(text).isEmpty());
    text.translations = {source};
    QVERIFY(fault_of(text).isEmpty());
    text.context = QStringLiteral("Words");
    QVERIFY(!fault_of(text).isEmpty());
  }

  void theWindowSpeaksAsPeopleDo() {
    for (const char* text : {"as fovea does without --device", "hot experts at q4", "libcuda.so.1",
                             "Loading blk.2.expert.11", "Open a GGUF file…", "Experts (DynaExq)"})
      QVERIFY2(names_machinery(QLatin1String(text)), text);
    QStringList found;
    for (const Text& text : read(folder + QStringLiteral("/fovea_de.ts")))
      if (names_machinery(text.source)) found += text.place();
    QVERIFY2(found.isEmpty(), qPrintable(found.join(QLatin1Char('\n'))));
  }

  // The source has no text that the files do not know, and no text is left that the source no longer has.
  void theFilesKnowEveryTextOfTheSource_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<bool>("plurals");
    QTest::newRow("de") << QStringLiteral("fovea_de.ts") << false;
    QTest::newRow("en, plurals") << QStringLiteral("fovea_en.ts") << true;
  }
  void theFilesKnowEveryTextOfTheSource() {
    QFETCH(QString, file);
    QFETCH(bool, plurals);
    const tests::TemporaryFolder work;
    const QString collected = QString::fromStdString((work.path() / "new.ts").string());
    const QString root = QStringLiteral(FOVEA_SOURCE_DIR);
    QStringList arguments{QStringLiteral("-silent"),
                          QStringLiteral("-locations"),
                          QStringLiteral("none"),
                          QStringLiteral("-source-language"),
                          QStringLiteral("en"),
                          QStringLiteral("-I"),
                          root,
                          root + QStringLiteral("/ui"),
                          root + QStringLiteral("/app"),
                          QStringLiteral("-ts"),
                          collected};
    if (plurals) arguments.prepend(QStringLiteral("-pluralonly"));
    QCOMPARE(QProcess::execute(QStringLiteral(FOVEA_LUPDATE), arguments), 0);
    const auto places = [](const std::vector<Text>& texts) {
      std::set<QString> all;
      for (const Text& text : texts) all.insert(text.place());
      return all;
    };
    const std::set<QString> wanted = places(read(collected));
    const std::set<QString> there = places(read(folder + QLatin1Char('/') + file));
    QVERIFY(!wanted.empty());
    QStringList differences;
    for (const QString& place : wanted)
      if (!there.contains(place)) differences += QStringLiteral("missing: ") + place;
    for (const QString& place : there)
      if (!wanted.contains(place)) differences += QStringLiteral("no longer used: ") + place;
    QVERIFY2(differences.isEmpty(),
             qPrintable(differences.join(QLatin1Char('\n')) +
                        QStringLiteral("\ncmake --build build/release --target translations collects them")));
  }

  void theWindowSpeaksGerman() {
    const tests::DataFolder data;
    std::filesystem::create_directories(app::settings_path().parent_path());
    QFile settings(QString::fromStdString(app::settings_path().string()));
    QVERIFY(settings.open(QFile::WriteOnly));
    settings.write(R"({"appearance": {"language": "de"}})");
    settings.close();
    app::Desktop desktop({});
    desktop.start();
    QCOMPARE(desktop.window().menuBar()->actions().constFirst()->text(), QStringLiteral("&Datei"));
    Q_EMIT desktop.window().settingsRequested();
    auto* dialog = desktop.window().findChild<ui::SettingsPage*>();
    QVERIFY(dialog);
    QCOMPARE(dialog->windowTitle(), QStringLiteral("Einstellungen"));
    Q_EMIT dialog->left();
    QSignalSpy closed(&desktop, &app::Desktop::closed);
    desktop.window().close();
    QVERIFY(closed.count() == 1 || closed.wait(60'000));
  }

  // Also where the system does not have Qt's own translations.
  void qtsButtonsAreInTheLanguage() {
    ui::use_language(QStringLiteral("de"));
    for (auto* translator : QCoreApplication::instance()->findChildren<QTranslator*>())
      if (translator->filePath().contains(QStringLiteral("qtbase"))) delete translator;
    QDialogButtonBox buttons(QDialogButtonBox::Open | QDialogButtonBox::Cancel | QDialogButtonBox::Close);
    QCOMPARE(buttons.button(QDialogButtonBox::Open)->text(), QStringLiteral("Öffnen"));
    QCOMPARE(buttons.button(QDialogButtonBox::Cancel)->text(), QStringLiteral("Abbrechen"));
    QCOMPARE(buttons.button(QDialogButtonBox::Close)->text(), QStringLiteral("Schließen"));
  }

  void pluralsAreRight() {
    const auto one = [](int count) {
      return QCoreApplication::translate("fovea::app::ConversationController",
                                         "%n oldest message(s) no longer fit and were left out", nullptr,
                                         count);
    };
    ui::use_language(QStringLiteral("en"));
    QCOMPARE(one(1), QStringLiteral("The oldest message no longer fits and was left out"));
    QCOMPARE(one(3), QStringLiteral("The 3 oldest messages no longer fit and were left out"));
    ui::use_language(QStringLiteral("de"));
    QCOMPARE(one(1), QStringLiteral("Die älteste Nachricht passt nicht mehr und wurde weggelassen"));
    QCOMPARE(one(3), QStringLiteral("Die 3 ältesten Nachrichten passen nicht mehr und wurden weggelassen"));
  }

  // A headline that says what kind of trouble it is, then the error's own sentences.
  void errorsAreInTheLanguage() {
    const Error damaged = errors::gguf_dimensions("\"x\"", 9)
                              .at(phrases::offset_place(std::filesystem::path("model.gguf"), 12))
                              .advise(phrases::download_again());
    const Error full = errors::conversation_too_long(300, 256, 4).at(phrases::file_place("prompt"));
    ui::use_language(QStringLiteral("en"));
    for (const Error& error : {damaged, full})
      QCOMPARE(app::error_words(error), QString::fromStdString(error.message()));
    ui::use_language(QStringLiteral("de"));
    QCOMPARE(app::error_words(damaged),
             QStringLiteral(
                 "Eine Datei ist beschädigt oder nicht das, was sie sein soll: model.gguf, Stelle 12: "
                 "Tensor \"x\" hat 9 Dimensionen, erwartet waren 1 bis 4. Laden Sie die Datei noch einmal "
                 "herunter"));
    QVERIFY2(app::error_words(full).endsWith(QStringLiteral("die 4 ältesten Nachrichten wegfallen")),
             qPrintable(app::error_words(full)));
    const Error one = errors::conversation_too_long(300, 256, 1);
    QVERIFY2(app::error_words(one).endsWith(QStringLiteral("die 1 älteste Nachricht wegfallen")),
             qPrintable(app::error_words(one)));
    // Every kind has its headline.
    for (int kind = 0; kind <= static_cast<int>(ErrorKind::internal); ++kind) {
      Error error = errors::cannot_read(Said{"what"});
      error.kind = static_cast<ErrorKind>(kind);
      QVERIFY2(!app::error_words(error).startsWith(QStringLiteral("kann nicht")),
               qPrintable(app::error_words(error)));
      QVERIFY2(app::error_words(error).contains(QStringLiteral(": kann nicht gelesen werden: what. ")),
               qPrintable(app::error_words(error)));
    }
  }

  // Advice for the command line is no sentence of the window's: it stands behind Details.
  void adviceForTheCommandLineIsDetails() {
    for (const char* language : {"en", "de"}) {
      ui::use_language(QLatin1String(language));
      const Error plain = errors::cannot_read(Said{"Permission denied"});
      QCOMPARE(app::error_text(plain).text, app::error_words(plain));
      QVERIFY(app::error_text(plain).details.isEmpty());
      const Error flags = errors::offload_flags_of_another_policy();
      QVERIFY(app::error_text(flags).details.contains(QStringLiteral("--policy offload")));
      QCOMPARE(app::error_text(flags).text + QLatin1Char(' ') + app::error_text(flags).details,
               app::error_words(flags));
    }
  }

  // A sentence that advises nothing is said once.
  void whatAdvisesNothingIsSaidOnce() {
    const Error damaged = errors::gguf_dimensions("x", 9);
    for (const char* language : {"en", "de"}) {
      ui::use_language(QLatin1String(language));
      QCOMPARE(app::error_words(damaged).count(QLatin1Char('9')), 1);
      QVERIFY2(app::error_text(damaged).details.count(QLatin1Char('9')) == 1 &&
                   !app::error_text(damaged).text.contains(QLatin1Char('9')),
               qPrintable(app::error_text(damaged).text));
    }
  }

  // What stands in a model's file is for those who ask; everybody else learns what is wrong and what to do.
  void aFilesInsidesAreDetails() {
    const Error damaged = errors::gguf_dimensions("\"blk.2\"", 9)
                              .at(phrases::file_place(std::filesystem::path("model.gguf")))
                              .advise(phrases::download_again());
    ui::use_language(QStringLiteral("en"));
    QCOMPARE(app::error_text(damaged).text,
             QStringLiteral("A file is damaged or is not what was expected. Download the file again"));
    QCOMPARE(app::error_text(damaged).details,
             QStringLiteral("model.gguf: tensor \"blk.2\" has 9 dimensions, expected 1 to 4"));
    ui::use_language(QStringLiteral("de"));
    QCOMPARE(app::error_text(damaged).text,
             QStringLiteral(
                 "Eine Datei ist beschädigt oder nicht das, was sie sein soll. Laden Sie die Datei noch "
                 "einmal herunter"));
    QVERIFY(
        app::error_text(damaged).details.startsWith(QStringLiteral("model.gguf: Tensor \"blk.2\" hat 9")));
    ui::use_language(QStringLiteral("en"));
    // Of what Fovea cannot do, what has a name in the file; a card's name is none of those.
    const Phrase file = phrases::file_place(std::filesystem::path("config.json"));
    QCOMPARE(app::error_text(errors::gguf_array_of_arrays("qwen2moe.list").at(file)).text,
             QStringLiteral("Fovea cannot do this. Convert the model again with current tools"));
    QCOMPARE(app::error_text(errors::before_gguf().at(file)).details, QString());
    const app::ErrorText card =
        app::error_text(errors::device_unusable("A card", std::vector{phrases::no_nvidia_driver()}));
    QVERIFY2(card.text.startsWith(QStringLiteral("A card cannot be used: ")), qPrintable(card.text));
    QCOMPARE(card.details, QStringLiteral("Choose --device cpu"));
  }

  // How an answer came about: no words of the command line or of files, which the history keeps.
  void factsOfAnAnswerAreWords() {
    app::history::Message message;
    message.role = app::history::Role::assistant;
    message.origin.policy = "dynaexq file/q4";
    message.origin.settings = R"({"temperature": 0.7, "top_p": 0.9, "max_tokens": 50, "thinking": true})";
    const auto facts = [&] {
      QStringList lines;
      for (const ui::MessageFact& fact : app::view_of(message, {}).facts)
        lines += fact.name + QStringLiteral(": ") + fact.value;
      return lines;
    };
    ui::use_language(QStringLiteral("en"));
    QCOMPARE(
        facts(),
        (QStringList{QStringLiteral("Precision: hot experts at the file's precision, the others at 4 bits"),
                     QStringLiteral("Sampling: Temperature 0.7 · Top-p 0.9"),
                     QStringLiteral("Settings: Longest answer 50 · Thinking yes")}));
    ui::use_language(QStringLiteral("de"));
    const QLocale before;
    QLocale::setDefault(QLocale(QLocale::German));
    QCOMPARE(facts(),
             (QStringList{
                 QStringLiteral("Genauigkeit: gefragte Experten mit Dateigenauigkeit, die anderen mit 4 Bit"),
                 QStringLiteral("Sampling: Temperatur 0,7 · Top-p 0,9"),
                 QStringLiteral("Einstellungen: Längste Antwort 50 · Nachdenken ja")}));
    QLocale::setDefault(before);
    message.origin.policy = "none";
    QVERIFY(facts().contains(QStringLiteral("Genauigkeit: Gewichte wie in der Datei")));
    message.origin.policy = "from another program";
    QVERIFY(facts().contains(QStringLiteral("Genauigkeit: from another program")));
    QCOMPARE(app::published_name("gpt-oss-20b, as published"),
             QStringLiteral("gpt-oss-20b, wie veröffentlicht"));
    QCOMPARE(app::published_name("Qwen3, 8 bits"), QStringLiteral("Qwen3, 8 Bit"));
    QCOMPARE(app::published_name("a, b.gguf"), QStringLiteral("a, b.gguf"));
    ui::use_language(QStringLiteral("en"));
    QCOMPARE(app::published_name("gpt-oss-20b, as published"), QStringLiteral("gpt-oss-20b, as published"));
  }

  // What others said stays as it is, whatever it looks like; sizes have the language's decimal point.
  void whatVariesIsPutIn() {
    ui::use_language(QStringLiteral("de"));
    QVERIFY(app::error_words(errors::cannot_write(Said{"%1 {said} 1.5"}))
                .contains(QStringLiteral("%1 {said} 1.5")));
    QVERIFY2(
        app::error_words(errors::download_disk_full(Bytes{std::int64_t{5} << 19}, Bytes{2}))
            .contains(QStringLiteral("2,62\u00A0MB")),
        qPrintable(app::error_words(errors::download_disk_full(Bytes{std::int64_t{5} << 19}, Bytes{2}))));
  }

  // The build sees to it that each code has a translation; here that the window finds it.
  void everyCodeIsTranslated() {
    ui::use_language(QStringLiteral("de"));
    QVERIFY(app::error_table().size() > 500);
    QStringList missing;
    for (const Code& code : app::error_table()) {
      const QByteArray id(code.id.data(), std::ssize(code.id));
      const auto is_there = [&](const char* which) {
        return QCoreApplication::translate("errors", id.constData(), which) != QLatin1String(id);
      };
      if (!is_there(nullptr) || (!code.advice.empty() && !is_there("advice"))) missing += QLatin1String(id);
    }
    QVERIFY2(missing.isEmpty(), qPrintable(missing.join(QLatin1Char(' '))));
  }

  // As the engine says them, of the files that people meet.
  void whatPeopleMeetIsInTheLanguage_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const QString& file, const char* says) {
      QTest::newRow(name) << file << QString::fromUtf8(says);
    };
    const QByteArray experts = content(q(tests::golden("models/experts.gguf")));
    row("another architecture", with_config("chat", "\"qwen3_moe\"", "\"mamba\""),
        "model_type ist \"mamba\", eine Architektur, die Fovea nicht unterstützt; unterstützt werden: ");
    row("packed otherwise", with_config("quantized/gptq", "\"gptq\"", "\"bitsandbytes\""),
        "quant_method in quantization_config ist \"bitsandbytes\", Fovea liest gptq, awq und auto-round");
    row("no GGUF", put("page.gguf", "<html>"),
        "die Datei beginnt mit \"<htm\", eine GGUF-Datei beginnt mit \"GGUF\"");
    row("another version", put("new.gguf", QByteArray("GGUF\x09\0\0\0", 8)),
        "die GGUF-Version ist 9, Fovea liest 2 und 3. Wandeln Sie");
    row("cut in its head", put("cut.gguf", experts.first(40)),
        "die Zahl der Tensoren ist 27, die Datei kann höchstens 0 enthalten");
    row("cut in its weights", put("short.gguf", experts.chopped(1000)), "sie ist nicht vollständig");
    row("a newer trace", put("new.trace", QByteArray("FOVTRACE\x63\0\0\0", 12)),
        "die Spur hat Version 99, dieses Programm liest Version ");
    row("no recording", put("other.json", "{}\n"), "dies ist keine Aufzeichnung von Experten");
  }
  void whatPeopleMeetIsInTheLanguage() {
    QFETCH(QString, file);
    QFETCH(QString, says);
    ui::use_language(QStringLiteral("de"));
    const std::filesystem::path path = file.toStdString();
    const bool is_model = path.extension() == ".gguf" || std::filesystem::is_directory(path);
    const auto error_of = [](const auto& result) {
      return result ? QStringLiteral("it succeeded") : app::error_words(result.error());
    };
    const QString error = is_model ? error_of(inspect(path)) : error_of(app::open_recording(path));
    QVERIFY2(error.contains(says), qPrintable(error));
  }

  // What is said of the settings' and the conversations' files when they are opened.
  void noticesAreInTheLanguage() {
    ui::use_language(QStringLiteral("de"));
    static const QRegularExpression english(QStringLiteral("\\b(a|the|or|could|from|with)\\b"));
    // Each setting with a value that fits none of them.
    app::Settings other;
    other.temperature = other.top_p = other.min_p = other.repetition_penalty = 0.5;
    other.top_k = other.max_tokens = 1;
    other.language = other.device = other.device_description = other.window_geometry = other.window_state =
        "x";
    other.theme = app::ThemeChoice::dark;
    other.send_key = app::SendKey::control_enter;
    other.text_percent = other.context_tokens = 60;
    other.show_live_panel = !other.show_live_panel;
    other.hottest_first = true;
    other.offline = true;
    other.model_folders = other.recent_models = {"x"};
    other.model_setups.resize(1);
    other.budget_gb = 1;
    other.system_prompts.resize(1);
    other.prompts.resize(1);
    const std::filesystem::path path = folder_.path() / "settings.json";
    app::SettingsFile file(path);
    FOVEA_VERIFY(file.update([&](app::Settings& s) { s = other; }));
    auto json = nlohmann::json::parse(content(q(path)).toStdString());
    int fields = 0;
    for (auto& group : json)
      for (auto& value : group) value = {{"x", ++fields}};
    QVERIFY(fields > 20);
    put("settings.json", QByteArray::fromStdString(json.dump()));
    FOVEA_VERIFY(file.load());
    std::vector<Phrase> notices = file.take_notices();
    QCOMPARE(static_cast<int>(notices.size()), fields);
    put("settings.json", R"({"appearance": 5})");
    FOVEA_VERIFY(file.load());
    for (const char* broken : {"{ no", "[]"}) {
      put("settings.json", broken);
      FOVEA_VERIFY(file.load());
    }
    // A file of conversations that is damaged, and one that a newer program wrote.
    put("history.db", QByteArray(5000, 'x'));
    auto history = app::history::History::open(folder_.path() / "history.db");
    FOVEA_VERIFY(history);
    for (const auto& more : {file.take_notices(), history->opening().notices})
      notices.insert(notices.end(), more.begin(), more.end());
    notices.push_back(phrases::history_newer(std::filesystem::path("h.db")));
    notices.push_back(phrases::history_saved(3));
    for (const Phrase& notice : notices) {
      QString said = app::sentence_words(notice);
      said.remove(QRegularExpression(QStringLiteral("\\([^)]*\\)")));  // SQLite's own words
      QVERIFY2(!said.contains(english), qPrintable(said));
    }
  }

  void whyThereIsNoGpuIsInTheLanguage() {
    ui::use_language(QStringLiteral("de"));
    using Kind = kernels::Obstacle::Kind;
    QCOMPARE(app::sentence_words(fovea::phrase_of(
                 kernels::Obstacle{.kind = Kind::no_driver, .said = "libcuda.so.1: cannot open"})),
             QStringLiteral("hier ist kein NVIDIA-Treiber (libcuda.so.1: cannot open)"));
    const auto offers =
        app::device_offers({DeviceInfo{}}, fovea::phrase_of(kernels::Obstacle{.kind = Kind::no_device}), {});
    QVERIFY2(offers[0].why.endsWith(QStringLiteral(": der NVIDIA-Treiber nennt keine GPU.")),
             qPrintable(offers[0].why));
  }

  void whyADownloadRestsIsInTheLanguage() {
    ui::use_language(QStringLiteral("de"));
    app::DownloadStatus status;
    status.state = app::DownloadState::failed;
    status.error = errors::server_trouble(500).at(phrases::file_place("hub"));
    QCOMPARE(app::row_of(status).text,
             QStringLiteral("Fehlgeschlagen. Der Zugriff ist fehlgeschlagen: hub: der Server hat ein Problem "
                            "(Status 500). Versuchen Sie es später noch einmal"));
    status.state = app::DownloadState::disk_full;
    status.error =
        errors::download_disk_full(Bytes{5'000'000}, Bytes{2'000'000}).at(phrases::file_place("/m"));
    QVERIFY2(app::row_of(status).text.contains(QStringLiteral(
                 "auf dem Laufwerk ist zu wenig Platz: 5,00\u00A0MB werden gebraucht, 2,00\u00A0MB sind "
                 "frei. Schaffen Sie Platz")),
             qPrintable(app::row_of(status).text));
    status.state = app::DownloadState::waiting;
    status.error.reset();
    QCOMPARE(app::row_of(status).text,
             QStringLiteral("Ein anderes Programm lädt diese Datei gerade herunter"));
    // And what the wizard shows of it.
    app::DownloadWorkerSettings settings;
    settings.network.offline = true;
    settings.downloads.job.cache = app::HubCache(folder_.path() / "hub");
    app::DownloadWorker worker(settings);
    app::WizardDownloads wizard(worker);
    app::WizardDownload shown;
    connect(&wizard, &app::WizardDownloads::changed, this, [&](const app::WizardDownload& d) { shown = d; });
    wizard.start(QStringLiteral("org/model"), QStringLiteral("m.gguf"));
    app::ModelChoice choice;
    choice.name = "m";
    choice.files = {{"m.gguf", 1, std::string(40, 'a'), {}}};
    Q_EMIT worker.listed(QStringLiteral("org/model"), {}, {choice});
    status.name = "m";
    Q_EMIT worker.changed(status);
    QCOMPARE(q(shown.words), QStringLiteral("Ein anderes Programm lädt diese Datei gerade herunter"));
    status.state = app::DownloadState::failed;
    status.error = errors::server_trouble(500).at(phrases::file_place("hub"));
    Q_EMIT worker.changed(status);
    QVERIFY2(q(shown.error).contains(QStringLiteral("der Server hat ein Problem")), shown.error.c_str());
    QVERIFY(shown.error_details.empty() && app::row_of(status).details.isEmpty());
    // A file's insides stand behind Details.
    status.error = errors::gguf_dimensions("\"blk.2\"", 9).at(phrases::file_place("m.gguf"));
    Q_EMIT worker.changed(status);
    QVERIFY2(!q(shown.error).contains(QStringLiteral("Dimensionen")), shown.error.c_str());
    QVERIFY2(q(shown.error_details).contains(QStringLiteral("Dimensionen")), shown.error_details.c_str());
    QCOMPARE(app::row_of(status).details, q(shown.error_details));
  }

  void anUnknownLanguageIsEnglish() {
    QCOMPARE(ui::chosen_language(QStringLiteral("xx")), QStringLiteral("en"));  // the tests' locale is C
    QCOMPARE(ui::chosen_language(QStringLiteral("de")), QStringLiteral("de"));
  }
};
FOVEA_TEST(LanguageTest)

#include "language_test.moc"
