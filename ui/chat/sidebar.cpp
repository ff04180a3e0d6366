#include "ui/chat/sidebar.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/chat/conversation_list.h"
#include "ui/chat/conversation_list_view.h"
#include "ui/chat/elided_label.h"
#include "ui/theme/tint.h"
#include "ui/theme/tokens.h"
#include "ui/theme/widgets.h"

namespace fovea::ui {
namespace {

constexpr int kUndoMilliseconds = 12'000;

}  // namespace

Sidebar::Sidebar(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("sidebar"));
  setAccessibleName(tr("Conversations"));
  setMinimumWidth(fontMetrics().averageCharWidth() * 24);
  setAutoFillBackground(true);
  tint(*this, QPalette::Window, [](const QPalette& palette) { return tones(palette).sidebar; });
  auto* mark = new MarkLabel(22, QStringLiteral("Fovea"), this);
  const auto row = [this](const char* name, Glyph glyph, const QString& text, const QKeySequence& keys) {
    auto* made = new NavigationRow(glyph, text, keys, this);
    made->setObjectName(QLatin1String(name));
    return made;
  };
  NavigationRow* const first = row("newChat", Glyph::add, tr("New chat"), QKeySequence(QKeySequence::New));
  first->set_first();
  new_chat_ = first;
  new_chat_->installEventFilter(this);
  field_ = new SearchField(tr("Search"), QKeySequence(Qt::CTRL | Qt::Key_K), this);
  field_->setObjectName(QStringLiteral("search"));
  field_->setAccessibleName(tr("Search conversations"));
  field_->setClearButtonEnabled(true);
  field_->installEventFilter(this);

  list_ = new ConversationListView(this);
  list_->setObjectName(QStringLiteral("conversations"));
  list_->setAccessibleName(tr("Conversations"));
  list_->setFrameShape(QFrame::NoFrame);
  list_->setMouseTracking(true);
  list_->setUniformItemSizes(false);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  list_->setEditTriggers(QAbstractItemView::EditKeyPressed);
  list_->setContextMenuPolicy(Qt::CustomContextMenu);
  list_->viewport()->setAutoFillBackground(false);
  list_->installEventFilter(this);
  model_ = new ConversationListModel(this);
  list_->setModel(model_);
  auto* delegate = new ConversationDelegate(list_);
  list_->setItemDelegate(delegate);
  empty_ = new QLabel(this);
  empty_->setWordWrap(true);
  empty_->setAlignment(Qt::AlignCenter);
  empty_->setForegroundRole(QPalette::PlaceholderText);
  empty_->setMargin(16);
  models_ = row("sidebarModels", Glyph::models, tr("Models"), {});
  settings_ = row("sidebarSettings", Glyph::settings, tr("Settings"), {});
  for (QToolButton* button : {models_, settings_}) {
    button->setCheckable(true);
    connect(button, &QToolButton::clicked, this, [this] { set_place(place_); });  // a click alone lights none
  }

  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(10, space::usual + 2, 10, space::usual);
  layout->setSpacing(0);
  auto* brand = new QHBoxLayout;
  brand->setContentsMargins(7, 0, 0, space::close + 2);
  brand->addWidget(mark);
  brand->addStretch(1);
  layout->addLayout(brand);
  layout->addWidget(new_chat_);
  layout->addWidget(field_);
  layout->addWidget(list_, 1);
  layout->addWidget(empty_, 1);
  layout->addWidget(make_undo_bar());
  layout->addSpacing(space::tight);
  layout->addWidget(models_);
  layout->addWidget(settings_);
  setTabOrder(new_chat_, field_);
  setTabOrder(field_, list_);
  setTabOrder(list_, models_);
  setTabOrder(models_, settings_);

  connect(models_, &QToolButton::clicked, this, &Sidebar::modelsRequested);
  connect(settings_, &QToolButton::clicked, this, &Sidebar::settingsRequested);
  connect(new_chat_, &QToolButton::clicked, this, &Sidebar::newChatRequested);
  connect(field_, &QLineEdit::textChanged, this, &Sidebar::search);
  connect(list_, &QListView::clicked, this, &Sidebar::open);
  connect(list_, &QListView::customContextMenuRequested, this, &Sidebar::show_menu);
  connect(list_, &ConversationListView::conversationDropped, this, &Sidebar::moveRequested);
  connect(list_, &ConversationListView::folderDropped, this,
          [this](qint64 folder, qint64 at) { Q_EMIT folderPlaceRequested(folder, place_of(at)); });
  connect(list_, &ConversationListView::plusPressed, this, &Sidebar::newChatInRequested);
  connect(model_, &ConversationListModel::renamed, this, &Sidebar::renameRequested);
  connect(model_, &ConversationListModel::folderRenamed, this, &Sidebar::folderRenameRequested);
  connect(list_->verticalScrollBar(), &QScrollBar::valueChanged, this, [this](int value) {
    if (more_ && field_->text().isEmpty() && value >= list_->verticalScrollBar()->maximum() - height())
      Q_EMIT moreRequested();
  });
  connect(
      delegate, &QAbstractItemDelegate::closeEditor, this,
      [this] {
        if (rows_wait_) show_rows();
      },
      Qt::QueuedConnection);
  undo_timer_.setSingleShot(true);
  connect(&undo_timer_, &QTimer::timeout, this, [this] {
    deleted_.clear();
    update_undo_bar();
  });
  update_empty_text();
}

QWidget* Sidebar::make_undo_bar() {
  auto* bar = new QFrame(this);
  bar->setObjectName(QStringLiteral("undoBar"));
  bar->setFrameShape(QFrame::StyledPanel);
  bar->setAutoFillBackground(true);
  bar->setBackgroundRole(QPalette::AlternateBase);
  auto* layout = new QHBoxLayout(bar);
  layout->setContentsMargins(8, 4, 4, 4);
  undo_text_ = new ElidedLabel(bar);
  auto* undo = new QToolButton(bar);
  undo->setObjectName(QStringLiteral("undoDelete"));
  undo->setText(tr("Undo"));
  undo->setToolTip(tr("Bring the conversation back (Ctrl+Z in the list)"));
  layout->addWidget(undo_text_, 1);
  layout->addWidget(undo);
  connect(undo, &QToolButton::clicked, this, &Sidebar::undo);
  bar->hide();
  undo_bar_ = bar;
  return bar;
}

void Sidebar::set_conversations(const std::vector<ConversationItem>& items, bool more,
                                const std::vector<FolderItem>& folders) {
  conversations_ = items;
  more_ = more;
  const bool others = folders != folders_;
  folders_ = folders;
  if (others) Q_EMIT foldersChanged();
  search(field_->text());  // what was found may be gone, or called otherwise
  if (!items.empty() || !folders.empty()) Q_EMIT filled();
}

void Sidebar::set_results(const std::vector<SearchItem>& items) {
  results_ = items;
  if (!field_->text().trimmed().isEmpty()) show_rows();
}

// A new chat takes the list's place only from those who are elsewhere: what is deleted leaves one behind.
void Sidebar::set_current(qint64 conversation, qint64 folder) {
  current_ = conversation;
  current_folder_ = conversation == 0 ? folder : 0;
  if (conversation != 0 || folder != 0 || !list_->hasFocus()) mark_current();
}

void Sidebar::set_at_work(qint64 answering, const std::vector<qint64>& waiting) {
  model_->set_at_work(answering, waiting);
}

void Sidebar::show_deleted(qint64 conversation, const QString& title) {
  deleted_.push_back({conversation, title, {}, false});
  update_undo_bar();
}

void Sidebar::undo() {
  if (deleted_.empty()) return;
  const qint64 conversation = deleted_.back().id;
  deleted_.pop_back();
  update_undo_bar();
  Q_EMIT undoDeleteRequested(conversation);
}

void Sidebar::update_undo_bar() {
  undo_bar_->setVisible(!deleted_.empty());
  if (deleted_.empty()) return;
  const QString& title = deleted_.back().title;
  undo_text_->setText(tr("Deleted “%1”").arg(title));
  undo_text_->setToolTip(title);
  undo_timer_.start(kUndoMilliseconds);
}

void Sidebar::focus_search() {
  field_->setFocus(Qt::ShortcutFocusReason);
  field_->selectAll();
}

void Sidebar::set_place(SidebarPlace place) {
  place_ = place;
  models_->setChecked(place == SidebarPlace::models);
  settings_->setChecked(place == SidebarPlace::settings);
}

void Sidebar::rename(qint64 conversation) {
  if (!model_->index_of(conversation).isValid()) field_->clear();  // a search has not found it
  expand_around(conversation);
  if (const QModelIndex index = model_->index_of(conversation); index.isValid()) list_->edit(index);
}

void Sidebar::search(const QString& text) {
  if (text.trimmed().isEmpty()) {
    results_.clear();
    show_rows();
  } else {
    Q_EMIT searchRequested(text);
  }
}

// Whether a title is being typed in its row.
bool Sidebar::is_named() const {
  const auto* editor = list_->viewport()->findChild<QLineEdit*>();
  return editor && editor->isVisible() && editor->hasFocus();
}

// Not while a title is typed, which new rows would throw away.
void Sidebar::show_rows() {
  rows_wait_ = is_named();
  if (rows_wait_) return;
  const int scrolled = list_->verticalScrollBar()->value();
  const int row = list_->currentIndex().row();
  const qint64 at = list_->currentIndex().data(ConversationListModel::IdRole).toLongLong();
  const qint64 at_folder = list_->currentIndex().data(ConversationListModel::FolderRole).toLongLong();
  if (field_->text().trimmed().isEmpty()) {
    model_->set_conversations(conversations_, QDate::currentDate(), folders_);
  } else {
    model_->set_results(results_);
  }
  list_->verticalScrollBar()->setValue(scrolled);
  row >= 0 && list_->hasFocus() ? stay_at(at, at_folder, row) : mark_current();
  update_empty_text();
}

// Where the keys have led, also when others come and go: at the conversation, or what stands in its row now.
void Sidebar::stay_at(qint64 conversation, qint64 folder, int row) {
  QModelIndex index = folder != 0 ? model_->index_of_folder(folder) : model_->index_of(conversation);
  for (int i = std::min(row, model_->rowCount() - 1); !index.isValid() && i >= 0; --i)
    if (model_->index(i).flags() & Qt::ItemIsSelectable) index = model_->index(i);
  list_->setCurrentIndex(index);
}

// In a closed folder, that stands for it.
void Sidebar::mark_current() {
  QModelIndex index = model_->index_of(current_);
  if (!index.isValid()) {
    const auto item = std::ranges::find(conversations_, current_, &ConversationItem::id);
    index = model_->index_of_folder(item == conversations_.end() ? current_folder_ : item->folder);
  }
  if (index.isValid()) {
    list_->setCurrentIndex(index);
  } else {
    list_->selectionModel()->clear();
  }
}

// Where the list goes with its last row, its keys go to what stands above it.
void Sidebar::update_empty_text() {
  const bool empty = model_->rowCount() == 0;
  if (empty && list_->hasFocus()) new_chat_->setFocus(Qt::OtherFocusReason);
  list_->setVisible(!empty);
  empty_->setVisible(empty);
  empty_->setText(field_->text().trimmed().isEmpty() ? tr("Your conversations will be listed here.")
                                                     : tr("Nothing was found."));
}

void Sidebar::open(const QModelIndex& index) {
  if (!index.isValid() || index.data(ConversationListModel::HeadingRole).toBool()) return;
  if (const qint64 folder = index.data(ConversationListModel::FolderRole).toLongLong(); folder != 0)
    return set_collapsed(folder, !index.data(ConversationListModel::CollapsedRole).toBool());
  const QString snippet = index.data(ConversationListModel::SnippetRole).toString();
  QStringList found;
  for (const QVariant& match : index.data(ConversationListModel::MatchesRole).toList()) {
    const QString word = snippet.mid(match.toPoint().x(), match.toPoint().y());
    if (!word.isEmpty() && !found.contains(word)) found += word;
  }
  Q_EMIT conversationRequested(index.data(ConversationListModel::IdRole).toLongLong(),
                               index.data(ConversationListModel::MessageRole).toLongLong(), found);
}

// To what stands in the list; Enter opens the first of it.
void Sidebar::search_keys(int key) {
  if (!field_->text().trimmed().isEmpty()) list_->setCurrentIndex({});  // what was found best comes first
  list_->setFocus(Qt::OtherFocusReason);
  for (int row = 0; row < model_->rowCount() && !list_->currentIndex().isValid(); ++row) {
    const QModelIndex index = model_->index(row);
    if (index.flags() & Qt::ItemIsSelectable) list_->setCurrentIndex(index);
  }
  if (key != Qt::Key_Down) open(list_->currentIndex());
}

bool Sidebar::list_keys(const QKeyEvent& event) {
  const QModelIndex index = list_->currentIndex();
  const int key = event.key();
  if (folder_keys(index, event)) return true;
  if (key == Qt::Key_Return || key == Qt::Key_Enter) {
    open(index);
    return true;
  }
  if (key == Qt::Key_Delete) {
    Q_EMIT deleteRequested(index.data(ConversationListModel::IdRole).toLongLong());
    return true;
  }
  if (key == Qt::Key_Menu || (key == Qt::Key_F10 && (event.modifiers() & Qt::ShiftModifier))) {
    show_menu(list_->visualRect(index).center());
    return true;
  }
  return false;
}

bool Sidebar::eventFilter(QObject* object, QEvent* event) {
  if (event->type() != QEvent::KeyPress && event->type() != QEvent::ShortcutOverride)
    return QWidget::eventFilter(object, event);
  const int key = static_cast<QKeyEvent*>(event)->key();
  if (event->type() == QEvent::ShortcutOverride) {
    // Escape is the search's while there is one, also while an answer could be stopped with it.
    if (object != field_ || key != Qt::Key_Escape || field_->text().isEmpty()) return false;
    event->accept();
    return true;
  }
  if (object == field_) {
    if (key == Qt::Key_Escape && !field_->text().isEmpty()) {
      field_->clear();
      return true;
    }
    if (key == Qt::Key_Down || key == Qt::Key_Return || key == Qt::Key_Enter) {
      search_keys(key);
      return true;
    }
  }
  if (object != field_ && static_cast<QKeyEvent*>(event)->matches(QKeySequence::Undo)) {
    undo();
    return true;
  }
  // The key that ends a title comes here, too.
  if (object == list_ && !is_named() && list_->currentIndex().isValid() &&
      list_keys(*static_cast<QKeyEvent*>(event)))
    return true;
  return QWidget::eventFilter(object, event);
}

}  // namespace fovea::ui
