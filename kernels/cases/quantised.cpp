#include "kernels/cases/quantised.h"

#include <cmath>

#include "kernels/formats/formats.h"

namespace fovea::kernels::cases {

namespace {

std::byte* quantised_room(Memory& memory, std::int64_t rows, std::int64_t columns) {
  return memory.room(4 * rows * columns);
}

HostWeight unit_matrix(std::int64_t columns) {
  HostWeight weight{Type::q8_0, columns, columns, {}, {}};
  weight.values.resize(static_cast<std::size_t>(columns * columns));
  for (std::int64_t i = 0; i < columns; ++i) weight.values[static_cast<std::size_t>(i * (columns + 1))] = 1;
  weight.bytes.resize(static_cast<std::size_t>(columns * row_bytes(weight.type, columns)));
  formats::quantize(weight.type, weight.values.data(), columns * columns, weight.bytes.data());
  return weight;
}

}  // namespace

std::vector<float> unit_rows(std::vector<float> x, std::int64_t columns) {
  for (auto row = x.begin(); row != x.end(); row += columns) {
    double squares = 0;
    for (auto i = row; i != row + columns; ++i) squares += static_cast<double>(*i) * *i;
    const double factor = std::sqrt(static_cast<double>(columns) / squares);
    for (auto i = row; i != row + columns; ++i) *i = static_cast<float>(*i * factor);
  }
  return x;
}

QuantisedRows::QuantisedRows(Memory& memory, const std::vector<float>& unit_rows, std::int64_t columns)
    : device_(memory.device()) {
  norm_.columns = columns;
  norm_.rows = std::ssize(unit_rows) / columns;
  norm_.x = const_cast<float*>(memory.input(unit_rows));  // not written: there is no residual
  norm_.weight = memory.input(std::vector<float>(static_cast<std::size_t>(columns), 1.0F));
  norm_.out = memory.used_up(std::vector<float>(unit_rows.size()));
  norm_.quantised = quantised_room(memory, norm_.rows, columns);
}

QuantisedReader::QuantisedReader(Memory& memory, std::int64_t rows, std::int64_t columns)
    : device_(memory.device()),
      quantised_(quantised_room(memory, rows, columns)),
      rows_(rows),
      unit_{memory.weight(unit_matrix(columns)), nullptr, memory.output<float>(rows * columns), columns} {}

void QuantisedReader::read(const float* x, Stream& stream) const {
  device_.operations().linear({.x = x,
                               .tokens = rows_,
                               .columns = unit_.weight.columns,
                               .projections = {&unit_, 1},
                               .quantised = quantised_},
                              stream);
}

// Half a step of the largest value of a row, at most.
std::vector<double> QuantisedReader::tolerance(const std::vector<float>& read,
                                               const std::vector<double>& written, std::int64_t columns) {
  std::vector<double> result(written);
  for (std::size_t i = 0; i < read.size(); ++i) {
    const std::size_t row = i - i % static_cast<std::size_t>(columns);
    double largest = 0;
    for (std::size_t j = row; j < row + static_cast<std::size_t>(columns); ++j)
      largest = std::fmax(largest, std::fabs(read[j]));
    result[i] += 0.52 * largest / 127;
  }
  return result;
}

}  // namespace fovea::kernels::cases
