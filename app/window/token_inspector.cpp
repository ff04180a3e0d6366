#include "app/window/token_inspector.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "app/live/live_session.h"
#include "app/window/chat_controller.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/token_lens.h"
#include "ui/chat/transcript_view.h"
#include "ui/live/heatmap_view.h"
#include "ui/live/live_panel.h"

namespace fovea::app {
namespace {

bool is_low(const TokenUse& use, std::size_t tiers) {
  return use.tier > 0 && use.tier < tiers;
}

// Of the work of its experts, by their gate weights.
double low_share(const TokenRecord& record, std::size_t tiers) {
  std::int64_t low = 0, all = 0;
  for (const TokenUse& use : record.uses) {
    all += use.share;
    if (is_low(use, tiers)) low += use.share;
  }
  return all > 0 ? static_cast<double>(low) / static_cast<double>(all) : 0;
}

// Whole characters, so that a text can end or begin there.
bool is_whole(const std::string& bytes) {
  return !bytes.empty() && !QString::fromStdString(bytes).contains(QChar::ReplacementCharacter);
}

// Places in a text, asked for by rising bytes of its UTF-8.
class Utf16Places {
 public:
  explicit Utf16Places(const QString& text) : text_(text) {}
  // Of the character that these bytes are in.
  int at(std::int64_t bytes) {
    while (place_ < text_.size()) {
      const bool pair = text_[place_].isHighSurrogate() && place_ + 1 < text_.size();
      const char16_t unit = text_[place_].unicode();
      const int length = pair ? 4 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
      if (bytes_ + length > bytes) break;
      bytes_ += length;
      place_ += pair ? 2 : 1;
    }
    return static_cast<int>(place_);
  }

 private:
  const QString& text_;
  qsizetype place_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace

TokenInspector::TokenInspector(ui::ChatWindow& window, ui::LivePanel& panel, LiveSession& session,
                               ChatController& chat)
    : TokenSource(&chat), window_(window), panel_(panel), session_(session), chat_(chat) {
  ui::TokenLens& lens = window.transcript().lens();
  lens.set_source(this);
  connect(&chat, &ChatController::modelOpened, this, &TokenInspector::begin_model);
  connect(&chat.conversation(), &ConversationController::tokensWritten, this, &TokenInspector::keep);
  connect(&lens, &ui::TokenLens::currentChanged, this, &TokenInspector::show_current);
  connect(&lens, &ui::TokenLens::choiceWanted, this, &TokenInspector::go_on_with);
  connect(&panel.heatmap(), &ui::HeatmapView::pointed, this, &TokenInspector::show_users_of);
  connect(&session, &LiveSession::momentChanged, this, &TokenInspector::show_moment);
  connect(&session, &LiveSession::playedOn, this, &TokenInspector::show_moment);
  connect(&panel, &ui::LivePanel::lookInsideRequested, this, [&lens] { lens.set_on(!lens.is_on()); });
}

void TokenInspector::begin_model() {
  const LoadedModel& loaded = chat_.model();
  Model model{.number = log_.begin_model(), .text = loaded.text, .bits = {}};
  model.layers = std::ssize(loaded.expert_layers);
  for (const ExpertLayer& layer : loaded.expert_layers)
    model.units_per_layer = std::max<std::int64_t>(model.units_per_layer, layer.experts);
  if (loaded.plan)
    for (const PlanTier& tier : loaded.plan->parts.experts) model.bits.push_back(tier.bits_per_weight);
  models_.push_back(std::move(model));
  // Of models none of whose tokens is kept nothing is asked any more.
  constexpr std::size_t most_models = 8;
  if (models_.size() > most_models) models_.erase(models_.begin());
}

void TokenInspector::keep(qint64 answer, qint64 bytes_before, const std::vector<TokenRecord>& records) {
  log_.add(answer, bytes_before, records);
  Q_EMIT tokensChanged(answer);
}

const TokenInspector::Model* TokenInspector::model_of(const TokenLog::Kept& kept) const {
  const auto found = std::ranges::find(models_, kept.model, &Model::number);
  return found == models_.end() ? nullptr : &*found;
}

std::int64_t TokenInspector::unit_of(const Model& model, const TokenRecord& record, std::size_t use) const {
  const std::size_t used = record.uses.size() / static_cast<std::size_t>(model.layers);
  return static_cast<std::int64_t>(use / used) * model.units_per_layer + record.uses[use].expert;
}

QString TokenInspector::text_of(const Model& model, TokenId token) const {
  return model.text ? QString::fromStdString(model.text->piece(token)) : QString();
}

// --- what the transcript asks

std::vector<ui::TokenPlace> TokenInspector::tokens_of(ui::MessageId message, const QString& text) const {
  const TokenLog::Tokens* const tokens = log_.find(message);
  if (!tokens) return {};
  std::vector<ui::TokenPlace> places;
  places.reserve(tokens->kept.size());
  Utf16Places utf16(text);
  for (const TokenLog::Kept& kept : tokens->kept) {
    const Model* const model = model_of(kept);
    const int begin = utf16.at(kept.begin);
    places.push_back({.number = static_cast<int>(tokens->first) + static_cast<int>(places.size()),
                      .begin = begin,
                      .end = utf16.at(kept.end),
                      .low_share = model ? low_share(kept.record, model->bits.size()) : 0});
  }
  return places;
}

std::optional<ui::TokenView> TokenInspector::token(ui::MessageId message, int number) const {
  const TokenLog::Kept* const kept = log_.find(message, number);
  const Model* const model = kept ? model_of(*kept) : nullptr;
  if (!model) return std::nullopt;
  const TokenRecord& record = kept->record;
  ui::TokenView view{.text = text_of(*model, record.token),
                     .probability = std::exp(static_cast<double>(record.logprob)),
                     .entropy_bits = static_cast<double>(record.entropy) / std::numbers::ln2,
                     .uses = static_cast<int>(record.uses.size())};
  for (const TokenRecord::Likely& likely : record.likeliest) {
    if (likely.token < 0) break;
    const bool is_text = model->text && !model->text->decode({&likely.token, 1}).empty();
    view.choices.push_back(
        {.text = is_text ? text_of(*model, likely.token) : tr("(the end, or a control mark)"),
         .probability = std::exp(static_cast<double>(likely.logprob)),
         .is_chosen = likely.token == record.token,
         .can_go_on =
             is_text && model->number == log_.model() && is_whole(model->text->piece(likely.token))});
  }
  if (model->bits.size() > 1) view.highest_bits = model->bits.front();
  view.low_uses = static_cast<int>(std::ranges::count_if(
      record.uses, [&](const TokenUse& use) { return is_low(use, model->bits.size()); }));
  return view;
}

// --- text and map

std::vector<std::int64_t> TokenInspector::units_of(ui::MessageId message, int number) const {
  const TokenLog::Kept* const kept = log_.find(message, number);
  const Model* const model = kept && kept->model == log_.model() ? model_of(*kept) : nullptr;
  std::vector<std::int64_t> units;
  if (!model || model->layers == 0) return units;
  for (std::size_t use = 0; use < kept->record.uses.size(); ++use)
    units.push_back(unit_of(*model, kept->record, use));
  return units;
}

void TokenInspector::show_current() {
  const auto current = window_.transcript().lens().current();
  panel_.heatmap().set_pointed_out(current ? units_of(current->message, current->number)
                                           : std::vector<std::int64_t>());
}

// Of the answers that are shown; −1: none is pointed at.
void TokenInspector::show_users_of(qint64 unit) {
  ui::TokenLens& lens = window_.transcript().lens();
  if (unit < 0 || !lens.is_on()) return show_moment();
  std::vector<ui::TokenRef> users;
  for (int i = 0; i < window_.transcript().message_count(); ++i) {
    const ui::MessageId message = window_.transcript().conversation().at(i).view().id;
    const TokenLog::Tokens* const tokens = log_.find(message);
    if (!tokens) continue;
    for (std::int64_t k = 0; k < std::ssize(tokens->kept); ++k) {
      const TokenLog::Kept& kept = tokens->kept[static_cast<std::size_t>(k)];
      const Model* const model = kept.model == log_.model() ? model_of(kept) : nullptr;
      if (!model || model->layers == 0) continue;
      for (std::size_t use = 0; use < kept.record.uses.size(); ++use) {
        if (unit_of(*model, kept.record, use) != unit) continue;
        users.push_back({message, static_cast<int>(tokens->first + k)});
        break;
      }
    }
  }
  lens.set_marked(std::move(users));
}

// Where the panel holds a moment of this session.
void TokenInspector::show_moment() {
  std::vector<ui::TokenRef> written;
  if (session_.held() && !session_.replaying() && !session_.nothing()) {
    const auto [after, until] = session_.tokens_of_moment();
    for (const TokenLog::Place& place : log_.written(after, until))
      written.push_back({place.answer, static_cast<int>(place.number)});
  }
  window_.transcript().lens().set_marked(std::move(written));
  window_.transcript().lens().show_marked();
}

// --- another way from here

void TokenInspector::go_on_with(const ui::TokenRef& token, int choice) {
  const TokenLog::Kept* const kept = log_.find(token.message, token.number);
  const Model* const model = kept ? model_of(*kept) : nullptr;
  const ui::MessageView* const view = window_.transcript().message(token.message);
  if (!model || !model->text || !view || choice < 0 ||
      static_cast<std::size_t>(choice) >= TokenRecord::most_likely)
    return;
  const TokenId other = kept->record.likeliest[static_cast<std::size_t>(choice)].token;
  const std::string piece = model->text->piece(other);
  QString text = view->text.left(Utf16Places(view->text).at(kept->begin));
  text += QString::fromStdString(piece);
  chat_.conversation().go_on_from(token.message, text,
                                  [this, token, other, bytes = std::ssize(piece)](qint64 answer) {
                                    log_.branch(token.message, token.number, other, bytes, answer);
                                  });
}

}  // namespace fovea::app
