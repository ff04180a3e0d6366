#include "app/demo/demo_model.h"

#include <string>
#include <utility>
#include <vector>

#include "app/demo/checksum.h"
#include "app/demo/demo_tensors.h"
#include "app/demo/errors.h"
#include "app/demo/recipe.h"
#include "app/library/data_folder.h"
#include "app/library/stores.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/gguf_writer.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/core/atomic_file.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace fs = std::filesystem;

namespace {

using checkpoint::Checkpoint;
using checkpoint::GgufWriter;

constexpr const char* source_sha256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";
constexpr const char* model_sha256 = "bbb17a2bfb6f1f3c152753734f6cc8a74770cacb17a44c94ee55abbf3ee449b5";

// `file` is, or will be, `target`.
Result<void> check(const fs::path& file, const fs::path& target, const char* expected,
                   const ProgressSink& progress, const std::stop_token& stop, const Phrase& advice) {
  const auto named = [&](Progress at) {
    at.item = target.filename().string();
    if (progress) progress(at);
  };
  FOVEA_TRY(const std::string found, sha256(file, named, stop));
  if (found == expected) return {};
  return fail(phrases::file_place(target), errors::demo_wrong_checksum(found, expected).advise(advice));
}

// All but its end: the model has its name with finish().
Result<GgufWriter> write_demo_model(const fs::path& source_path, const fs::path& target, std::int64_t layers,
                                    const ProgressSink& progress, const std::stop_token& stop) {
  FOVEA_TRY(const Checkpoint source, Checkpoint::open(source_path));
  FOVEA_TRY(const Recipe recipe, Recipe::open());
  FOVEA_TRY(const DemoContents contents, demo_contents(source, recipe, layers));

  std::vector<checkpoint::TensorInfo> infos;
  for (const DemoTensor& tensor : contents.tensors) infos.push_back(tensor.info);
  FOVEA_TRY(auto writer, GgufWriter::create(target, contents.metadata, std::move(infos)));
  for (const DemoTensor& tensor : contents.tensors) {
    if (stop.stop_requested()) return fail(phrases::file_place(target), errors::demo_build_stopped());
    FOVEA_CHECK(writer.append(tensor.make()));
    if (progress) {
      progress({Progress::Stage::building, static_cast<std::int64_t>(writer.written_bytes()),
                static_cast<std::int64_t>(writer.total_bytes()), Progress::Unit::bytes, tensor.info.name});
    }
  }
  return writer;
}

enum class Found : std::uint8_t { nothing, this_recipe, another_recipe };

Result<Found> look_at(const fs::path& model) {
  std::error_code error;
  if (!fs::exists(model, error)) return Found::nothing;
  const auto opened = Checkpoint::open(model);
  if (!opened || opened->metadata().string("general.name") != demo_model_name)
    return fail(phrases::file_place(model), errors::demo_other_model());
  const bool same = opened->metadata().string(demo_recipe_key) == demo_recipe_id;
  return same ? Found::this_recipe : Found::another_recipe;
}

Result<void> copy_model(const fs::path& source, const fs::path& target) {
  FOVEA_TRY(const auto bytes, checkpoint::MappedFile::open(source));
  FOVEA_TRY(auto file, AtomicFile::create(target));
  FOVEA_CHECK(file.write(bytes.bytes()));
  return file.commit();
}

}  // namespace

Result<void> build_demo_model(const fs::path& source, const fs::path& target, std::int64_t layers,
                              const ProgressSink& progress, std::stop_token stop) {
  FOVEA_TRY(auto writer, write_demo_model(source, target, layers, progress, stop));
  return writer.finish();
}

Result<DemoInstall> install_demo_model(const fs::path& source, const fs::path& models, const fs::path& stores,
                                       const ProgressSink& progress, std::stop_token stop) {
  const fs::path dense = models / "demo-dense.gguf", model = models / "demo.gguf";
  std::error_code error;
  FOVEA_TRY(const Found found, look_at(model));
  if (found == Found::this_recipe && fs::exists(dense, error)) return DemoInstall{};
  FOVEA_CHECK(check(source, source, source_sha256, progress, stop, phrases::demo_right_source()));
  FOVEA_CHECK(make_folder(models));
  if (!fs::exists(dense, error)) FOVEA_CHECK(copy_model(source, dense));
  if (found == Found::this_recipe) return DemoInstall{};
  FOVEA_TRY(auto writer, write_demo_model(source, model, 0, progress, stop));
  FOVEA_CHECK(check(writer.unfinished(), model, model_sha256, progress, stop, phrases::demo_report_bug()));
  const bool replaces = found == Found::another_recipe;
  const auto outdated = replaces ? stores_of(model, stores) : std::vector<StoreFile>{};
  FOVEA_CHECK(writer.finish());
  for (const StoreFile& store : outdated) fs::remove(store.path, error);
  return DemoInstall{replaces};
}

}  // namespace fovea::app
