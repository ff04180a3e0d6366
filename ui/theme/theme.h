// Fovea's light and dark palettes, and the few colours that a QPalette has no role for.
#pragma once

#include <QColor>
#include <QFont>
#include <QPalette>
#include <QStringList>

class QApplication;

namespace fovea::ui {

enum class Scheme { light, dark };

// What the desktop prefers, read from its palette before ours replaces it.
Scheme preferred_scheme();

// Fusion, our palette, and the application's font sizes. Call once, after the QApplication is made.
void apply_theme(QApplication& application, Scheme scheme);

// The desktop's, but Inter where it is among `families`.
QFont interface_font(QFont desktop, const QStringList& families);

// Colours that depend on the palette in use.
QColor code_background(const QPalette& palette);
QColor user_bubble(const QPalette& palette);
QColor subtle_text(const QPalette& palette);
QColor quiet_text(const QPalette& palette);  // between text and subtle text: quotes, reasoning
QColor found_background(const QPalette& palette, bool current);  // of what a search found
QColor found_text(const QPalette& palette, bool current);
QColor hairline(const QPalette& palette);
QColor field_edge(const QPalette& palette);  // 3 : 1 and above on both grounds
QColor hover_background(const QPalette& palette);
QColor warning_text(const QPalette& palette);
QColor error_text(const QPalette& palette);
QColor error_background(const QPalette& palette);

}  // namespace fovea::ui
