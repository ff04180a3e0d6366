#include "app/window/conversation_view.h"

#include <QCoreApplication>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocale>
#include <QRegularExpression>
#include <span>

#include "app/window/generation_settings.h"
#include "app/window/model_words.h"
#include "app/words/qt_text.h"
#include "ui/language/number_text.h"

namespace fovea::app {
namespace {

struct ConversationWords {
  Q_DECLARE_TR_FUNCTIONS(fovea::app::ConversationView)
};

// Byte ranges of UTF-8 as ranges of QString's characters.
std::vector<ui::MatchRange> ranges_of(const std::string& text, const std::vector<history::TextRange>& bytes) {
  std::vector<ui::MatchRange> ranges;
  for (const history::TextRange& range : bytes) {
    const auto start = static_cast<std::size_t>(range.start);
    const auto length = static_cast<std::size_t>(range.length);
    if (start > text.size()) continue;
    ranges.push_back({static_cast<int>(q(text.substr(0, start)).size()),
                      static_cast<int>(q(text.substr(start, length)).size())});
  }
  return ranges;
}

QString attachments_line(const std::vector<history::Attachment>& attachments) {
  QStringList names;
  for (const history::Attachment& file : attachments) names += q(file.name);
  return names.isEmpty() ? QString() : ConversationWords::tr("With %1").arg(names.join(QStringLiteral(", ")));
}

QString details_of(const history::Message& message) {
  QStringList parts;
  if (!message.origin.model.empty()) parts += q(message.origin.model);
  const KeptTimings times = read_timings(message.timings);
  if (times.tokens_per_second > 0)
    parts +=
        ConversationWords::tr("%1 tokens a second").arg(QLocale().toString(times.tokens_per_second, 'f', 1));
  return parts.join(QStringLiteral(" · "));
}

struct Setting {
  const char *key, *name;  // in JSON, and in the dialog that has it
};
constexpr Setting sampling[] = {
    {"temperature", "Temperature"}, {"top_k", "Top-k"}, {"top_p", "Top-p"}, {"min_p", "Min-p"}};
constexpr Setting other_settings[] = {{"repetition_penalty", "Repetition penalty"},
                                      {"dry_multiplier", "Repeated passage penalty"},
                                      {"max_tokens", "Longest answer"},
                                      {"thinking", "Thinking"},
                                      {"effort", "Effort"},
                                      {"json", "Answer as JSON"}};

// "Temperature 0.7 · Top-p 0.9": what one changes, of a JSON object.
QString settings_of(const std::string& json, std::span<const Setting> settings) {
  QStringList parts;
  const QJsonObject object = QJsonDocument::fromJson(QByteArray::fromStdString(json)).object();
  for (const Setting& setting : settings) {
    const QJsonValue value = object.value(QLatin1String(setting.key));
    const QString text = value.isDouble() ? QLocale().toString(value.toDouble())
                         : value.isBool()
                             ? (value.toBool() ? ConversationWords::tr("yes") : ConversationWords::tr("no"))
                             : value.toString();
    if (!text.isEmpty())
      parts += QCoreApplication::translate("fovea::ui::ChatSettingsDialog", setting.name) + QLatin1Char(' ') +
               text;
  }
  return parts.join(QStringLiteral(" · "));
}

std::vector<ui::MessageFact> facts_of(const history::Message& message) {
  const KeptTimings times = read_timings(message.timings);
  std::vector<ui::MessageFact> facts;
  const auto add = [&facts](const QString& name, const QString& value) {
    if (!value.isEmpty()) facts.push_back({name, value});
  };
  add(ConversationWords::tr("Model"), q(message.origin.model));
  add(ConversationWords::tr("Precision"), policy_text(message.origin.policy));
  if (times.quality_kept)
    add(ConversationWords::tr("Quality kept"), ui::percent_text(*times.quality_kept, 1));
  if (times.bits_per_use.value_or(0) > 0)
    add(ConversationWords::tr("Experts in use"),
        ConversationWords::tr("%1 bits on average").arg(ui::number_text(*times.bits_per_use, 2)));
  if (times.tokens > 0) {
    add(ConversationWords::tr("First token"),
        times.prompt_tokens.value_or(0) > 0
            ? ConversationWords::tr("after %1 s, %2 tokens were read")
                  .arg(ui::number_text(times.ttft_seconds, 2), ui::count_text(*times.prompt_tokens))
            : ConversationWords::tr("after %1 s").arg(ui::number_text(times.ttft_seconds, 2)));
    add(ConversationWords::tr("Written"),
        ConversationWords::tr("%1 tokens in %2 s, %3 a second")
            .arg(ui::count_text(times.tokens), ui::number_text(times.decode_seconds, 1),
                 ui::number_text(times.tokens_per_second, 1)));
  }
  if (times.joules)
    add(ConversationWords::tr("Energy"),
        times.tokens > 0 ? ConversationWords::tr("%1 J, %2 J for each token written")
                               .arg(ui::number_text(*times.joules, 0),
                                    ui::number_text(*times.joules / static_cast<double>(times.tokens), 2))
                         : ConversationWords::tr("%1 J").arg(ui::number_text(*times.joules, 0)));
  if (message.origin.seed != 0) add(ConversationWords::tr("Seed"), QString::number(message.origin.seed));
  add(ConversationWords::tr("Sampling"), settings_of(message.origin.settings, sampling));
  add(ConversationWords::tr("Settings"), settings_of(message.origin.settings, other_settings));
  if (message.created_at > 0) {
    add(ConversationWords::tr("When"),
        QLocale().toString(QDateTime::fromMSecsSinceEpoch(message.created_at), QLocale::ShortFormat));
  }
  return facts;
}

void add_note(ui::MessageView& view, const history::Message& message) {
  using history::MessageState;
  view.note = q(message.note);
  switch (message.state) {
    case MessageState::complete:
      break;
    case MessageState::stopped:
      if (view.note.isEmpty()) view.note = ConversationWords::tr("Stopped");
      break;
    case MessageState::partial:
      view.note = message.text.empty()
                      ? ConversationWords::tr("Not answered: Fovea quit before the answer began")
                      : ConversationWords::tr("Cut off: Fovea quit while this was being written");
      view.note_kind = ui::NoteKind::warning;
      break;
    case MessageState::failed:
      view.note_kind = ui::NoteKind::failure;
      break;
  }
}

}  // namespace

ui::MessageView view_of(const history::Message& message, const AwaitedAnswer& awaited) {
  using ui::MessageAction;
  ui::MessageView view;
  view.id = message.id;
  view.text = q(message.text);
  view.sibling_index = message.sibling - 1;
  view.sibling_count = message.siblings;
  if (message.role == history::Role::assistant) {
    view.author = ui::Author::assistant;
    view.details = details_of(message);
    view.facts = facts_of(message);
    if (!view.facts.empty() && message.id != awaited.message) view.actions |= MessageAction::facts;
    const bool is_awaited = message.id == awaited.message;
    view.streaming = is_awaited && awaited.waits_for.isEmpty();
    if (is_awaited) {
      view.note = awaited.waits_for;
    } else {
      add_note(view, message);
    }
    if (awaited.message == 0) {
      view.actions |= MessageAction::regenerate;
      if (!message.text.empty()) view.actions |= MessageAction::continue_answer;
    }
  } else {
    view.author = ui::Author::user;
    view.note = attachments_line(message.attachments);
    if (awaited.message == 0) view.actions |= MessageAction::edit;
  }
  return view;
}

std::vector<ui::MessageView> views_of(const std::vector<history::Message>& messages,
                                      const AwaitedAnswer& awaited) {
  std::vector<ui::MessageView> views;
  views.reserve(messages.size());
  for (const history::Message& message : messages) {
    if (message.role == history::Role::user || message.role == history::Role::assistant)
      views.push_back(view_of(message, awaited));
  }
  return views;
}

std::vector<ui::ConversationItem> items_of(const std::vector<history::Conversation>& conversations) {
  std::vector<ui::ConversationItem> items;
  items.reserve(conversations.size());
  for (const history::Conversation& conversation : conversations) {
    const QString title =
        conversation.title.empty() ? ConversationWords::tr("New chat") : q(conversation.title);
    items.push_back({conversation.id, title, QDateTime::fromMSecsSinceEpoch(conversation.updated_at),
                     conversation.pinned_at != 0, conversation.folder});
  }
  return items;
}

std::vector<ui::FolderItem> items_of(const std::vector<history::Folder>& folders) {
  std::vector<ui::FolderItem> items;
  items.reserve(folders.size());
  for (const history::Folder& folder : folders)
    items.push_back({folder.id, q(folder.name), folder.collapsed});
  return items;
}

std::vector<ui::SearchItem> items_of(const history::SearchResult& result) {
  std::vector<ui::SearchItem> items;
  items.reserve(result.hits.size());
  for (const history::SearchHit& hit : result.hits) {
    items.push_back({hit.conversation, hit.message, q(hit.title), ranges_of(hit.title, hit.title_matches),
                     q(hit.snippet), ranges_of(hit.snippet, hit.snippet_matches), hit.pinned, q(hit.folder)});
  }
  return items;
}

QString title_of(const QString& question, int max_characters) {
  static const QRegularExpression fence(QStringLiteral("^\\s*(```|~~~).*$"),
                                        QRegularExpression::MultilineOption);
  QString title = QString(question).remove(fence).simplified();
  if (title.isEmpty()) title = question.simplified();
  if (title.size() <= max_characters) return title;
  const qsizetype space = title.lastIndexOf(QLatin1Char(' '), max_characters);
  title.truncate(space > max_characters / 2 ? space : max_characters);
  if (title.back().isHighSurrogate()) title.chop(1);
  return title + QStringLiteral("…");
}

}  // namespace fovea::app
