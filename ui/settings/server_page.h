// The page of the settings on other programs that ask the window's model. It shows what it is told and emits
// what the user asks for.
#pragma once

#include <QWidget>

class QCheckBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace fovea::ui {

struct ServerView {
  bool on = false;
  int port = 11435;  // 0: a free one
  int slots = 3;     // requests that are answered at once
  bool for_other_computers = false;

  bool operator==(const ServerView&) const = default;
};

// What became of it.
struct ServerStateView {
  enum class State { off, starting, listening, failed };
  State state = State::off;
  QString sentence;   // what it does, or why it does not
  QString address;    // where programs ask it; empty: nowhere
  int requests = 0;   // in progress, with those that wait
  QString key;        // that other computers need; empty: none, or not known yet
  QString key_place;  // where that is kept
  bool operator==(const ServerStateView&) const = default;
};

class ServerPage : public QWidget {
  Q_OBJECT

 public:
  // most_slots: that can be asked for.
  ServerPage(const ServerView& server, int most_slots, QWidget* parent = nullptr);
  void set_state(const ServerStateView& state);

 Q_SIGNALS:
  void changed(const fovea::ui::ServerView& server);
  void retryRequested();
  void newKeyRequested();

 private:
  QWidget* make_state();
  QWidget* make_choices(int most_slots);
  QWidget* make_key();
  void tell() { Q_EMIT changed(server_); }
  void show_key(bool shown);

  ServerView server_;
  QLabel* sentence_ = nullptr;
  QPushButton* retry_ = nullptr;
  QLineEdit* address_ = nullptr;
  QPushButton* copy_address_ = nullptr;
  QLabel* requests_ = nullptr;
  QWidget* key_box_ = nullptr;
  QLineEdit* key_ = nullptr;
  QPushButton* new_key_ = nullptr;
  QLabel* key_place_ = nullptr;
};

}  // namespace fovea::ui
