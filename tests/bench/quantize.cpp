// Quantises a matrix of raw floats and writes what comes back, for scripts that judge the error.
//
//   bench_quantize TYPE ROWS COLUMNS IN.f32 OUT.f32 [--importance FILE.f32 | --moments FILE.f32]
//
// IN and OUT hold [ROWS, COLUMNS] floats, the importance [COLUMNS], the moments [COLUMNS, COLUMNS]. Prints
// bits per weight and the speed on one core, counted in bytes of a 16-bit source.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "kernels/formats/calibrated.h"
#include "kernels/formats/formats.h"

using namespace fovea::kernels;

namespace {

std::optional<std::vector<float>> read(const char* path, std::int64_t count) {
  std::FILE* file = std::fopen(path, "rb");
  if (!file) return std::nullopt;
  std::vector<float> values(static_cast<std::size_t>(count));
  const bool complete = std::fread(values.data(), sizeof(float), values.size(), file) == values.size() &&
                        std::fgetc(file) == EOF;
  std::fclose(file);
  return complete ? std::optional(std::move(values)) : std::nullopt;
}

bool write(const char* path, const std::vector<float>& values) {
  std::FILE* file = std::fopen(path, "wb");
  if (!file) return false;
  const bool complete = std::fwrite(values.data(), sizeof(float), values.size(), file) == values.size();
  return std::fclose(file) == 0 && complete;
}

std::optional<Type> type_named(const std::string& name) {
  for (int number = 0; number < 256; ++number) {
    const auto type = static_cast<Type>(number);
    if (type_name(type) == name && block_shape(type).elements > 0 && formats::can_quantize(type)) return type;
  }
  return std::nullopt;
}

int refuse(const std::string& why) {
  std::fprintf(stderr,
               "%s\nbench_quantize TYPE ROWS COLUMNS IN.f32 OUT.f32 [--importance FILE | --moments FILE]\n",
               why.c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6 && argc != 8) return refuse("five or seven arguments are expected");
  const auto type = type_named(argv[1]);
  const std::int64_t rows = std::atoll(argv[2]);
  const std::int64_t columns = std::atoll(argv[3]);
  if (!type) return refuse(std::string(argv[1]) + " is not a type that can be quantised");
  if (rows < 1 || columns < 1 || columns % 32 != 0)
    return refuse("the shape is not rows of a multiple of 32");
  const auto weights = read(argv[4], rows * columns);
  if (!weights) return refuse(std::string(argv[4]) + " does not hold that many floats");
  const std::string option = argc == 8 ? argv[6] : "";
  std::optional<std::vector<float>> data;
  if (argc == 8) {
    if (option != "--importance" && option != "--moments") return refuse(option + " is not an option");
    data = read(argv[7], option == "--moments" ? columns * columns : columns);
    if (!data) return refuse(std::string(argv[7]) + " does not hold that many floats");
  }

  std::vector<std::byte> bytes(static_cast<std::size_t>(rows * row_bytes(*type, columns)));
  const std::clock_t start = std::clock();
  bool done = false;
  if (option == "--moments") {
    const auto metric = formats::InputMetric::make(data->data(), columns);
    done = metric && formats::quantize_rows(*type, weights->data(), rows, *metric, bytes.data());
  } else {
    done = formats::quantize_rows(*type, weights->data(), rows, columns, data ? data->data() : nullptr,
                                  bytes.data());
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  if (!done) return refuse("a value is not finite");

  std::vector<float> back(weights->size());
  formats::dequantize(*type, bytes.data(), rows * columns, back.data());
  if (!write(argv[5], back)) return refuse(std::string(argv[5]) + " cannot be written");
  std::printf("%.4f bits per weight, %.1f MB/s\n", bits_per_weight(*type),
              2e-6 * static_cast<double>(rows * columns) / seconds);
  return 0;
}
