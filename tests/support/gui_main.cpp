#include <QApplication>
#include <QFontInfo>
#include <cstdio>
#include <cstdlib>

#include "tests/support/test.h"

namespace {

// FOVEA_TEST_SCREEN: one of tests/support/screens, the smallest that Fovea is for unless told otherwise,
// instead of the square one that Qt's offscreen platform has.
void use_screen() {
  if (qgetenv("QT_QPA_PLATFORM") != "offscreen") return;
  const QByteArray screen =
      qEnvironmentVariableIsSet("FOVEA_TEST_SCREEN") ? qgetenv("FOVEA_TEST_SCREEN") : "1280x720";
  qputenv("QT_QPA_PLATFORM",
          "offscreen:configfile=" FOVEA_SOURCE_DIR "/tests/support/screens/" + screen + ".json");
}

// FOVEA_TEST_FONT: the family that the desktop is said to have chosen.
bool use_font() {
  const QString family = qEnvironmentVariable("FOVEA_TEST_FONT");
  if (family.isEmpty()) return true;
  QFont font = QApplication::font();
  font.setFamily(family);
  QApplication::setFont(font);
  if (QFontInfo(font).family() == family) return true;
  std::fprintf(stderr, "the font %s is not installed\n", qPrintable(family));
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  use_screen();
  const QApplication application(argc, argv);
  return use_font() ? fovea::tests::run(argc, argv) : EXIT_FAILURE;
}
