// fovea top [ADDRESS]: what the experts of a chat or a server do, live in the terminal.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unistd.h>

#include "app/commands/command.h"
#include "app/commands/flags.h"
#include "app/server/access.h"
#include "app/server/experts_door.h"
#include "app/terminal/screen.h"
#include "app/top/top_loop.h"
#include "app/top/top_report.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

constexpr std::chrono::seconds first_moment_limit(10);
constexpr int text_columns = 100;  // where there is no terminal

struct TopFlags {
  std::string address;
  std::string key_file;
  bool once = false, list = false, json = false;
};

Result<void> list_sources(const TopFlags& flags, Console& console) {
  nlohmann::ordered_json list = nlohmann::json::array();
  std::string text;
  for (const ExpertsAddress& each : watchable(doors_folder())) {
    const std::string address = each.door.empty() ? "http://" + each.shown : each.door.string();
    list.push_back({{"address", address}, {"process", each.process}});
    text += each.shown + "\n  fovea top " + address + "\n";
  }
  if (flags.json) return write_json(console, {{"sources", std::move(list)}});
  return console.write_text(text.empty() ? "No chat and no server of Fovea runs here.\n" : text);
}

Result<void> top(const TopFlags& flags, Console& console, Interrupts& interrupts) {
  if (flags.list) return list_sources(flags, console);
  TopSource source{.doors = doors_folder()};
  if (!flags.address.empty()) {
    FOVEA_TRY(source.address, read_address(flags.address));
  }
  if (!flags.key_file.empty()) {
    FOVEA_TRY(source.key, read_key(flags.key_file));
  }
  const Interrupts::Operation operation(interrupts);
  const char* const term = std::getenv("TERM");
  const bool is_terminal =
      console.output_is_terminal() && term != nullptr && std::string_view(term) != "dumb";
  if (is_terminal && !flags.once && !flags.json)
    return watch_on_terminal(source, look_of_terminal(), operation.token());
  FOVEA_TRY(const TopMoment moment, watch_once(source, first_moment_limit, operation.token()));
  if (flags.json) return write_json(console, top_json(moment.model, moment.source));
  const int columns = terminal_columns(STDOUT_FILENO);
  return console.write_text(top_text(moment.model, moment.source, columns > 0 ? columns : text_columns));
}

}  // namespace

void add_top(Registry& registry) {
  auto flags = std::make_shared<TopFlags>();
  CLI::App* command = add_command(
      registry, "top", "Show live what the experts of a chat or a server do; h in it lists its keys",
      flags->json,
      "  source, model      what is watched\n"
      "  policy             that moves its experts, or none\n"
      "  quality_kept       share of the model's quality (quality_in_nats: as likelihood of its own words; "
      "else\n"
      "                     of the way from the lowest precision to the highest); fixed_kept and low_kept: "
      "what\n"
      "                     fixed tiers of the same size and the lowest for all would keep; null: not known "
      "yet\n"
      "  bits_per_use       bits of a weight, mean over the uses of experts\n"
      "  tokens             since the model was opened; tok_per_s and prefill_tok_per_s: speeds lately\n"
      "  layers             that have experts; experts_per_layer: in each, the most\n"
      "  tiers              name, bits_per_weight, experts, bytes and share_of_uses of each\n"
      "  budget_bytes       of the memory; used_bytes\n"
      "  cards              of two that hold the model together, the one with the first layers first: name,\n"
      "                     budget_bytes, used_bytes, and of the first one layers; empty: there is one "
      "device\n"
      "  promotions         and demotions, bytes_read, stalls: uses that waited for the disk\n"
      "  top_tenth          share of a layer's uses that its busiest tenth had; evenness: 1 is even;\n"
      "                     collapsed_layers: that choose the same few experts for every token\n"
      "  sources            with --list: address and process of each that runs\n");
  command->add_option("ADDRESS", flags->address,
                      "A server such as http://127.0.0.1:11435, its port, or what --list names (default: the "
                      "newest chat of yours on this machine, else the server at port 11435)");
  command
      ->add_option("--api-key-file", flags->key_file, "A file that only you may read, with the server's key")
      ->type_name("FILE");
  command->add_flag("--once", flags->once, "Print one moment as text and end, as where there is no terminal");
  command->add_flag("--list", flags->list, "List what can be watched on this machine");
  command->callback([&registry, flags] {
    registry.chosen = [flags](Console& console, Interrupts& interrupts) {
      return top(*flags, console, interrupts);
    };
  });
}

}  // namespace fovea::app
