// Looking inside the answers: keeps what the engine records of their tokens, tells the transcript of it, and
// joins text and map. A token that is pointed at lights its experts; an expert that is pointed at marks the
// tokens that used it; a moment that is held marks those that were written then.
#pragma once

#include <QObject>
#include <memory>
#include <span>
#include <vector>

#include "app/live/token_log.h"
#include "app/window/engine_worker.h"
#include "ui/chat/token_source.h"

namespace fovea::ui {
class ChatWindow;
class LivePanel;
struct TokenRef;
}  // namespace fovea::ui

namespace fovea::app {

class ChatController;
class LiveSession;

class TokenInspector : public ui::TokenSource {
  Q_OBJECT

 public:
  // All of them live longer, but the panel, which the window owns.
  TokenInspector(ui::ChatWindow& window, ui::LivePanel& panel, LiveSession& session, ChatController& chat);

  std::vector<ui::TokenPlace> tokens_of(ui::MessageId message, const QString& text) const override;
  std::optional<ui::TokenView> token(ui::MessageId message, int number) const override;
  int most_kept() const override { return static_cast<int>(log_.most()); }

  const TokenLog& log() const { return log_; }
  // Of the map, that worked on this token; empty: it is not kept, or another model's.
  std::vector<std::int64_t> units_of(ui::MessageId message, int number) const;

 private:
  // Of the models whose tokens are kept.
  struct Model {
    std::uint32_t number = 0;
    std::shared_ptr<const TextModel> text;
    std::int64_t layers = 0, units_per_layer = 0;
    std::vector<double> bits;  // of the tiers, high to low
  };

  void begin_model();
  void keep(qint64 answer, qint64 bytes_before, const std::vector<TokenRecord>& records);
  void show_current();
  void show_users_of(qint64 unit);
  void show_moment();
  void go_on_with(const ui::TokenRef& token, int choice);
  const Model* model_of(const TokenLog::Kept& kept) const;
  std::int64_t unit_of(const Model& model, const TokenRecord& record, std::size_t use) const;
  QString text_of(const Model& model, TokenId token) const;

  ui::ChatWindow& window_;
  ui::LivePanel& panel_;
  LiveSession& session_;
  ChatController& chat_;
  TokenLog log_;
  std::vector<Model> models_;
};

}  // namespace fovea::app
