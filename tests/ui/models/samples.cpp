#include "tests/ui/models/samples.h"

namespace fovea::tests {
namespace {

using ui::FitView;

constexpr qint64 kGigabyte = 1'000'000'000;

ui::LibraryRow moe() {
  ui::LibraryRow row;
  row.path = QStringLiteral("/home/ada/.local/share/fovea/models/Qwen3-30B-A3B-Instruct-2507-Q4_K_M.gguf");
  row.name = QStringLiteral("Qwen3-30B-A3B-Instruct-2507-Q4_K_M");
  row.is_read = true;
  row.is_open = true;
  row.architecture = QStringLiteral("qwen3_moe");
  row.format = QStringLiteral("GGUF v3");
  row.quantization = QStringLiteral("Q4_K, Q6_K");
  row.bytes = 18'556'000'000;
  row.parameters = 30.5e9;
  row.parameters_active = 3.3e9;
  row.layers = 48;
  row.experts = 128;
  row.experts_used = 8;
  row.context = 262144;
  row.fit = FitView::fits;
  row.fit_text = QStringLiteral("Fits");
  row.fit_number = QStringLiteral("19.9 GB of 54.1 GB");
  row.fit_why = QStringLiteral(
      "At its file's precision it takes 19.9 GB of the 54.1 GB that is free for a model; 805.3 MB of that "
      "holds 8,192 tokens of conversation.");
  row.stores = {QStringLiteral("the file's precision, 2 bits: 27.3 GB"),
                QStringLiteral("the file's precision, 3 bits, 2 bits: 39.1 GB")};
  row.store_bytes = 66 * kGigabyte;
  return row;
}

ui::LibraryRow large() {
  ui::LibraryRow row = moe();
  row.path = QStringLiteral("/mnt/models/gpt-oss-120b-mxfp4-00001-of-00003.gguf");
  row.name = QStringLiteral("gpt-oss-120b-mxfp4");
  row.is_open = false;
  row.can_open = true;
  row.architecture = QStringLiteral("gpt_oss");
  row.quantization = QStringLiteral("MXFP4");
  row.bytes = 63'387'000'000;
  row.parameters = 116.8e9;
  row.parameters_active = 5.1e9;
  row.layers = 36;
  row.experts_used = 4;
  row.context = 131072;
  row.fit = FitView::lower_precision;
  row.fit_text = QStringLiteral("Fits with experts at lower precision");
  row.fit_number = QStringLiteral("53.8 GB of 54.1 GB");
  row.fit_why = QStringLiteral(
      "At its file's precision it would need 68.2 GB, and 54.1 GB is free for a model. It fits with 2,928 of "
      "6,144 experts at the file's precision, the others at 2 bits, which takes 53.8 GB.");
  row.stores.clear();
  row.store_bytes = 0;
  return row;
}

ui::LibraryRow huge() {
  ui::LibraryRow row = large();
  row.path = QStringLiteral("/mnt/models/Qwen3-Next-80B-A3B-Instruct");
  row.name = QStringLiteral("Qwen3-Next-80B-A3B-Instruct");
  row.architecture = QStringLiteral("qwen3_next");
  row.format = QStringLiteral("safetensors");
  row.quantization = QStringLiteral("BF16");
  row.bytes = 162'700'000'000;
  row.parameters = 80e9;
  row.parameters_active = 3.9e9;
  row.layers = 48;
  row.experts = 512;
  row.experts_used = 10;
  row.context = 262144;
  row.fit = FitView::experts_elsewhere;
  row.fit_text = QStringLiteral("Fits with experts on the disk");
  row.fit_number = QStringLiteral("53.9 GB of 54.1 GB");
  row.fit_why = QStringLiteral(
      "The experts of 6 layers stay on the disk and are read when they are needed, which is slow (3,072 of "
      "24,576 "
      "experts); the others are at 2 bits. That takes 53.9 GB of 54.1 GB.");
  return row;
}

ui::LibraryRow too_large() {
  ui::LibraryRow row = huge();
  row.path = QStringLiteral("/mnt/models/Llama-3.1-405B-Instruct-Q8_0-00001-of-00012.gguf");
  row.name = QStringLiteral("Llama-3.1-405B-Instruct-Q8_0");
  row.architecture = QStringLiteral("llama");
  row.format = QStringLiteral("GGUF v3");
  row.quantization = QStringLiteral("Q8_0");
  row.bytes = 431'200'000'000;
  row.parameters = row.parameters_active = 405.9e9;
  row.layers = 126;
  row.experts = row.experts_used = 0;
  row.context = 131072;
  row.can_open = false;
  row.fit = FitView::does_not_fit;
  row.fit_text = QStringLiteral("Does not fit");
  row.fit_number = QStringLiteral("needs 119.4 GB, 54.1 GB is free");
  row.fit_why = QStringLiteral(
      "At its file's precision it would need 436.0 GB, and 54.1 GB is free for a model. With everything "
      "lowered that can be, 119.4 GB would be enough.");
  return row;
}

ui::LibraryRow broken() {
  ui::LibraryRow row;
  row.path = QStringLiteral("/home/ada/Downloads/mixtral-8x7b-instruct-v0.1.Q5_K_M.gguf");
  row.name = QStringLiteral("mixtral-8x7b-instruct-v0.1.Q5_K_M");
  row.is_read = true;
  row.bytes = 8'120'000'000;
  row.error = QStringLiteral(
      "/home/ada/Downloads/mixtral-8x7b-instruct-v0.1.Q5_K_M.gguf: the tensor blk.7.ffn_down_exps.weight "
      "ends at "
      "byte 8,304,512,000, the file has 8,120,000,000. The download was cut off: download it again");
  return row;
}

ui::LibraryRow unread() {
  ui::LibraryRow row;
  row.path = QStringLiteral("/mnt/models/SmolLM2-135M-Instruct-Q4_1.gguf");
  row.name = QStringLiteral("SmolLM2-135M-Instruct-Q4_1");
  row.bytes = 98'400'000;
  return row;
}

ui::VersionRow version(const char* name, double gigabytes, FitView fit, const char* text, const char* why) {
  ui::VersionRow row;
  row.name = QStringLiteral("Qwen3-30B-A3B-Instruct-2507-") + QLatin1String(name);
  row.quantization = QLatin1String(name);
  row.bytes = static_cast<qint64>(gigabytes * kGigabyte);
  row.fit = fit;
  row.fit_text = QLatin1String(text);
  row.fit_why = QLatin1String(why);
  return row;
}

}  // namespace

std::vector<ui::LibraryRow> sample_models() {
  return {moe(), large(), huge(), too_large(), broken(), unread()};
}

std::vector<ui::RepositoryRow> sample_repositories() {
  return {{QStringLiteral("unsloth/Qwen3-30B-A3B-Instruct-2507-GGUF"), 1'240'000, 412, false},
          {QStringLiteral("Qwen/Qwen3-30B-A3B-Instruct-2507"), 980'000, 655, false},
          {QStringLiteral("bartowski/Qwen_Qwen3-30B-A3B-Instruct-2507-GGUF"), 88'000, 31, false},
          {QStringLiteral(
               "a-laboratory-with-a-long-name/Qwen3-30B-A3B-Instruct-2507-distilled-on-law-and-medicine"),
           912, 3, true}};
}

std::vector<ui::VersionRow> sample_versions() {
  const char* fits =
      "Estimated from the file's size: with the conversation and working memory it should take about 20.4 GB "
      "of the 54.1 GB that is free for a model. The planner will know exactly once the file is here.";
  std::vector<ui::VersionRow> rows{
      version("Q2_K_L", 11.3, FitView::fits, "Should fit", fits),
      version("Q4_K_M", 18.6, FitView::fits, "Should fit", fits),
      version("Q8_0", 32.5, FitView::fits, "Should fit", fits),
      version("BF16", 61.1, FitView::lower_precision, "Should fit at lower precision",
              "An estimate from the published model's shape. At its file's precision it would need 67.2 GB, "
              "and 54.1 GB is free for a model. It fits with 5,280 of 6,144 experts at the file's precision, "
              "the others at 4 bits, which takes 53.6 GB."),
      version("F32", 122.1, FitView::does_not_fit, "Unlikely to fit", "An estimate from the file's size.")};
  rows[2].is_proposed = true;
  rows[3].files = 2;
  rows[4].is_complete = false;
  return rows;
}

std::vector<ui::CatalogueRow> sample_catalogue() {
  ui::CatalogueRow fits{.id = QStringLiteral("fits"),
                        .name = QStringLiteral("Qwen3.6-35B-A3B, 4 bits"),
                        .good_at = QStringLiteral("Knowledge, code and very long texts, fast for its size"),
                        .size = QStringLiteral("about 21.4 GB"),
                        .fit = FitView::fits,
                        .fit_text = QStringLiteral("Fits"),
                        .fit_why = QStringLiteral("An estimate from the published model's shape."),
                        .needs = QStringLiteral("22.0 GB of 54.1 GB")};
  ui::CatalogueRow here = fits;
  here.id = QStringLiteral("here");
  here.name = QStringLiteral("gpt-oss-20b, as published");
  here.fit = FitView::lower_precision;
  here.fit_text = QStringLiteral("Fits with experts at lower precision");
  here.path = QStringLiteral("/models/here.gguf");
  ui::CatalogueRow large = fits;
  large.id = QStringLiteral("large");
  large.name = QStringLiteral("A large one");
  large.fit = FitView::does_not_fit;
  large.fit_text = QStringLiteral("Does not fit");
  large.needs = QStringLiteral("needs 119.4 GB, 54.1 GB is free");
  return {fits, here, large};
}

std::vector<ui::DownloadRow> sample_downloads() {
  using State = ui::DownloadStateView;
  const QString repository = QStringLiteral("unsloth/Qwen3-30B-A3B-Instruct-2507-GGUF");
  return {
      {1, QStringLiteral("SmolLM2-135M-Instruct-Q4_1"), repository, State::done,
       QStringLiteral("98.4 MB, complete and verified"), 98'400'000, 98'400'000,
       QStringLiteral("/models/smol.gguf"), false},
      {2,
       QStringLiteral("Qwen3-30B-A3B-Instruct-2507-Q4_K_M"),
       repository,
       State::running,
       QStringLiteral("6.2 GB of 18.6 GB, 41.3 MB per second, 5 minutes left"),
       6'200'000'000,
       18'600'000'000,
       {},
       false},
      {3,
       QStringLiteral("gpt-oss-120b-mxfp4"),
       QStringLiteral("openai/gpt-oss-120b"),
       State::paused,
       QStringLiteral("Paused at 30.1 GB of 63.4 GB"),
       30'100'000'000,
       63'400'000'000,
       {},
       false},
      {4,
       QStringLiteral("a-gated-model-Q4_K_M"),
       QStringLiteral("org/gated"),
       State::failed,
       QStringLiteral("https://huggingface.co/org/gated: access to this repository must be granted first. "
                      "Accept its terms on the hub's page, then store a token"),
       0,
       4'900'000'000,
       {},
       true}};
}

std::vector<ui::FolderView> sample_folders() {
  return {{QStringLiteral("/home/ada/.local/share/fovea/models"), true},
          {QStringLiteral("/home/ada/.cache/huggingface/hub"), true},
          {QStringLiteral("/mnt/models"), false}};
}

}  // namespace fovea::tests
