// Where the sidebar, the panel and pages stand in the main window.
#include <QAction>
#include <QDockWidget>
#include <QGuiApplication>
#include <QMenu>
#include <QPainter>
#include <QScreen>
#include <QStackedWidget>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/chat/chat_window.h"
#include "ui/chat/composer.h"
#include "ui/chat/sidebar.h"
#include "ui/chat/welcome_view.h"
#include "ui/theme/page.h"
#include "ui/theme/tokens.h"
#include "ui/theme/window_size.h"

namespace fovea::ui {
namespace {

constexpr int least_conversation = 420;  // beside the sidebar or the panel

// What is beneath does not shine through it, and a line ends it.
class PanelOverlay : public QWidget {
 public:
  explicit PanelOverlay(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("panelOverlay"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(1, 0, 0, 0);
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    const Tones& t = tones(palette());
    painter.fillRect(rect(), t.window);
    painter.fillRect(0, 0, 1, height(), t.line);
    painter.fillRect(0, 0, width(), 1, t.line);
  }
};

}  // namespace

// Nobody has been here before: what is beside the proposal would be empty. It comes with the first model,
// page or search.
void ChatWindow::show_proposal_only(bool only) {
  if (only == proposal_only_) return;
  proposal_only_ = only;
  if (only) sidebar_was_hidden_ = sidebar_dock_->isHidden();
  sidebar_dock_->setVisible(!only && !sidebar_was_hidden_);
  picker_->setVisible(!only);
  panel_button_->setVisible(!only && panel_);
  tell_sidebar();
  if (!only) give_way();
}

void ChatWindow::show_sidebar(bool shown) {
  show_proposal_only(false);
  sidebar_gave_way_ = false;
  sidebar_dock_->setVisible(shown);
  give_way();
}

// A button stands for it.
void ChatWindow::tell_sidebar() {
  sidebar_button_->setVisible(!proposal_only_ && sidebar_dock_->isHidden());
  align_to_column();
}

void ChatWindow::set_live_panel(QWidget* panel, QMenu* commands) {
  if (commands) more_commands_.append(commands);
  live_dock_ = new QDockWidget(tr("Experts"), this);
  live_dock_->setObjectName(QStringLiteral("liveDock"));
  panel_ = panel;
  live_dock_->setWidget(panel);
  show_panel_title(false);
  live_dock_->installEventFilter(this);
  addDockWidget(Qt::RightDockWidgetArea, live_dock_);
  resizeDocks({live_dock_}, {panel_width}, Qt::Horizontal);
  overlay_ = new PanelOverlay(centralWidget());
  overlay_->hide();
  panel_action_ = new QAction(tr("&Experts"), this);
  panel_action_->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_L));
  panel_action_->setCheckable(true);
  addAction(panel_action_);
  panel_button_->show();
  connect(panel_button_, &QToolButton::clicked, panel_action_, &QAction::trigger);
  connect(live_dock_, &QDockWidget::visibilityChanged, this, &ChatWindow::tell_panel);
  view_menu_->insertAction(view_menu_->actions().value(1), panel_action_);
  auto* detach = new QAction(tr("&Detach the experts"), this);
  detach->setObjectName(QStringLiteral("detachLiveAction"));
  detach->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_L));
  detach->setCheckable(true);
  addAction(detach);
  view_menu_->insertAction(view_menu_->actions().value(2), detach);
  connect(detach, &QAction::triggered, this, &ChatWindow::take_apart);
  connect(live_dock_, &QDockWidget::topLevelChanged, detach, &QAction::setChecked);
  connect(live_dock_, &QDockWidget::topLevelChanged, this, &ChatWindow::place_panel);
  connect(panel_action_, &QAction::triggered, this, &ChatWindow::choose_panel);
}

void ChatWindow::take_apart(bool apart) {
  show_proposal_only(false);
  // A narrow window has no room for the panel in it, not even on its way: that would widen it.
  const bool is_beside = !is_narrow();
  if (!is_beside) {
    (is_over_ ? overlay_ : live_dock_)->hide();
    lay_over(false);
  }
  live_dock_->setVisible(is_beside);
  if (apart) docked_widths_ = {sidebar_dock_->width(), is_beside ? live_dock_->width() : panel_width};
  show_panel_title(apart);  // before it gets a frame, whose size counts
  live_dock_->setFloating(apart);
  if (is_beside && !apart) {
    // Else it comes back as wide as it was apart, and takes that from the sidebar. Once it is there it can be
    // narrow again.
    const auto as_before = [this] {
      resizeDocks({sidebar_dock_, live_dock_}, docked_widths_, Qt::Horizontal);
    };
    as_before();
    QTimer::singleShot(0, this, as_before);
  }
  if (!is_beside && apart) {
    live_dock_->resize(panel_width, height());
    live_dock_->show();
    place_panel(true);
  }
  if (!apart) show_live_panel(true);
  Q_EMIT livePanelShown(true);
}

// The panel has a title of its own; a window needs one to be moved by.
void ChatWindow::show_panel_title(bool shown) {
  QWidget* const before = live_dock_->titleBarWidget();
  if (shown == (before == nullptr)) return;
  live_dock_->setTitleBarWidget(shown ? nullptr : new QWidget(live_dock_));
  if (before) before->deleteLater();
}

bool ChatWindow::has_panel() const {
  return panel_ && !(is_over_ ? overlay_->isHidden() : live_dock_->isHidden());
}

void ChatWindow::show_live_panel(bool shown) {
  if (!panel_) return;
  if (shown) show_proposal_only(false);
  if (page_ && !live_dock_->isFloating()) {
    panel_gave_way_ = shown;
    return tell_panel();
  }
  panel_waits_ = false;
  if (shown) give_way();
  if (shown) place_overlay();  // the header was hidden
  (is_over_ ? overlay_ : live_dock_)->setVisible(shown);
  tell_panel();
}

void ChatWindow::offer_live_panel(bool shown) {
  if (shown) show_proposal_only(false);
  if (!panel_ || !shown || !is_narrow() || live_dock_->isFloating()) return show_live_panel(shown);
  panel_waits_ = !has_panel();
}

// As a person chooses it.
void ChatWindow::choose_panel(bool shown) {
  show_live_panel(shown);
  Q_EMIT livePanelShown(shown);
}

void ChatWindow::tell_panel() {
  if (!panel_) return;
  panel_action_->setChecked(has_panel());
  panel_button_->setChecked(has_panel());
}

// Where the window is too narrow for the conversation beside them, the panel lies over it, and then the
// sidebar goes until it is called or there is room again.
void ChatWindow::give_way() {
  if (proposal_only_ || isHidden()) return;
  const bool has_room = width() >= sidebar_width + least_conversation;
  if (!has_room && !sidebar_gave_way_ && !sidebar_dock_->isHidden() && was_wide_) {
    sidebar_gave_way_ = true;
    sidebar_dock_->hide();
  } else if (has_room && std::exchange(sidebar_gave_way_, false)) {
    sidebar_dock_->show();
  }
  was_wide_ = has_room;
  if (panel_ && !live_dock_->isFloating()) lay_over(is_narrow());
}

bool ChatWindow::is_narrow() const {
  const int sidebar = sidebar_dock_->isHidden() ? 0 : sidebar_width;
  // With what it gave up while the panel is apart.
  return std::max(width(), width_with_panel_) < sidebar + least_conversation + panel_width;
}

void ChatWindow::lay_over(bool over) {
  if (!panel_ || over == is_over_) return;
  const bool shown = has_panel() || (!over && std::exchange(panel_waits_, false));
  is_over_ = over;
  if (over) {
    if (shown) beside_width_ = live_dock_->width();
    live_dock_->hide();
    overlay_->layout()->addWidget(panel_);
    place_overlay();
  } else {
    overlay_->hide();
    live_dock_->setWidget(panel_);
  }
  panel_->show();
  (over ? overlay_ : live_dock_)->setVisible(shown);
  if (!over && shown) resizeDocks({live_dock_}, {beside_width_}, Qt::Horizontal);
  tell_panel();
}

// Below the header, whose button takes it away again.
void ChatWindow::place_overlay() {
  if (!is_over_) return;
  const QRect area = centralWidget()->rect();
  const int top = header_->isHidden() ? 0 : header_->height();
  const int width = std::min(std::max(panel_width, overlay_->minimumSizeHint().width()), area.width());
  overlay_->setGeometry(area.right() + 1 - width, top, width, area.height() - top);
  overlay_->raise();
}

void ChatWindow::show_page(Page& page, SidebarPlace place) {
  if (page_ && page_ != &page) leave_page();
  sidebar_->set_place(place);
  if (page_ == &page) return;
  places_->addWidget(&page);
  connect(&page, &Page::left, this, &ChatWindow::leave_page, Qt::UniqueConnection);
  page_ = &page;
  show_proposal_only(false);
  header_->hide();
  update_composer();
  panel_gave_way_ = has_panel() && !live_dock_->isFloating();
  if (panel_gave_way_) (is_over_ ? overlay_ : live_dock_)->hide();
  tell_panel();
  places_->setCurrentWidget(&page);
  page.setFocus();
}

void ChatWindow::leave_page() {
  if (!header_->isHidden()) return;  // no page is shown
  sidebar_->set_place(SidebarPlace::conversation);
  places_->setCurrentIndex(0);
  if (page_) {
    places_->removeWidget(page_);  // it takes no room from the conversation
    page_->close();
  }
  page_.clear();
  header_->show();
  update_composer();
  if (std::exchange(panel_gave_way_, false)) show_live_panel(true);
  composer_->isHidden() ? welcome_->focus_main() : composer_->focus_input();
}

// Beside the conversation and not over it: where the screen has no room for both, the window gives up the
// panel's width for as long as that is apart. What is dragged goes where it is dragged to.
void ChatWindow::place_panel(bool apart) {
  const int before = std::exchange(width_with_panel_, 0);
  if (!apart) {
    show_panel_title(false);
    if (before > 0) resize(before, height());
    return give_way();
  }
  if (!isVisible() || live_dock_->isHidden() || QGuiApplication::mouseButtons() != Qt::NoButton) return;
  const QRect room = screen()->availableGeometry();
  const QRect window = frameGeometry();
  const QSize edges = live_dock_->frameGeometry().size() - live_dock_->size();
  const QSize inside = live_dock_->size().boundedTo(room_for(*this));
  const QSize panel = inside + edges;
  int left = window.right() + 1;
  if (left + panel.width() > room.right() + 1) left = window.left() - panel.width();
  if (left < room.left()) {
    left = std::min(window.right(), room.right()) + 1 - panel.width();
    const QRect wide = geometry();
    if (isMaximized()) showNormal();
    layout()->activate();  // it has become less wide than with the panel in it
    setGeometry(wide.left(), wide.top(), wide.width() - (window.right() + 1 - left), wide.height());
    width_with_panel_ = wide.width();
  }
  live_dock_->resize(inside);
  live_dock_->move(left, std::clamp(window.top(), room.top(), room.bottom() + 1 - panel.height()));
}

}  // namespace fovea::ui
