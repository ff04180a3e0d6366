// The tiny chat model of tests/golden/make_chat.py with another chat template, and with the control tokens
// that the template is made for.
#pragma once

#include <QtGlobal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "engine/chat/channels.h"
#include "engine/chat/control_tokens.h"
#include "engine/chat/prompt.h"
#include "engine/chat/tool_calls.h"
#include "engine/text/text_model.h"
#include "tests/engine/chat/marks.h"
#include "tests/support/paths.h"

namespace fovea::tests {

enum class Marks : std::uint8_t { chatml, harmony, gemma, calls };

// What make_thinking.py has written of its templates, by their names.
inline const nlohmann::json& thinking_cases() {
  static const nlohmann::json json =
      nlohmann::json::parse(content(golden("thinking/cases.json")), nullptr, false);
  return json;
}

class TemplateModel {
 public:
  TemplateModel(Marks marks, const std::string& source) {
    namespace fs = std::filesystem;
    fs::copy(golden("chat"), path(), fs::copy_options::recursive);
    if (marks != Marks::chatml) {
      for (const char* const name : {"tokenizer.json", "tokenizer_config.json"}) {
        std::string json = content(golden("thinking") / name);
        if (marks == Marks::gemma) json = with_gemmas_marks(std::move(json));
        if (marks == Marks::calls) json = with_calls_marks(std::move(json));
        std::ofstream(path() / name) << json;
      }
      auto config = nlohmann::ordered_json::parse(content(path() / "config.json"), nullptr, false);
      config["eos_token_id"] = {5, 6};  // <|return|> and <|call|>; else the first alone
      if (marks != Marks::harmony) config["eos_token_id"] = 5;
      std::ofstream(path() / "config.json") << config.dump();
    }
    std::ofstream(path() / "chat_template.jinja") << source;
    auto opened = TextModel::open(path());
    if (!opened) qFatal("%s", opened.error().message().c_str());
    text_ = *std::move(opened);
    control_ = std::make_unique<chat::ControlTokens>(tokenizer());
    channels_ = chat::ChannelTokens::of(tokenizer());
    syntax_ = chat::call_syntax(*text_, tokenizer());
  }
  // A template of make_thinking.py.
  static TemplateModel thinking(const std::string& style) {
    const Marks marks = style == "channels"         ? Marks::harmony
                        : style == "other_channels" ? Marks::gemma
                                                    : Marks::chatml;
    return {marks, thinking_cases()["templates"][style]["source"].get<std::string>()};
  }

  const std::filesystem::path& path() const { return folder_.path(); }
  const text::Tokenizer& tokenizer() const { return text_->parts().tokenizer; }
  const chat::ChannelTokens* channels() const { return channels_ ? &*channels_ : nullptr; }
  std::optional<chat::CallSyntax> syntax() const { return syntax_; }

  Result<chat::Prompt> prompt(const GenerateRequest& request) const {
    const auto tools = chat::tools_of(request, *text_, syntax_);
    if (!tools) return std::unexpected(tools.error());
    return chat::PromptMaker{.text = *text_,
                             .tokenizer = tokenizer(),
                             .control = *control_,
                             .channels = channels(),
                             .context = 10'000,
                             .syntax = syntax_}
        .make(request, *tools);
  }
  Result<std::string> rendered(const GenerateRequest& request) const {
    const auto made = prompt(request);
    if (!made) return std::unexpected(made.error());
    return text_->decode(made->tokens, true);
  }

 private:
  TemporaryFolder folder_;
  std::shared_ptr<const TextModel> text_;
  std::unique_ptr<chat::ControlTokens> control_;
  std::optional<chat::ChannelTokens> channels_;
  std::optional<chat::CallSyntax> syntax_;
};

}  // namespace fovea::tests
