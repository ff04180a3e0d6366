#include "engine/eval/reference_logits.h"

#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "tests/support/test.h"

using fovea::Result;
using fovea::TokenId;
using fovea::eval::LogitsReader;
using fovea::eval::LogitsShape;
using fovea::eval::LogitsWriter;

namespace {

constexpr LogitsShape shape{.vocabulary = 2, .context = 4, .first = 2};

Result<void> write(LogitsWriter& writer, int windows, float value) {
  for (int i = 0; i < windows; ++i) {
    const std::vector<TokenId> tokens{i, 1, 2, 3};
    const std::vector<float> rows(static_cast<std::size_t>(shape.values()), value);
    FOVEA_CHECK(writer.add(tokens, rows));
  }
  return {};
}

// 0: it holds exactly these windows.
int differs(const std::filesystem::path& path, int windows, float value) {
  const auto reader = LogitsReader::open(path, shape);
  if (!reader) return 1;
  for (int i = 0; i < windows; ++i) {
    const auto rows = reader->window(i, std::vector<TokenId>{i, 1, 2, 3});
    if (!rows || rows->back() != value) return 2;
  }
  return reader->window(windows, std::vector<TokenId>{windows, 1, 2, 3}) ? 3 : 0;
}

}  // namespace

class ReferenceLogitsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // The second begins and ends while the first one writes.
  void twoProgramsWriteTheSameFile() {
    const fovea::tests::TemporaryFolder folder;
    const auto path = folder.path() / "kept";
    auto first = LogitsWriter::create(path, shape);
    FOVEA_VERIFY(first);
    FOVEA_VERIFY(write(*first, 2, 1));
    const pid_t second = ::fork();
    QVERIFY(second >= 0);
    if (second == 0) {
      auto writer = LogitsWriter::create(path, shape);
      const bool written = writer && write(*writer, 3, 2) && writer->finish();
      ::_exit(written ? differs(path, 3, 2) : 4);
    }
    int status = 0;
    QCOMPARE(::waitpid(second, &status, 0), second);
    QVERIFY(WIFEXITED(status));
    QCOMPARE(WEXITSTATUS(status), 0);
    FOVEA_VERIFY(first->finish());
    QCOMPARE(differs(path, 2, 1), 0);
    QCOMPARE(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  }

  void whatIsNotFinishedLeavesNothing() {
    const fovea::tests::TemporaryFolder folder;
    {
      auto writer = LogitsWriter::create(folder.path() / "kept", shape);
      FOVEA_VERIFY(writer);
      FOVEA_VERIFY(write(*writer, 1, 1));
    }
    QVERIFY(std::filesystem::is_empty(folder.path()));
  }
};
FOVEA_TEST(ReferenceLogitsTest)

#include "reference_logits_test.moc"
