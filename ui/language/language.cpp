#include "ui/language/language.h"

#include <QCoreApplication>
#include <QLibraryInfo>
#include <QLocale>
#include <QTranslator>
#include <algorithm>

// Must be outside of any namespace: a static library's resources are not found otherwise.
static void load_translations() {
  Q_INIT_RESOURCE(translations);
}

namespace fovea::ui {
namespace {

// Qt's own buttons, where the system lacks their translation.
[[maybe_unused]] constexpr const char* qt_buttons[] = {
    QT_TRANSLATE_NOOP("QPlatformTheme", "OK"),    QT_TRANSLATE_NOOP("QPlatformTheme", "Save"),
    QT_TRANSLATE_NOOP("QPlatformTheme", "Open"),  QT_TRANSLATE_NOOP("QPlatformTheme", "&Yes"),
    QT_TRANSLATE_NOOP("QPlatformTheme", "&No"),   QT_TRANSLATE_NOOP("QPlatformTheme", "Cancel"),
    QT_TRANSLATE_NOOP("QPlatformTheme", "Close"), QT_TRANSLATE_NOOP("QPlatformTheme", "Apply")};

void install(const QString& name, const QString& folder) {
  auto* translator = new QTranslator(QCoreApplication::instance());
  translator->setObjectName(QStringLiteral("language"));
  if (translator->load(name, folder)) {
    QCoreApplication::installTranslator(translator);
  } else {
    delete translator;
  }
}

}  // namespace

const std::vector<WindowLanguage>& languages() {
  static const std::vector<WindowLanguage> all{{QStringLiteral("en"), QStringLiteral("English")},
                                               {QStringLiteral("de"), QStringLiteral("Deutsch")}};
  return all;
}

QString chosen_language(const QString& wanted) {
  const auto there = [](const QString& code) {
    return std::ranges::find(languages(), code, &WindowLanguage::code) != languages().end();
  };
  if (there(wanted)) return wanted;
  for (const QString& name : QLocale::system().uiLanguages()) {
    const QString code = name.section(QLatin1Char('-'), 0, 0);
    if (there(code)) return code;
  }
  return languages().front().code;
}

void use_language(const QString& wanted) {
  load_translations();
  for (auto* before : QCoreApplication::instance()->findChildren<QTranslator*>(QStringLiteral("language")))
    delete before;  // takes itself out
  const QString code = chosen_language(wanted);
  if (!wanted.isEmpty()) QLocale::setDefault(QLocale(code));
  install(QStringLiteral("qtbase_") + code, QLibraryInfo::path(QLibraryInfo::TranslationsPath));
  install(QStringLiteral("fovea_") + code, QStringLiteral(":/translations"));
  install(QStringLiteral("errors_") + code, QStringLiteral(":/translations"));
}

}  // namespace fovea::ui
