// What the window shows while no model is open: what Fovea is, the model that suits this computer, and other
// ways to one.
#pragma once

#include <QString>
#include <QWidget>
#include <QtGlobal>
#include <vector>

class QAbstractButton;
class QHBoxLayout;
class QLabel;
class QProgressBar;
class QPushButton;
class QToolButton;
class QWidget;

namespace fovea::ui {

class DetailedText;

// All words ready to be read.
struct ProposalView {
  enum class State { none, looking, ready, busy };
  struct Fact {
    QString value, name;
  };
  State state = State::none;
  QString name = {};
  QString about = {};
  std::vector<Fact> facts = {};
  QString accept = {};  // the main button's text
  QString why = {};
  // While it is fetched, and what came of it.
  QString progress = {};
  qint64 done = 0, total = 0;  // total 0: not known
  QString error = {}, error_details = {};
};

class WelcomeView : public QWidget {
  Q_OBJECT

 public:
  explicit WelcomeView(QWidget* parent = nullptr);
  void set_proposal(const ProposalView& proposal);
  void set_demo(bool is_there) { demo_->setVisible(is_there); }
  void focus_main();

 Q_SIGNALS:
  void acceptRequested();  // the model that is proposed
  void stopRequested();    // fetching it
  void demoRequested();
  void wizardRequested();
  void modelsRequested();
  void fileRequested();

 private:
  QWidget* make_card();
  QWidget* make_progress();
  QWidget* make_ways();
  void show_facts(const std::vector<ProposalView::Fact>& facts);

  QWidget* card_;
  QLabel* name_;
  QLabel* about_;
  QWidget* facts_box_;
  QHBoxLayout* facts_;
  QWidget* buttons_;
  QPushButton* accept_;
  QToolButton* why_;
  QLabel* why_text_;
  QWidget* progress_box_;
  QLabel* progress_text_;
  QProgressBar* progress_;
  DetailedText* error_;
  QLabel* looking_;
  QPushButton* find_;  // the main button while nothing is proposed
  QWidget* demo_;
};

}  // namespace fovea::ui
