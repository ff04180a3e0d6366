#include "corpora.h"

#include <QProcess>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/text/utf8.h"
#include "tests/support/paths.h"

namespace fovea::tests {
namespace {

using nlohmann::json;

// What a command writes; the test data is packed in several ways.
std::string output_of(const QString& program, const QStringList& arguments) {
  QProcess process;
  process.start(program, arguments);
  process.waitForFinished(-1);
  const QByteArray out = process.readAllStandardOutput();
  return {out.constData(), static_cast<std::size_t>(out.size())};
}

// A file of an archive of the shared data; empty where there is none.
std::string archived(const std::string& archive, const std::string& name) {
  const auto path = shared(archive);
  if (path.empty()) return {};
  return output_of("tar", {"-xJOf", QString::fromStdString(path.string()), QString::fromStdString(name)});
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

// All strings of each line's JSON object, in the order of their keys.
std::vector<std::string> strings_of(const std::vector<std::string>& lines) {
  std::vector<std::string> texts;
  for (const std::string& line : lines) {
    std::string& text = texts.emplace_back();
    if (line.empty()) continue;
    const json object = json::parse(line, nullptr, false);
    if (object.is_discarded()) continue;  // Infinity is no JSON
    for (const auto& [key, value] : object.items())
      if (value.is_string()) text += value.get<std::string>();
  }
  return texts;
}

}  // namespace

std::string unpacked(const std::filesystem::path& path) {
  const QString name = QString::fromStdString(path.string());
  if (name.endsWith(".xz")) return output_of("xz", {"-dc", name});
  if (name.endsWith(".gz")) return output_of("gzip", {"-dc", name});
  return content(path);
}

std::vector<std::string> corpus(const std::string& name) {
  constexpr std::string_view suffix = " strings";
  if (name.ends_with(suffix)) return strings_of(corpus(name.substr(0, name.size() - suffix.size())));
  std::string text;
  if (name.ends_with(".devtest")) {
    text = archived("data/flores101/flores101_devtest.tar.xz", name);
  } else if (name.ends_with(".tsv")) {
    text = archived("data/mgsm/mgsm.tar.xz", name);
  } else if (const auto path = shared("data/" + name); !path.empty()) {
    text = unpacked(path);
  }
  if (text.empty()) return {};
  return name.ends_with(".raw") ? std::vector{text} : lines_of(text);
}

std::string RandomTexts::next() {
  static const std::pair<char32_t, char32_t> ranges[] = {
      {0x20, 0x7E},     {0x00, 0x7F},     {0x80, 0x24F},    {0x300, 0x36F},     {0x370, 0x5FF},
      {0x600, 0x10FF},  {0x1100, 0x11FF}, {0x1E00, 0x20FF}, {0x2000, 0x2BFF},   {0x3000, 0x30FF},
      {0x4E00, 0x9FFF}, {0xAC00, 0xD7A3}, {0xE000, 0xFFFF}, {0x10000, 0x1FFFF}, {0x20000, 0x10FFFF}};
  static const std::u32string pieces[] = {
      U" ",   U"  ",   U"\n",     U"\r\n",   U"\t",     U"'s",      U"'S",     U"'\u017f",
      U"'ll", U"'RE",  U"\u00a0", U"\u3000", U"\u180e", U"\u0085",  U"\u2028", U"1",
      U"23",  U"4567", U"\u0301", U"\u0323", U"\u00b2", U"e\u0301", U"\u1e9e", U"<|im_end|>"};
  std::u32string characters;
  for (std::uint64_t left = 1 + below(24); left > 0; --left) {
    const std::uint64_t kind = below(10);
    if (kind < 3) {
      characters += pieces[below(std::size(pieces))];
    } else if (kind < 6) {
      characters += static_cast<char32_t>(0x20 + below(95));
    } else {
      const auto [low, high] = ranges[below(std::size(ranges))];
      characters += static_cast<char32_t>(low + below(high - low + 1));
    }
  }
  std::string bytes;
  for (const char32_t c : characters) text::append_utf8(bytes, c);
  return bytes;
}

std::uint64_t RandomTexts::below(std::uint64_t limit) {
  state_ += 0x9E3779B97F4A7C15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return (z ^ (z >> 31)) % limit;
}

}  // namespace fovea::tests
