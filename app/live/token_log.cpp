#include "app/live/token_log.h"

#include <algorithm>
#include <utility>

namespace fovea::app {

void TokenLog::add(Answer answer, std::int64_t bytes_before, std::span<const TokenRecord> records) {
  for (const TokenRecord& record : records) {
    const Tokens* const known = find(answer);
    const std::int64_t begin = known && !known->kept.empty() ? known->kept.back().end : bytes_before;
    const std::int64_t end = std::max(begin, bytes_before + record.text_end);
    push(answer, {.record = record, .begin = begin, .end = end, .model = model_});
  }
}

void TokenLog::push(Answer answer, Kept kept) {
  answers_[answer].kept.push_back(std::move(kept));
  order_.push_back(answer);
  if (order_.size() > most_) forget_oldest();
}

// An answer that has lost all of its tokens is still known by how many it had: numbers stay what they are.
void TokenLog::forget_oldest() {
  Tokens& tokens = answers_[order_.front()];
  tokens.kept.pop_front();
  ++tokens.first;
  if (tokens.kept.empty() && order_.back() != order_.front()) answers_.erase(order_.front());
  order_.pop_front();
}

bool TokenLog::branch(Answer from, std::int64_t number, TokenId other, std::int64_t other_bytes, Answer to) {
  const Kept* const instead = find(from, number);
  if (!instead || from == to) return false;
  Kept chosen = *instead;
  const auto likely = std::ranges::find(chosen.record.likeliest, other, &TokenRecord::Likely::token);
  if (likely == chosen.record.likeliest.end()) return false;
  chosen.record.token = other;
  chosen.record.logprob = likely->logprob;
  chosen.end = chosen.begin + other_bytes;
  const Tokens before = *find(from);
  answers_[to].first = before.first;
  for (std::int64_t i = 0; i < number - before.first; ++i) push(to, before.kept[static_cast<std::size_t>(i)]);
  push(to, std::move(chosen));
  return true;
}

const TokenLog::Tokens* TokenLog::find(Answer answer) const {
  const auto found = answers_.find(answer);
  return found == answers_.end() ? nullptr : &found->second;
}

const TokenLog::Kept* TokenLog::find(Answer answer, std::int64_t number) const {
  const Tokens* const tokens = find(answer);
  if (!tokens || number < tokens->first || number - tokens->first >= std::ssize(tokens->kept)) return nullptr;
  return &tokens->kept[static_cast<std::size_t>(number - tokens->first)];
}

std::vector<TokenLog::Place> TokenLog::written(std::int64_t after, std::int64_t until) const {
  std::vector<Place> places;
  for (const auto& [answer, tokens] : answers_) {
    for (std::int64_t i = 0; i < std::ssize(tokens.kept); ++i) {
      const Kept& kept = tokens.kept[static_cast<std::size_t>(i)];
      if (kept.model == model_ && kept.record.pass_end > after && kept.record.pass_end <= until)
        places.push_back({answer, tokens.first + i});
    }
  }
  return places;
}

}  // namespace fovea::app
