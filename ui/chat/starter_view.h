// What stands in an empty conversation of a model that suggests how to begin: what it is, and some questions.
#pragma once

#include <QAbstractButton>
#include <QString>
#include <QWidget>
#include <vector>

class QGridLayout;
class QLabel;

namespace fovea::ui {

struct Starter {
  QString title;  // "A tale"
  QString text;   // what is asked when it is chosen
};

// A card with a title and a line of text, or two.
class StarterCard : public QAbstractButton {
  Q_OBJECT

 public:
  StarterCard(const Starter& starter, QWidget* parent);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;
  bool wraps(int width) const;  // its text, in a card so wide
  void set_lines(int lines);    // that it has room for

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QFont title_font() const;
  Starter starter_;
  int lines_ = 1;
};

class StarterView : public QWidget {
  Q_OBJECT

 public:
  explicit StarterView(QWidget* parent = nullptr);
  // `about`: one line on the model.
  void set_starters(const QString& about, const std::vector<Starter>& starters);
  bool is_empty() const { return cards_.empty(); }
  // It never makes the window larger: in a small one it is cut off at its end.
  QSize minimumSizeHint() const override { return {0, 0}; }
  QSize sizeHint() const override;

 Q_SIGNALS:
  void chosen(const QString& text);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void arrange();

  QLabel* title_;
  QLabel* about_;
  QGridLayout* grid_;
  std::vector<StarterCard*> cards_;
  int columns_ = 0;
};

}  // namespace fovea::ui
