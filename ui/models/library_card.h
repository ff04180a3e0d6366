// A model on this computer: its card, what can be done with it, and what there is to know of it.
#pragma once

#include "ui/models/model_card.h"

class QAction;

namespace fovea::ui {

class ModelDetails;

class LibraryCard : public ModelCard {
  Q_OBJECT

 public:
  explicit LibraryCard(QWidget* parent = nullptr);

  void show_model(const LibraryRow& row);
  const LibraryRow& model() const { return row_; }
  bool has(const QString& text) const;  // among its words
  // While a model is prepared, checked or deleted another one must wait.
  void set_busy(bool busy);
  void set_details(bool shown);
  bool shows_details() const;

 Q_SIGNALS:
  void openRequested();
  void prepareRequested();
  void checkRequested();
  void removeRequested();
  void showInFolderRequested();
  void detailsShown(bool shown);  // by the user

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void update_actions();
  void toggle_details();

  LibraryRow row_;
  bool busy_ = false, pressed_ = false;
  ModelDetails* details_;
  QAction *details_action_, *prepare_, *check_, *folder_, *remove_;
};

}  // namespace fovea::ui
