// The hub's cache: what other tools have put there is found, and what is put there looks like theirs.
#include <fstream>

#include "app/download/errors.h"
#include "app/download/hub_cache.h"
#include "app/download/library_link.h"
#include "app/download/partial_file.h"
#include "app/download/queue_file.h"
#include "tests/support/environment.h"
#include "tests/support/test.h"

namespace fs = std::filesystem;
using namespace fovea::app;
using fovea::tests::TemporaryFolder;

namespace {

const std::string commit(40, 'c'), oid(40, 'b'), sha(64, 'a');

using Values = std::map<QByteArray, QByteArray>;

fs::path default_folder(Values values) {
  const fovea::tests::Environment environment{{"HF_HUB_CACHE", values["HF_HUB_CACHE"]},
                                              {"HUGGINGFACE_HUB_CACHE", values["HUGGINGFACE_HUB_CACHE"]},
                                              {"HF_HOME", values["HF_HOME"]},
                                              {"XDG_CACHE_HOME", values["XDG_CACHE_HOME"]},
                                              {"HOME", values["HOME"]}};
  return HubCache::default_folder();
}

// As huggingface_hub 1.x lays it out.
void put_as_the_hub_does(const fs::path& cache, const std::string& path, const std::string& bytes) {
  const fs::path folder = cache / "models--org--model";
  const fs::path blob = folder / "blobs" / sha, link = folder / "snapshots" / commit / path;
  fs::create_directories(blob.parent_path());
  fs::create_directories(link.parent_path());
  fs::create_directories(folder / "refs");
  std::ofstream(blob) << bytes;
  fs::create_symlink(fs::relative(blob, link.parent_path()), link);
  std::ofstream(folder / "refs/main") << commit;
}

}  // namespace

class CacheTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void whereItIs() {
    using Values = std::map<QByteArray, QByteArray>;
    const Values all{{"HF_HUB_CACHE", "/a"}, {"HF_HOME", "/b"}, {"XDG_CACHE_HOME", "/c"}, {"HOME", "/d"}};
    QCOMPARE(default_folder(all), fs::path("/a"));
    QCOMPARE(default_folder({{"HF_HOME", "/b"}, {"HOME", "/d"}}), fs::path("/b/hub"));
    QCOMPARE(default_folder({{"XDG_CACHE_HOME", "/c"}, {"HOME", "/d"}}), fs::path("/c/huggingface/hub"));
    QCOMPARE(default_folder({{"HOME", "/d"}}), fs::path("/d/.cache/huggingface/hub"));
  }

  void whatAnotherToolDownloadedIsFound() {
    const TemporaryFolder folder;
    put_as_the_hub_does(folder.path(), "Q4/m-Q4_K_M.gguf", "weights");
    const HubCache cache(folder.path());
    const fs::path there = folder.path() / "models--org--model/snapshots" / commit / "Q4/m-Q4_K_M.gguf";
    QCOMPARE(cache.find("org/model", "main", "Q4/m-Q4_K_M.gguf").value_or(""), there);
    QCOMPARE(cache.find("org/model", commit, "Q4/m-Q4_K_M.gguf").value_or(""), there);
    QVERIFY(!cache.find("org/model", "dev", "Q4/m-Q4_K_M.gguf"));
    QVERIFY(!cache.find("org/model", "main", "../../refs/main"));
    QVERIFY(!cache.find("../x", "main", "a"));
    const auto repository = cache.repository("org/model", "main").value();
    QCOMPARE(repository.files.size(), 1U);
    QCOMPARE(repository.files[0].path, std::string("Q4/m-Q4_K_M.gguf"));
    QCOMPARE(repository.files[0].bytes, 7);
    const auto models = cache.models();
    QCOMPARE(models.size(), 1U);
    QCOMPARE(models[0].name, std::string("m-Q4_K_M"));
    QCOMPARE(models[0].path, there);
  }

  void damageInTheCacheIsNoModel() {
    const TemporaryFolder folder;
    fs::create_directories(folder.path() / "models--org--model/refs");
    std::ofstream(folder.path() / "models--org--model/refs/main") << "../../../etc";
    const HubCache cache(folder.path());
    QVERIFY(!cache.find("org/model", "main", "a"));
    QVERIFY(cache.models().empty());
    QVERIFY(HubCache(folder.path() / "none").models().empty());
  }

  void publishingMakesTheirLayout() {
    const TemporaryFolder folder;
    const HubCache cache(folder.path());
    const HubFile file{"sub/a.gguf", 3, oid, sha};
    fs::create_directories(cache.blob("org/model", file).parent_path());
    std::ofstream(cache.blob("org/model", file)) << "abc";
    const auto link = cache.publish("org/model", "main", commit, file);
    FOVEA_VERIFY(link);
    QCOMPARE(fs::read_symlink(*link), fs::path("../../../blobs") / sha);
    std::ifstream reference(folder.path() / "models--org--model/refs/main");
    QCOMPARE(std::string(std::istreambuf_iterator<char>(reference), {}), commit);
    FOVEA_VERIFY(cache.publish("org/model", "main", commit, file));  // again does no harm
    QCOMPARE(cache.find("org/model", "main", "sub/a.gguf").value_or(""), *link);
  }

  void theLibraryGetsALink() {
    const TemporaryFolder folder;
    const fs::path library = folder.path() / "models", snapshot = folder.path() / "s";
    fs::create_directories(snapshot);
    ModelChoice choice{
        .name = "m",
        .quantization = "",
        .files = {{"m-00001-of-00002.gguf", 1, oid, sha}, {"m-00002-of-00002.gguf", 1, oid, sha}}};
    for (const HubFile& file : choice.files) std::ofstream(snapshot / file.path) << "x";
    QCOMPARE(link_into_library(library, choice, snapshot), std::string("m"));
    QVERIFY(fs::exists(library / "m-00002-of-00002.gguf"));
    QCOMPARE(link_into_library(library, choice, snapshot), std::string("m"));
    fs::remove(library / "m-00001-of-00002.gguf");
    std::ofstream(library / "m-00001-of-00002.gguf") << "the user's own";
    QCOMPARE(link_into_library(library, choice, snapshot), std::string());
    QVERIFY(!fs::is_symlink(library / "m-00001-of-00002.gguf"));
  }

  // A disk that is full: nothing is begun, and the error tells the numbers.
  void roomIsAskedForFirst() {
    const TemporaryFolder folder;
    const PartialContent content{"s", std::int64_t{1} << 50, sha, oid};
    const auto file =
        PartialFile::open({folder.path() / "a", folder.path() / "a.incomplete", {}, true}, content, {});
    FOVEA_VERIFY(file);
    const auto room = (*file)->make_room();
    QVERIFY(!room);
    QVERIFY2(room.error().is(fovea::errors::download_disk_full.code), room.error().message().c_str());
    QCOMPARE(room.error().number("missing"), std::int64_t{1} << 50);
  }

  // What a program that was killed between writing a state and naming it has left, and nothing else.
  void unnamedStatesAreRemoved() {
    const TemporaryFolder folder;
    const fs::path orphan = folder.path() / "a.incomplete.state.partial-77";
    const fs::path other = folder.path() / "b.incomplete.state.partial-77";
    std::ofstream(orphan) << "{}";
    std::ofstream(other) << "{}";
    const PartialContent content{"s", 5, sha, oid};
    FOVEA_VERIFY(
        PartialFile::open({folder.path() / "a", folder.path() / "a.incomplete", {}, true}, content, {}));
    QVERIFY(!fs::exists(orphan));
    QVERIFY(fs::exists(other));
  }

  // What a program has left that was killed after naming the finished file; not what another one is writing.
  void theStateOfAFinishedFileIsRemoved() {
    const TemporaryFolder folder;
    const PartialPlace place{folder.path() / "a", folder.path() / "a.incomplete", {}, true};
    const fs::path state = folder.path() / "a.incomplete.state";
    const fs::path unnamed = folder.path() / "a.incomplete.state.partial-77";
    for (const fs::path& file : {place.target, place.incomplete, state, unnamed}) std::ofstream(file) << "{}";
    PartialFile::clean_after_commit(place);
    QVERIFY(fs::exists(state) && fs::exists(unnamed));
    fs::remove(place.incomplete);
    PartialFile::clean_after_commit(place);
    QVERIFY(!fs::exists(state) && !fs::exists(unnamed));
    QVERIFY(fs::exists(place.target));
  }

  void aQueueSurvivesItsFile() {
    QueuedDownload entry{
        .id = 4,
        .request = {"org/model", "main", commit, {}, "/to/here"},
        .state = DownloadState::paused,
        .error =
            fovea::errors::cannot_read(fovea::Said{"m\xFF"}).at(fovea::phrases::file_place(fs::path("w")))};
    entry.request.choice = {.name = "n",
                            .quantization = "Q4_0",
                            .files = {{"a/b.gguf", 5, oid, sha}, {"c", 1, oid, ""}},
                            .bytes = 6};
    const auto read = parse_queue(write_queue({entry}), "queue").value();
    QCOMPARE(read.size(), 1U);
    QCOMPARE(read[0].id, 4);
    QCOMPARE(read[0].request.folder, fs::path("/to/here"));
    QCOMPARE(read[0].request.choice.bytes, 6);
    QCOMPARE(read[0].request.choice.files[0].sha256, sha);
    QVERIFY(read[0].state == DownloadState::paused);
    QVERIFY(read[0].error.value().kind == fovea::ErrorKind::io);
    QVERIFY2(read[0].error->message().starts_with("w: cannot be read: m\uFFFD. Check the permissions"),
             read[0].error->message().c_str());
    entry.error.reset();
    QVERIFY(!parse_queue(write_queue({entry}), "queue").value()[0].error);
    for (const char* broken :
         {"", "{}", "[]", "{\"version\":2,\"downloads\":[]}", "{\"version\":1,\"downloads\":[1]}",
          "{\"version\":1,\"downloads\":[{\"id\":1,\"repository\":\"../x\",\"files\":[]}]}"})
      QVERIFY2(!parse_queue(broken, "queue"), broken);
  }
};
FOVEA_TEST(CacheTest)

#include "cache_test.moc"
