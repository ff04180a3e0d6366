// The main window: conversations at the left, the one that is read in the middle, the live panel at the
// right. It shows what it is told and emits what the user asks for. It decides nothing.
#pragma once

#include <QMainWindow>
#include <QPointer>
#include <QStringList>
#include <functional>
#include <vector>

#include "ui/chat/conversation_item.h"
#include "ui/chat/preset_view.h"
#include "ui/chat/status_strip.h"

class QAction;
class QDockWidget;
class QBoxLayout;
class QLabel;
class QLayout;
class QMenu;
class QProgressBar;
class QSpacerItem;
class QStackedWidget;
class QToolButton;

namespace fovea::ui {

class Composer;
class ErrorBar;
class Page;
class Sidebar;
class StarterView;
class TranscriptView;
class WelcomeView;
enum class SidebarPlace : int;
struct Starter;

// A model that the picker offers.
struct ModelChoice {
  QString label;
  QString path;
};

class ChatWindow : public QMainWindow {
  Q_OBJECT

 public:
  // The last two are of the conversation that is shown: its answer is written, or waits for another one's.
  enum class State { no_model, loading, ready, generating, waiting };

  explicit ChatWindow(QWidget* parent = nullptr);

  void set_state(State state);
  State state() const { return state_; }
  // The name stands at the top and nowhere else; the details are told when somebody points at the name.
  void set_model(const QString& name, const QString& details);
  // No sidebar and no name in the header beside the proposal, until there is something in them or asked for.
  void show_proposal_only(bool only);
  // Of other programs, in progress: a count beside the model's name. 0: nothing is shown.
  void set_requests(int count, const QString& address);
  // What an empty conversation with that model offers: a line on it, and questions to begin with. None:
  // nothing.
  void set_starters(const QString& about, const std::vector<Starter>& starters);
  void set_conversation_title(const QString& title);  // empty: a new conversation
  void set_library(const std::vector<ModelChoice>& models);
  void set_recent(const std::vector<ModelChoice>& models);
  // Those of the library, and others that were opened lately.
  std::vector<ModelChoice> known_models() const;
  // What can be brought back; the answer to deletedWanted().
  void set_deleted(const std::vector<ConversationItem>& conversations);
  // What the menus, the command palette and the composer offer.
  void set_saved(const std::vector<PresetView>& presets, const std::vector<PromptView>& prompts);
  void insert_prompt(const QString& id);
  // total 0: unknown. An empty text hides the progress.
  void show_progress(const QString& text, qint64 done, qint64 total);
  void set_status(const StatusView& status) { status_->set_status(status); }
  // `action`: the text of a button that does `act`; empty: there is none.
  void show_error(const QString& text, const QString& action = {}, std::function<void()> act = {},
                  const QString& details = {});
  void show_notice(const QString& text, const QString& action = {}, std::function<void()> act = {});
  void clear_error();
  // Its dock at the right; the window owns it from now on. Its commands are found among the others.
  void set_live_panel(QWidget* panel, QMenu* commands = nullptr);
  void show_live_panel(bool shown);
  // The same, but in a narrow window it is not laid over the conversation unasked: it waits for room.
  void offer_live_panel(bool shown);
  // A page in the conversation's place, the panel's with it, until it is left: by its own way back, or for a
  // conversation. Whoever owns it deletes it only after that.
  void show_page(Page& page, SidebarPlace place);
  void leave_page();
  QWidget* page() const { return page_; }  // null: the conversation is shown

  WelcomeView& welcome() { return *welcome_; }
  TranscriptView& transcript() { return *transcript_; }
  Composer& composer() { return *composer_; }
  Sidebar& sidebar() { return *sidebar_; }
  const StatusStrip& status() const { return *status_; }
  const ErrorBar& error_bar() const { return *error_bar_; }

 Q_SIGNALS:
  void sendRequested(const QString& text);
  void stopRequested();
  void newChatRequested();
  void regenerateRequested();  // the last answer
  void continueRequested();    // the last answer
  void editRequested();        // the last question
  void chatSettingsRequested();
  void presetRequested(const QString& id);  // for this conversation
  void presetsRequested();                  // the window of presets and prompts
  void compareRequested();                  // the model with other settings
  void besideRequested();                   // one question with adaptive and with fixed experts
  void importRequested(const QString& path);
  void deletedWanted();
  void restoreRequested(qint64 conversation);
  void modelRequested(const QString& path);
  void modelsRequested();  // the page of models
  void downloadsRequested();
  void settingsRequested();
  void serverSettingsRequested();
  void wizardRequested();
  void tourRequested();
  void textSizeRequested(int step);  // +1, -1; 0: as it was
  void cancelLoadRequested();
  void livePanelShown(bool shown);
  void closing();

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  // chat_window.cpp
  QWidget* make_header();
  QWidget* make_conversation();
  QWidget* make_progress();
  void open_link(const QString& address);
  void fill_picker();
  void update_empty_text();
  void update_composer();
  void align_to_column();
  void update_title();

  // chat_window_places.cpp
  void show_sidebar(bool shown);
  void tell_sidebar();
  bool has_panel() const;
  void choose_panel(bool shown);
  void tell_panel();
  bool is_narrow() const;
  void take_apart(bool apart);
  void give_way();
  void lay_over(bool over);
  void place_overlay();
  void place_panel(bool apart);
  void show_panel_title(bool shown);

  // chat_window_menus.cpp
  void make_menus();
  QAction* add_action(QMenu* menu, const char* name, const QString& text, const QKeySequence& keys);
  void open_file();
  void open_folder();
  void import_file();
  void show_concepts();
  void show_shortcuts();
  void show_commands();
  void show_about();
  void update_actions();
  void tell_place();

  State state_ = State::no_model;
  QWidget* header_;
  QStackedWidget* places_;  // the conversation, and pages
  QPointer<QWidget> page_;
  bool panel_gave_way_ = false;  // to the page
  bool proposal_only_ = false;
  bool sidebar_was_hidden_ = false;  // before
  QSpacerItem* header_indent_;
  int name_room_ = 0;  // in the header
  QToolButton* sidebar_button_;
  QToolButton* picker_;
  QToolButton* panel_button_;
  QToolButton* more_;
  QMenu* picker_menu_;
  QToolButton* requests_;
  QWidget* progress_box_;
  QLabel* progress_text_;
  QProgressBar* progress_bar_;
  Sidebar* sidebar_;
  QDockWidget* sidebar_dock_;
  QList<int> docked_widths_;  // the sidebar's and the panel's, before that was taken apart
  QDockWidget* live_dock_ = nullptr;
  QWidget* overlay_ = nullptr;  // where the panel is while it lies over the conversation
  QWidget* panel_ = nullptr;
  QAction* panel_action_ = nullptr;
  bool is_over_ = false, panel_waits_ = false;
  int beside_width_;                                 // the panel's, when it was last beside the conversation
  bool was_wide_ = true, sidebar_gave_way_ = false;  // to the conversation
  QList<QMenu*> more_commands_;                      // beside the menu bar's
  int width_with_panel_ = 0;  // the window's, before it made room for the panel beside it; 0: it did not
  QMenu* view_menu_ = nullptr;
  TranscriptView* transcript_;
  WelcomeView* welcome_;   // over the empty conversation, while no model is open …
  QWidget* welcome_area_;  // … that scrolls where it must
  StarterView* starters_;  // … or one that suggests how to begin
  ErrorBar* error_bar_;
  std::function<void()> error_act_;
  Composer* composer_;
  StatusStrip* status_;
  std::vector<QAction*> when_idle_;    // on messages; they wait for the answer in progress
  std::vector<QAction*> when_stored_;  // on the whole conversation
  QMenu* deleted_menu_ = nullptr;
  QMenu* move_menu_ = nullptr;
  QAction* pin_ = nullptr;
  QMenu* presets_menu_ = nullptr;
  QMenu* prompts_menu_ = nullptr;
  QAction* stop_ = nullptr;
  QString model_name_, model_details_;
  QString conversation_title_;
  std::vector<PromptView> prompts_;
  std::vector<ModelChoice> library_;
  std::vector<ModelChoice> recent_;
};

}  // namespace fovea::ui
