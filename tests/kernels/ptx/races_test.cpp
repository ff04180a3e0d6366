// What orders two accesses and what does not: of each kernel that races a twin that does not.
#include <map>
#include <string>

#include "small_kernel.h"

using namespace fovea::tests;
using ptx::run_small;
using ptx::small_kernel;

namespace {

// %r3, %r4: the thread's word of shared memory, and that of the thread whose number differs in the lowest
// bit; %rd3: its word of the first piece of memory.
const std::string addresses =
    "mov.u32 %r5, words;\nshl.b32 %r6, %r1, 2;\nadd.s32 %r3, %r5, %r6;\nxor.b32 %r4, %r3, 4;\n"
    "mul.wide.u32 %rd4, %r1, 4;\nadd.s64 %rd3, %rd1, %rd4;\n";
const std::string first_threads_only = "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra $END;\n";

}  // namespace
Q_DECLARE_METATYPE(ptx::Grid)

class PtxRacesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void kernels_data() {
    QTest::addColumn<QString>("body");
    QTest::addColumn<ptx::Grid>("grid");
    QTest::addColumn<QString>("found");  // empty: nothing
    const auto row = [](const char* name, const std::string& body, const char* found = "",
                        const ptx::Grid& grid = {.threads = 32}) {
      QTest::newRow(name) << QString::fromStdString(body) << grid << QString::fromUtf8(found);
    };
    const ptx::Grid two_warps = {.threads = 64}, four_blocks = {.blocks = {4, 1, 1}, .threads = 32};
    const ptx::Grid four_lanes = {.threads = 4}, four_halves = {.blocks = {4, 1, 1}, .threads = 16};
    const std::string reads = "ld.shared.u32 %r7, [%r4];\n", writes = "st.shared.u32 [%r3], %r1;\n";

    row("lanes", addresses + writes + reads, "shared memory");
    row("lanes behind a shuffle", addresses + writes + "shfl.sync.bfly.b32 %r8, %r1, 1, 31, -1;\n" + reads,
        "it races with a write of block (0, 0, 0), thread ");
    row("lanes behind a barrier of the warp", addresses + writes + "bar.warp.sync -1;\n" + reads);
    row("lanes behind a barrier of the block", addresses + writes + "bar.sync 0;\n" + reads);
    row("lanes that write what was read",
        addresses + writes + "bar.warp.sync -1;\n" + reads + "st.shared.u32 [%r3], %r2;\n", "races with a");
    row("lanes that write what was read behind a barrier",
        addresses + writes + "bar.warp.sync -1;\n" + reads +
            "bar.warp.sync -1;\nst.shared.u32 [%r3], %r2;\n");
    row("a barrier of other lanes",
        addresses + writes + "bar.warp.sync -1;\nsetp.gt.u32 %p1, %r1, 3;\n@%p1 bra $L;\n" + writes +
            "bar.warp.sync 15;\n" + reads + "bra $END;\n$L:\nbar.warp.sync -16;\nld.shared.u32 %r7, [%r5];\n",
        "races with");
    row("a barrier of a lane's own four",
        addresses + writes + "bar.warp.sync -1;\nsetp.gt.u32 %p1, %r1, 3;\n@%p1 bra $L;\n" + writes +
            "bar.warp.sync 15;\n" + reads + "bra $END;\n$L:\nbar.warp.sync -16;\n" + reads);
    // Handed on: 0 to 1, 1 to 2.
    const std::string one_by_one = addresses +
                                   "setp.gt.u32 %p1, %r1, 0;\nsetp.gt.u32 %p2, %r1, 1;\nsetp.gt.u32 %p3, "
                                   "%r1, 2;\n@%p3 bra $END;\n@!%p1 st.shared.u32 [%r5], %r1;\n";
    row("lanes that hand on",
        one_by_one + "@!%p2 bar.warp.sync 3;\n@%p1 bar.warp.sync 6;\n@%p2 ld.shared.u32 %r7, [%r5];\n");
    row("lanes that hand on too early",
        one_by_one + "@%p1 bar.warp.sync 6;\n@!%p2 bar.warp.sync 3;\n@%p2 ld.shared.u32 %r7, [%r5];\n",
        "shared memory");

    // Of one word, each warp's first thread another byte.
    const std::string two_bytes =
        "mov.u32 %r5, words;\nshr.u32 %r6, %r1, 5;\nadd.s32 %r5, %r5, %r6;\nand.b32 %r7, %r1, 31;\n"
        "setp.ne.u32 %p1, %r7, 0;\n@%p1 bra $END;\n";
    row("bytes of a word", two_bytes + "st.shared.u8 [%r5], %r1;\nld.shared.u8 %r7, [%r5];\n", "", two_warps);
    row("halves of a word",
        two_bytes +
            "shl.b32 %r6, %r6, 1;\nmov.u32 %r5, words;\nadd.s32 %r5, %r5, %r6;\n"
            "st.shared.u16 [%r5], %r1;\nld.shared.u16 %r7, [%r5];\n",
        "", two_warps);
    row("a half and a byte of it",
        two_bytes +
            "mov.u32 %r8, words;\nst.shared.u16 [%r8], %r1;\n"
            "st.shared.u8 [%r5], %r1;\n",
        "races with", two_warps);
    row("a byte and its word",
        two_bytes + "st.shared.u8 [%r5], %r1;\nmov.u32 %r8, words;\nst.shared.u32 [%r8], %r1;\n",
        "races with", two_warps);

    row("nobody has written",
        addresses + "setp.gt.u32 %p1, %r1, 0;\n@%p1 bra $L;\n" + writes +
            "$L:\nbar.sync 0;\nld.shared.u32 %r7, [%r5+4];\n",
        "shared memory that nobody has written");
    row("somebody has written", addresses + "setp.gt.u32 %p1, %r1, 0;\n@%p1 bra $L;\n" + writes +
                                    "$L:\nbar.sync 0;\nld.shared.u32 %r7, [%r5];\n");

    row("blocks write the same", first_threads_only + "st.global.u32 [%rd1], %r2;\n", "it races with a write",
        four_blocks);
    row("blocks add to the same", first_threads_only + "atom.global.add.u32 %r3, [%rd1], 1;\n", "",
        four_blocks);
    row("blocks write the same, around caches", first_threads_only + "st.volatile.global.u32 [%rd1], %r2;\n",
        "", four_blocks);
    row("a count and who reads it",
        first_threads_only + "atom.global.add.u32 %r3, [%rd1], 1;\nld.global.u32 %r3, [%rd1];\n",
        "races with", four_blocks);
    row("a count and who reads it around caches",
        first_threads_only + "atom.global.add.u32 %r3, [%rd1], 1;\nld.volatile.global.u32 %r3, [%rd1];\n", "",
        four_blocks);
    row("a constant that the launch writes",
        first_threads_only + "st.global.u32 [%rd1], %r2;\nld.global.nc.u32 %r3, [%rd1];\n",
        "no constant: the launch has written it");

    // Each block writes its word; who counts them all reads all words. Of the two fences, the first before
    // `count` is that of the writer, the second that of the last reader.
    const auto last_block = [](const std::string& before, const std::string& behind) {
      return first_threads_only +
             "mul.wide.u32 %rd3, %r2, 4;\nadd.s64 %rd3, %rd1, %rd3;\n"
             "st.global.u32 [%rd3], %r2;\n" +
             before + "atom.global.add.u32 %r3, [%rd2], 1;\nsetp.ne.u32 %p2, %r3, 3;\n@%p2 bra $END;\n" +
             behind + "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd1];\n";
    };
    row("the last block reads", last_block("membar.gl;\n", "membar.gl;\n"), "", four_blocks);
    row("the last block writes", last_block("membar.gl;\n", "membar.gl;\nst.global.u32 [%rd1], %r2;\n"), "",
        four_blocks);
    row("the last block, not fenced before", last_block("", "membar.gl;\n"), "it races with a write",
        four_blocks);
    row("the last block, not fenced behind", last_block("membar.gl;\n", ""), "it races with a write",
        four_blocks);
    row("the last block, fenced for blocks alone", last_block("membar.cta;\n", "membar.gl;\n"),
        "it races with a write", four_blocks);
    row("the last block, fenced for the host, too", last_block("membar.sys;\n", "membar.sys;\n"), "",
        four_blocks);

    // Each thread writes a word of its block's 16, its first thread counts, and all threads of the last block
    // read others' words.
    const auto all_threads = [](const std::string& before, const std::string& behind) {
      return "shl.b32 %r3, %r2, 4;\nadd.s32 %r3, %r3, %r1;\nmul.wide.u32 %rd3, %r3, 4;\nadd.s64 %rd3, %rd1, "
             "%rd3;\nst.global.u32 [%rd3], %r2;\n" +
             before +
             "mov.u32 %r5, words;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra $L;\n"
             "atom.global.add.u32 %r4, [%rd2], 1;\nst.shared.u32 [%r5], %r4;\n$L:\nbar.sync 0;\n"
             "ld.shared.u32 %r4, [%r5];\nsetp.ne.u32 %p2, %r4, 3;\n@%p2 bra $END;\n" +
             behind +
             "mul.wide.u32 %rd3, %r1, 16;\nadd.s64 %rd3, %rd1, %rd3;\n"
             "ld.global.cg.v4.u32 {%r3, %r4, %r5, %r6}, [%rd3];\n";
    };
    row("all threads", all_threads("membar.gl;\nbar.sync 0;\n", "membar.gl;\n"), "", four_halves);
    row("all threads, the first fences", all_threads("bar.sync 0;\nmembar.gl;\n", "membar.gl;\n"), "",
        four_halves);
    row("all threads, no barrier", all_threads("membar.gl;\n", "membar.gl;\n"), "races with a write",
        four_halves);
    row("all threads, no fence before", all_threads("bar.sync 0;\n", "membar.gl;\n"), "races with a write",
        four_halves);
    row("all threads, no fence behind", all_threads("membar.gl;\nbar.sync 0;\n", ""), "races with a write",
        four_halves);

    // Each lane writes a word, the first one counts for all, and that of the last block reads what others
    // wrote.
    const auto first_lane = [](const std::string& meets) {
      return "shl.b32 %r3, %r2, 4;\nadd.s32 %r3, %r3, %r1;\nmul.wide.u32 %rd3, %r3, 4;\nadd.s64 %rd3, %rd1, "
             "%rd3;\nst.global.u32 [%rd3], %r2;\n" +
             meets + first_threads_only +
             "membar.gl;\natom.global.add.u32 %r3, [%rd2], 1;\nsetp.ne.u32 %p2, %r3, 3;\n@%p2 bra $END;\n"
             "membar.gl;\nld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd1];\n";
    };
    row("all lanes", first_lane("bar.warp.sync 65535;\n"), "", four_halves);
    row("all lanes, fenced before they meet", first_lane("membar.gl;\nbar.warp.sync 65535;\n"), "",
        four_halves);
    row("all lanes, which do not meet", first_lane("membar.gl;\n"), "races with a write", four_halves);

    // Four lanes copy 16 bytes each.
    const std::string copies =
        "mov.u32 %r5, words;\nshl.b32 %r6, %r1, 4;\nadd.s32 %r5, %r5, %r6;\nmul.wide.u32 %rd3, %r1, 16;\n"
        "add.s64 %rd3, %rd1, %rd3;\ncp.async.cg.shared.global [%r5], [%rd3], 16, "
        "16;\ncp.async.commit_group;\n";
    const std::string waits = "cp.async.wait_group 0;\n", own = "ld.shared.u32 %r7, [%r5];\n",
                      other = "xor.b32 %r5, %r5, 16;\nld.shared.u32 %r7, [%r5];\n";
    const auto copy = [&](const char* name, const std::string& body, const char* found = "") {
      row(name, body, found, four_lanes);
    };
    copy("a copy, waited for", copies + waits + own);
    copy("a copy, not waited for", copies + own + waits, "a copy that has not been waited for");
    // Likewise a word.
    const std::string word_copies =
        "mov.u32 %r5, words;\nshl.b32 %r6, %r1, 2;\nadd.s32 %r5, %r5, %r6;\nmul.wide.u32 %rd3, %r1, 4;\n"
        "add.s64 %rd3, %rd1, %rd3;\ncp.async.ca.shared.global [%r5], [%rd3], 4, 4;\ncp.async.commit_group;\n";
    copy("a copy of a word, waited for", word_copies + waits + own);
    copy("a copy of a word, not waited for", word_copies + own + waits,
         "a copy that has not been waited for");
    copy("another's copy, behind a barrier", copies + waits + "bar.sync 0;\n" + other);
    copy("another's copy, no barrier", copies + waits + other, "shared memory");
    copy("another's copy, waited for too late", copies + "bar.sync 0;\n" + waits + other, "races with a");
    copy("a copy of what is written meanwhile", copies + "st.global.u32 [%rd3], %r1;\n" + waits,
         "it races with a read of");
    copy("a copy of what another writes meanwhile",
         copies +
             "ld.global.u32 %r7, [%rd3];\nbar.sync 0;\nxor.b32 %r6, %r1, 1;\nmul.wide.u32 %rd4, %r6, 16;\n"
             "add.s64 %rd4, %rd1, %rd4;\nst.global.u32 [%rd4], %r1;\n" +
             waits,
         "it races with a read of");
    copy("a copy of what is written behind it", copies + waits + "st.global.u32 [%rd3], %r1;\n");
    copy("the copy before the last one",
         copies + "cp.async.cg.shared.global [%r5], [%rd3], 16, 16;\n" + waits, "races with a copy");
  }
  void kernels() {
    QFETCH(QString, body);
    QFETCH(QString, found);
    QFETCH(ptx::Grid, grid);
    for (unsigned s = 0; s < 10; ++s) {
      const ptx::Ran ran = run_small(small_kernel(body.toStdString()), grid, seed() + s);
      if (found.isEmpty()) {
        QVERIFY2(ran.wrong.empty(), ran.wrong.c_str());
      } else {
        QVERIFY2(ran.wrong.contains(found.toStdString()), ran.wrong.c_str());
      }
    }
  }

  // Such as copies that nobody will ever wait for.
  void a_launch_that_failed_leaves_nothing_behind() {
    const std::string copies =
        "mov.u32 %r5, words;\nshl.b32 %r6, %r1, 4;\nadd.s32 %r5, %r5, %r6;\n"
        "cp.async.cg.shared.global [%r5], [%rd1], 16, 16;\ncp.async.commit_group;\n";
    const auto fails = ptx::parse(small_kernel(copies + "bar.sync 0;\nst.global.u32 [%rd1+512], %r1;"));
    const auto then = ptx::parse(small_kernel(copies + "cp.async.wait_group 0;\nld.shared.u32 %r7, [%r5];"));
    std::vector<std::uint32_t> numbers(64);
    ptx::Memory memory;
    memory.add(numbers.data(), 256);
    ptx::Machine machine(memory);
    machine.watch(true);
    const void* const pointer = numbers.data();
    const void* const arguments[] = {&pointer, &pointer};
    for (unsigned s = 0; s < 10; ++s) {
      machine.use_seed(seed() + s);
      const auto run = [&](const ptx::Program& program) {
        return machine.execute(program, *program.functions.at("planted"), {.threads = 16}, arguments);
      };
      QVERIFY(run(*fails).contains("not the device's memory"));
      QCOMPARE(run(*then), std::string());
    }
  }

  // What may be read before the kernel before has ended is what that one does not write.
  void launches_that_overlap_data() {
    QTest::addColumn<QString>("body");
    QTest::addColumn<QString>("found");
    const auto row = [](const char* name, const char* body, const char* found = "") {
      QTest::newRow(name) << QString::fromUtf8(body) << QString::fromUtf8(found);
    };
    const char* const early = "before earlier kernels have ended";
    const char* const not_waited = "it has not waited for earlier kernels at its beginning";
    row("reads behind it", "griddepcontrol.wait;\nld.global.nc.u32 %r3, [%rd1];");
    row("reads constants before it", "ld.global.nc.u32 %r3, [%rd2];\ngriddepcontrol.wait;");
    row("reads no constants before it", "ld.global.nc.u32 %r3, [%rd1];\ngriddepcontrol.wait;", early);
    row("reads before it", "ld.global.u32 %r3, [%rd2];\ngriddepcontrol.wait;", early);
    row("writes before it", "setp.eq.u32 %p1, %r1, 0;\n@%p1 st.global.u32 [%rd2], %r1;\ngriddepcontrol.wait;",
        early);
    row("does not wait", "mov.u32 %r3, 1;", not_waited);
    row("meets others before it", "bar.warp.sync -1;\ngriddepcontrol.wait;", not_waited);
  }
  void launches_that_overlap() {
    QFETCH(QString, body);
    QFETCH(QString, found);
    const auto writes = ptx::parse(small_kernel(addresses + "st.global.u32 [%rd3], %r1;"));
    const auto then = ptx::parse(small_kernel(body.toStdString()));
    std::vector<std::uint32_t> numbers(128);
    ptx::Memory memory;
    memory.add(numbers.data(), 512);
    ptx::Machine machine(memory);
    machine.watch(true);
    const void* pointers[] = {numbers.data(), numbers.data() + 64};
    const void* const arguments[] = {&pointers[0], &pointers[1]};
    const auto run = [&](const ptx::Program& program, bool overlaps) {
      return machine.execute(program, *program.functions.at("planted"), {.threads = 32, .overlaps = overlaps},
                             arguments);
    };
    QCOMPARE(run(*writes, false), std::string());
    const std::string wrong = run(*then, true);
    QVERIFY2(found.isEmpty() ? wrong.empty() : wrong.contains(found.toStdString()), wrong.c_str());
    // Where the launch does not overlap, all may be done at any time.
    QCOMPARE(run(*writes, false), std::string());
    QCOMPARE(run(*then, false), std::string());
  }
};
FOVEA_TEST(PtxRacesTest)

#include "races_test.moc"
