// Where a message is typed: grows with its text, carries attached files, and is where a message is edited.
#pragma once

#include <QStringList>
#include <QWidget>
#include <vector>

class QHBoxLayout;
class QLabel;
class QPlainTextEdit;
class QScrollArea;
class QToolButton;

namespace fovea::ui {

class PromptPicker;
class RoundButton;
struct PromptView;

struct AttachmentView {
  QString name;
  QString details;  // "1,204 tokens", "counting…"

  bool operator==(const AttachmentView&) const = default;
};

class Composer : public QWidget {
  Q_OBJECT

 public:
  explicit Composer(QWidget* parent = nullptr);

  // While it is answered the button stops that; while it waits to be answered, it takes back what was sent.
  enum class Busy { no, waiting, answering };
  void set_ready(bool ready);  // sending is possible
  void set_busy(Busy busy);
  void set_text(const QString& text);
  void insert(const QString& text);  // where the caret is
  QString text() const;
  void focus_input();
  // A key that was pressed elsewhere, where nobody takes it: whether it is part of a message.
  bool take_typed(const QKeyEvent& key);

  // Enter sends and Shift+Enter breaks the line, or Control+Enter sends and Enter breaks the line.
  void set_send_with_control(bool control);
  // An earlier message is being changed; Escape gives up.
  void set_editing(bool editing);
  bool editing() const { return editing_; }
  void set_attachments(const std::vector<AttachmentView>& attachments);
  void set_warning(const QString& text);  // about what is typed and attached; empty: none
  // What is offered while the text is "/" and the beginning of a name.
  void set_prompts(const std::vector<PromptView>& prompts);
  // At the right of the card, before the button; the composer owns it from now on.
  void set_status(QWidget* status);

 Q_SIGNALS:
  void sendRequested(const QString& text);
  void stopRequested();
  void textEdited();  // what is typed changed
  void editCancelled();
  void attachRequested();
  void settingsRequested();  // of this conversation
  void filesDropped(const QStringList& paths);
  void attachmentRemoved(int index);

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  QWidget* make_editing_bar();
  bool handle_key(const QKeyEvent& key);
  void send();
  void grow();
  void fit_attachments();
  void update_button();
  void tell_keys();
  void follow_direction();
  void offer_prompts();

  QWidget* editing_bar_;
  QLabel* warning_;
  QWidget* card_;
  QScrollArea* attachment_box_;
  QHBoxLayout* attachment_row_;
  QPlainTextEdit* input_;
  QHBoxLayout* tools_;
  QToolButton* attach_;
  QToolButton* tune_;
  RoundButton* button_;
  PromptPicker* picker_;
  std::size_t attachments_ = 0;
  bool ready_ = false;
  Busy busy_ = Busy::no;
  bool editing_ = false;
  bool send_with_control_ = false;
};

}  // namespace fovea::ui
