// fovea logits MODEL --tokens … --out F.npy: the logits of all positions.
#include <CLI/CLI.hpp>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "app/commands/errors.h"
#include "app/commands/flags.h"
#include "app/commands/loading.h"
#include "app/commands/npy.h"
#include "app/commands/text_input.h"
#include "app/files/files.h"
#include "engine/core/atomic_file.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

constexpr std::int64_t tokens_limit_bytes = 64 << 20;

struct LogitsFlags {
  std::string model, tokens, out;
  LoadOptions load{.kv = KvType::f32};
  bool json = false;
};

// "1,2,3"; blanks around the numbers are allowed.
Result<void> parse_tokens(std::string_view text, std::vector<TokenId>& tokens) {
  const auto blank = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    more = comma != std::string_view::npos;
    text.remove_prefix(more ? comma + 1 : text.size());
    while (!item.empty() && blank(item.front())) item.remove_prefix(1);
    while (!item.empty() && blank(item.back())) item.remove_suffix(1);
    TokenId token = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), token);
    if (error != std::errc() || end != item.data() + item.size() || token < 0)
      return fail(place_of("-"), errors::no_token_id(item));
    tokens.push_back(token);
  }
  return {};
}

Result<std::vector<TokenId>> read_tokens(const std::string& argument) {
  std::vector<TokenId> tokens;
  std::string text = argument;
  if (argument == "-") {
    FOVEA_TRY(text, read_standard_input(tokens_limit_bytes));
  }
  FOVEA_CHECK(parse_tokens(text, tokens));
  return tokens;
}

Result<void> check_tokens(const std::vector<TokenId>& tokens, std::int64_t vocabulary) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] < vocabulary) continue;
    return fail(phrases::token_of_input(i + 1),
                errors::id_beyond_vocabulary(tokens[i], vocabulary, vocabulary - 1));
  }
  return {};
}

Result<void> write_logits(const LogitsFlags& flags, Console& console, Interrupts& interrupts) {
  FOVEA_TRY(LoadOptions request, load_options(flags.model, flags.load));
  FOVEA_TRY(const std::vector<TokenId> tokens, read_tokens(flags.tokens));
  const Interrupts::Operation operation(interrupts);
  FOVEA_TRY(const ModelInfo info, inspect(request.model));
  FOVEA_CHECK(check_tokens(tokens, info.vocabulary));
  request.need_tokenizer = false;
  request.context = static_cast<std::int64_t>(tokens.size());
  FOVEA_TRY(auto file, AtomicFile::create(flags.out));
  FOVEA_TRY(const LoadedEngine loaded, load_engine(request, console, operation.token()));

  const std::int64_t vocabulary = loaded.engine->info().vocabulary;
  FOVEA_CHECK(file.write(npy_header(request.context, vocabulary)));
  Result<void> written;
  const auto row = [&](std::int64_t, std::span<const float> logits) {  // [vocabulary]
    if (!written) return;
    written = file.write(std::as_bytes(logits));
  };
  FOVEA_CHECK(loaded.engine->logits(tokens, row, operation.token()));
  FOVEA_CHECK(written);
  FOVEA_CHECK(file.commit());
  if (!flags.json) return {};
  return write_json(console, {{"shape", {request.context, vocabulary}}, {"out", flags.out}});
}

}  // namespace

void add_logits(Registry& registry) {
  auto flags = std::make_shared<LogitsFlags>();
  CLI::App* command =
      add_command(registry, "logits", "The logits of all positions, as a NumPy file", flags->json,
                  "  shape  [tokens, vocabulary] of the float32 array\n"
                  "  out    the file\n");
  add_model(*command, flags->model)->required();
  command->add_option("--tokens", flags->tokens, "Token ids, like 1,2,3; - for standard input")
      ->required()
      ->check(CLI::Validator(
          [](std::string& text) {
            std::vector<TokenId> tokens;
            const Result<void> read = text == "-" ? Result<void>() : parse_tokens(text, tokens);
            return read ? std::string() : english(read.error().what) + "; give ids like 1,2,3";
          },
          ""));
  command->add_option("--out", flags->out, "The .npy file to write")->required();
  add_chunk(*command, flags->load);
  add_device(*command, flags->load.device, 2);
  add_threads(*command, flags->load);
  add_kv(*command, flags->load);
  command->callback([&registry, flags] {
    registry.chosen = [flags](Console& console, Interrupts& interrupts) {
      return write_logits(*flags, console, interrupts);
    };
  });
}

}  // namespace fovea::app
