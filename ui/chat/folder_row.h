// How the sidebar draws a folder: an arrow that says whether it is open, its name, and at the end, where
// it is closed, how many conversations are in it or, under the pointer, a plus for a new one.
#pragma once

#include <QRect>

class QPainter;
class QString;
class QStyleOptionViewItem;

namespace fovea::ui {

struct FolderLook {
  int conversations = 0;
  bool collapsed = false;
};

inline constexpr int folder_indent = 18;  // of what is in it

// Where the pointer begins a new chat in it.
QRect folder_plus(const QRect& row);
void paint_folder(QPainter& painter, const QStyleOptionViewItem& option, const QString& name,
                  const FolderLook& look);

}  // namespace fovea::ui
