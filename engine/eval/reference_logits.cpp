#include "engine/eval/reference_logits.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <string_view>
#include <utility>

#include "engine/checkpoint/checksum.h"
#include "engine/eval/errors.h"

namespace fovea::eval {
namespace {

constexpr std::string_view magic = "FOVLOGIT";
constexpr std::uint32_t version = 1;
constexpr std::size_t header_bytes = 24;

using Header = std::array<char, header_bytes>;

Header header_of(const LogitsShape& shape) {
  Header header{};
  std::ranges::copy(magic, header.begin());
  const std::array<std::uint32_t, 4> numbers{version, static_cast<std::uint32_t>(shape.vocabulary),
                                             static_cast<std::uint32_t>(shape.context),
                                             static_cast<std::uint32_t>(shape.first)};
  std::memcpy(header.data() + magic.size(), numbers.data(), sizeof numbers);
  return header;
}

std::size_t window_bytes(const LogitsShape& shape) {
  return sizeof(std::uint64_t) + static_cast<std::size_t>(shape.values()) * sizeof(float);
}

std::uint64_t checksum_of(std::span<const TokenId> tokens) {
  return checkpoint::checksum64(std::as_bytes(tokens));
}

}  // namespace

Result<LogitsReader> LogitsReader::open(const std::filesystem::path& path, const LogitsShape& shape) {
  LogitsReader reader;
  FOVEA_TRY(reader.file_, checkpoint::MappedFile::open(path));
  reader.path_ = path;
  reader.shape_ = shape;
  const std::span<const std::byte> bytes = reader.file_.bytes();
  if (bytes.size() < header_bytes || std::memcmp(bytes.data(), magic.data(), magic.size()) != 0)
    return fail(phrases::file_place(path), errors::reference_not_logits());
  const Header wanted = header_of(shape);
  if (std::memcmp(bytes.data(), wanted.data(), wanted.size()) != 0)
    return fail(phrases::file_place(path), errors::reference_of_other_shape(shape.context));
  const std::size_t data = bytes.size() - header_bytes;
  if (data % window_bytes(shape) != 0) return fail(phrases::file_place(path), errors::reference_cut());
  reader.windows_ = static_cast<std::int64_t>(data / window_bytes(shape));
  return reader;
}

Result<std::span<const float>> LogitsReader::window(std::int64_t number,
                                                    std::span<const TokenId> tokens) const {
  if (number >= windows_)
    return fail(phrases::file_place(path_), errors::reference_too_few_windows(windows_));
  const std::byte* const at =
      file_.bytes().data() + header_bytes + static_cast<std::size_t>(number) * window_bytes(shape_);
  std::uint64_t found = 0;
  std::memcpy(&found, at, sizeof found);
  if (found != checksum_of(tokens))
    return fail(phrases::file_place(path_), errors::reference_of_other_text(number + 1));
  return std::span(reinterpret_cast<const float*>(at + sizeof found),
                   static_cast<std::size_t>(shape_.values()));
}

Result<LogitsWriter> LogitsWriter::create(const std::filesystem::path& path, const LogitsShape& shape) {
  FOVEA_TRY(auto file, AtomicFile::create(path));
  const Header header = header_of(shape);
  FOVEA_CHECK(file.write(std::as_bytes(std::span(header))));
  return LogitsWriter(std::move(file), shape);
}

Result<void> LogitsWriter::add(std::span<const TokenId> tokens, std::span<const float> rows) {
  assert(std::ssize(tokens) == shape_.context && std::ssize(rows) == shape_.values());
  const std::uint64_t checksum = checksum_of(tokens);
  FOVEA_CHECK(file_.write(std::as_bytes(std::span(&checksum, 1))));
  return file_.write(std::as_bytes(rows));
}

}  // namespace fovea::eval
