// The second page: what matters to the user.
#pragma once

#include <QWidget>

#include "ui/wizard/wizard_view.h"

class QButtonGroup;

namespace fovea::ui {

class WishPage : public QWidget {
  Q_OBJECT

 public:
  explicit WishPage(QWidget* parent = nullptr);
  void set_wish(WishView wish);

 Q_SIGNALS:
  void chosen(fovea::ui::WishView wish);

 private:
  void add(WishView wish, const QString& name, const QString& text);

  QButtonGroup* group_;
};

}  // namespace fovea::ui
