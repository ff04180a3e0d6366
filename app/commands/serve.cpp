// fovea serve [MODEL…]: answers other programs over HTTP.
#include <CLI/CLI.hpp>
#include <charconv>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "app/commands/flags.h"
#include "app/commands/loading.h"
#include "app/commands/plan_report.h"
#include "app/commands/precision_flags.h"
#include "app/library/data_folder.h"
#include "app/server/engine_models.h"
#include "app/server/errors.h"
#include "app/server/port_owner.h"
#include "app/server/service.h"
#include "engine/api/limits.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

struct ServeFlags {
  std::vector<std::string> models;
  std::string host = "127.0.0.1";
  std::uint16_t port = 11435;
  std::string key_file;
  std::int64_t idle_seconds = 600;
  LoadOptions load = {.sequences = max_sequences};
  bool json = false;
};

// "10min", "90s", "2h"; 0: never. Becomes seconds.
std::string read_duration(std::string& text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  const std::int64_t seconds = unit == "h" ? 3600 : unit == "min" ? 60 : unit == "s" ? 1 : 0;
  constexpr std::int64_t most = 1'000'000;
  const bool is_zero = error == std::errc() && number == 0 && unit.empty();
  if (!is_zero && (error != std::errc() || number < 0 || number > most || seconds == 0))
    return text + " is not a time such as 10min, 90s, 2h or 0";
  text = std::to_string(number * seconds);
  return {};
}

Result<AccessRules> access_rules(const ServeFlags& flags) {
  std::string key;
  if (!flags.key_file.empty()) {
    FOVEA_TRY(key, read_key(flags.key_file));
  }
  auto rules = rules_for(flags.host, std::move(key));
  if (!rules)
    return std::unexpected(std::move(rules).error().at(phrases::option_place("--host " + flags.host)));
  return rules;
}

Error with_owner(Error error, const ServeFlags& flags) {
  if (!error.is(errors::server_port_in_use.code)) return error;
  const auto owner = ask_port(flags.host, flags.port);
  if (!owner) return error;
  return errors::server_port_of_fovea(owner->version, owner->process).at(std::move(error.where));
}

Result<void> serve(const ServeFlags& flags, Console& console, Interrupts& interrupts) {
  FOVEA_TRY(AccessRules rules, access_rules(flags));
  FOVEA_TRY(const auto models, EngineModels::open({.given = flags.models,
                                                   .folder = models_folder(),
                                                   .idle_unload = std::chrono::seconds(flags.idle_seconds),
                                                   .options = [&flags](const std::string& model) {
                                                     return load_options(model, flags.load);
                                                   }}));
  auto started = Service::start({.host = flags.host,
                                 .port = flags.port,
                                 .slots = static_cast<int>(flags.load.sequences),
                                 .access = std::move(rules),
                                 .version = FOVEA_VERSION,
                                 .plan_json = served_plan},
                                *models);
  if (!started) return std::unexpected(with_owner(std::move(started).error(), flags));
  const std::unique_ptr<Service> service = *std::move(started);

  Interrupts::Operation operation(interrupts);
  const std::stop_token stop = operation.token();
  for (const std::string& model : models->given()) {
    FOVEA_CHECK(models->acquire(model, stop));
  }
  if (flags.json) {
    FOVEA_CHECK(write_json(console, {{"url", service->url()}, {"port", service->port()}}));
  } else {
    FOVEA_CHECK(console.write("Fovea listens at " + service->url() + "\n"));
  }
  std::mutex mutex;
  std::condition_variable_any ended;
  std::unique_lock lock(mutex);
  ended.wait(lock, stop, [] { return false; });
  return {};
}

}  // namespace

void add_serve(Registry& registry) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App* command = add_command(
      registry, "serve", "Answer other programs over HTTP, as OpenAI, Anthropic, Ollama and llama.cpp do",
      flags->json, "  url, port          where it listens, when it is ready\n");
  command->add_option(
      "MODEL", flags->models,
      "GGUF files, Hugging Face folders or names in the model library, loaded at once; the others of "
      "the library are loaded when a program names them");
  command
      ->add_option(
          "--host", flags->host,
          "The address to listen at; for any but this machine's own a key is needed (default: 127.0.0.1)")
      ->transform(CLI::Validator(
          [](std::string& text) {
            if (text == "localhost") text = "127.0.0.1";
            return std::string();
          },
          ""));
  command->add_option("--port", flags->port, "The port; 0: a free one (default: 11435)")
      ->check(number_between(0, 65535));
  command
      ->add_option("--api-key-file", flags->key_file,
                   "A file that only you may read, with the key that programs must send")
      ->type_name("FILE");
  command
      ->add_option("--idle-unload", flags->idle_seconds,
                   "Unload a model that nobody has asked for so long; 0: never (default: 10min)")
      ->type_name("TIME")
      ->transform(CLI::Validator([](std::string& text) { return read_duration(text); }, ""));
  command
      ->add_option("--slots", flags->load.sequences,
                   "Requests that are answered at once; others wait (default: 8)")
      ->check(number_between(1, max_sequences));
  command
      ->add_option(
          "--cache-tokens", flags->load.cache_tokens,
          "Tokens of KV cache that these share; what does not fit waits (default: as many as --context)")
      ->check(number_between(1, max_sequences * max_context));
  add_context(*command, flags->load, "Tokens of context (default: the model's, at most 8192)");
  add_device(*command, flags->load.device, 2);
  add_threads(*command, flags->load);
  add_kv(*command, flags->load);
  add_chunk(*command, flags->load);
  add_precision(*command, flags->load.precision);
  command->callback([&registry, flags] {
    registry.chosen = [flags](Console& console, Interrupts& interrupts) {
      return serve(*flags, console, interrupts);
    };
  });
}

}  // namespace fovea::app
