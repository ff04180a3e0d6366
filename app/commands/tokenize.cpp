// fovea tokenize MODEL: text to token ids.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/commands/errors.h"
#include "app/commands/flags.h"
#include "app/commands/loading.h"
#include "app/commands/text_input.h"
#include "app/files/files.h"
#include "engine/api/text.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

constexpr std::int64_t stdin_limit_bytes = std::int64_t{4} << 30;

struct TokenizeFlags {
  std::string model;
  std::optional<std::string> text;
  EncodeOptions options;
  bool json = false;
};

std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += digits[value >> 4];
    text += digits[value & 15];
  }
  return text;
}

// On one line: line breaks and other controls as escapes, bytes that are no whole characters as U+FFFD.
std::string on_one_line(const std::string& piece) {
  return nlohmann::json(piece).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<void> tokenize(const TokenizeFlags& flags, Console& console) {
  FOVEA_TRY(auto path, find_model(flags.model));
  FOVEA_TRY(auto model, TextModel::open(path));
  std::string text;
  if (flags.text) {
    text = *flags.text;
  } else {
    FOVEA_TRY(text, read_standard_input(stdin_limit_bytes));
  }

  note_invalid_utf8(console, "tokenize", flags.text ? phrases::option_place("--text") : place_of("-"), text);
  const std::vector<TokenId> tokens = model->encode(text, flags.options);
  if (!flags.json) {
    std::string lines;
    for (const TokenId token : tokens) {
      lines += std::to_string(token) + "\t" + on_one_line(model->piece(token)) + "\n";
    }
    return console.write(lines);
  }
  auto pieces = nlohmann::ordered_json::array();
  auto bytes = nlohmann::ordered_json::array();
  for (const TokenId token : tokens) {
    const std::string piece = model->piece(token);
    pieces.push_back(piece);
    bytes.push_back(hexadecimal(piece));
  }
  return write_json(console,
                    {{"tokens", tokens}, {"pieces", std::move(pieces)}, {"bytes", std::move(bytes)}});
}

}  // namespace

void add_tokenize(Registry& registry) {
  auto flags = std::make_shared<TokenizeFlags>();
  CLI::App* command = add_command(
      registry, "tokenize",
      "Text to token ids; the text is taken byte for byte, and U+FFFD where it is not UTF-8", flags->json,
      "  tokens  ids, in order\n"
      "  pieces  the text of each; U+FFFD where a token is no whole character\n"
      "  bytes   the bytes of each, in hexadecimal\n");
  add_model(*command, flags->model)->required();
  command->add_option("--text", flags->text, "The text (default: standard input)");
  command->add_flag("--add-special", flags->options.add_special,
                    "Add what the tokeniser begins and ends a text with");
  command->add_flag("--parse-special", flags->options.parse_special,
                    "Read control tokens in the text as such, not as text");
  command->callback([&registry, flags] {
    registry.chosen = [flags](Console& console, Interrupts&) { return tokenize(*flags, console); };
  });
}

}  // namespace fovea::app
