// What a kernel may not do is found, and PTX that is not known here is named.
#include <bit>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "small_kernel.h"

using namespace fovea::tests;
using ptx::run_small;
using ptx::small_kernel;

namespace {

using Exactly = double (*)(double);

}  // namespace
Q_DECLARE_METATYPE(Exactly)

class PtxMachineTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void computes() {
    const ptx::Ran ran =
        run_small(small_kernel("mul.lo.s32 %r2, %r1, %r1;\n"
                               "mul.wide.u32 %rd3, %r1, 4;\n"
                               "add.s64 %rd4, %rd1, %rd3;\n"
                               "setp.lt.u32 %p1, %r1, 3;\n"
                               "@%p1 st.global.u32 [%rd4], %r2;\n"
                               "shfl.sync.bfly.b32 %r3|%p2, %r2, 1, 31, -1;\n"
                               "st.global.u32 [%rd4+128], %r3;"));
    QCOMPARE(ran.wrong, std::string());
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      QCOMPARE(ran.first[lane], lane < 3 ? lane * lane : 0U);
      QCOMPARE(ran.first[32 + lane], (lane ^ 1U) * (lane ^ 1U));
    }
  }

  // What one warp writes the other reads behind the barrier, in whatever order they come.
  void threads_of_a_block_wait_for_each_other() {
    const ptx::Ran ran = run_small(small_kernel("mov.u32 %r2, words;\n"
                                                "shl.b32 %r3, %r1, 2;\n"
                                                "add.s32 %r4, %r2, %r3;\n"
                                                "st.shared.u32 [%r4], %r1;\n"
                                                "bar.sync 0;\n"
                                                "sub.s32 %r5, 252, %r3;\n"
                                                "add.s32 %r5, %r2, %r5;\n"
                                                "ld.shared.u32 %r6, [%r5];\n"
                                                "cvt.u64.u32 %rd3, %r3;\n"
                                                "add.s64 %rd4, %rd2, %rd3;\n"
                                                "st.global.u32 [%rd4], %r6;"),
                                   {.threads = 64});
    QCOMPARE(ran.wrong, std::string());
    for (std::uint32_t t = 0; t < 64; ++t) QCOMPARE(ran.second[t], 63 - t);
  }

  // As far off as cards are, the same each time, and not where there is nothing to round.
  void is_near_as_cards_are_data() {
    QTest::addColumn<QString>("instruction");
    QTest::addColumn<Exactly>("exactly");
    const auto row = [](const char* instruction, Exactly exactly) {
      QTest::newRow(instruction) << QString::fromUtf8(instruction) << exactly;
    };
    row("ex2.approx.ftz.f32", [](double a) { return std::exp2(a); });
    row("rsqrt.approx.f32", [](double a) { return 1 / std::sqrt(a); });
    row("rcp.rn.f32", [](double a) { return 1 / a; });
  }
  void is_near_as_cards_are() {
    QFETCH(QString, instruction);
    QFETCH(Exactly, exactly);
    const std::string body = "cvt.rn.f32.u32 %r2, %r1;\n" + instruction.toStdString() +
                             " %r3, %r2;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd1, %rd3;\n"
                             "st.global.u32 [%rd4], %r3;";
    std::set<int> units;
    for (unsigned s = 0; s < 20; ++s) {
      const ptx::Ran ran = run_small(small_kernel(body), {.threads = 32}, seed() + s),
                     again = run_small(small_kernel(body), {.threads = 32}, seed() + s);
      QCOMPARE(ran.wrong, std::string());
      QCOMPARE(ran.first, again.first);
      QCOMPARE(std::bit_cast<float>(ran.first[0]), static_cast<float>(exactly(0)));
      for (std::uint32_t lane = 1; lane < 32; ++lane) {
        const auto right = std::bit_cast<std::uint32_t>(static_cast<float>(exactly(lane)));
        const auto off = static_cast<std::int32_t>(ran.first[lane] - right);
        QVERIFY2(off >= -2 && off <= 2, std::to_string(off).c_str());
        units.insert(off);
      }
    }
    for (const int unit : {-2, -1, 0, 1, 2}) QVERIFY(units.contains(unit));
  }

  // 2^24 + 1 + … + 1 − 2^24 is another number in another order.
  void adds_in_an_order_of_its_own() {
    // Of a, each row is 4096 1 … 1 −4096; of b, each column 4096 1 … 1 4096; c is 1.
    const std::string text = small_kernel(
        "and.b32 %r2, %r1, 3;\n"
        "mov.u32 %r3, 1006648320;\nmov.u32 %r4, 1006648320;\nmov.u32 %r5, 1006648320;\n"
        "mov.u32 %r6, 1006648320;\nmov.u32 %r7, 1065353216;\n"
        "setp.eq.u32 %p1, %r2, 0;\n@%p1 mov.u32 %r3, 1006660608;\n@%p1 mov.u32 %r5, 1006660608;\n"
        "setp.eq.u32 %p2, %r2, 3;\n@%p2 mov.u32 %r4, 3959438336;\n@%p2 mov.u32 %r6, 1811954688;\n"
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r7, %r8, %r8, %r8}, {%r3, %r3, %r4, %r4}, "
        "{%r5, %r6}, {%r7, %r7, %r7, %r7};\n"
        "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd1, %rd3;\nst.global.u32 [%rd4], %r7;");
    std::set<float> sums;
    for (unsigned s = 0; s < 20; ++s) {
      const ptx::Ran ran = run_small(text, {.threads = 32}, seed() + s);
      QCOMPARE(ran.wrong, std::string());
      sums.insert(std::bit_cast<float>(ran.first[0]));
    }
    QVERIFY(sums.size() > 1);
    QVERIFY(*sums.begin() >= 0 && *sums.rbegin() <= 16);  // 2^24 + 15 is rounded to even
  }

  void finds_what_is_wrong_data() {
    QTest::addColumn<QString>("body");
    QTest::addColumn<QString>("found");
    const auto row = [](const char* name, const char* body, const char* found) {
      QTest::newRow(name) << QString::fromUtf8(body) << QString::fromUtf8(found);
    };
    row("foreign memory", "st.global.u32 [%rd1+256], %r1;", "not the device's memory");
    row("an odd address", "ld.global.v2.u32 {%r2, %r3}, [%rd1+4];",
        "an address that its size does not divide");
    row("beyond shared memory", "mov.u32 %r2, words;\nst.shared.u32 [%r2+65536], %r1;",
        "beyond the end of its memory");
    row("beyond an array", "mov.u32 %r2, words;\nst.shared.u32 [%r2+256], %r1;",
        "outside the kernel's arrays in shared memory");
    row("a barrier for some",
        "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra $L;\nbar.sync 0;\nbra $END;\n$L:\nbar.warp.sync 3;",
        "threads wait for others that will not come: thread 0");
    row("a lane that has ended", "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra $END;\nredux.sync.max.u32 %r2, %r1, -1;",
        "a lane that is not there is waited for");
    row("not in its own mask", "bar.warp.sync 1;", "a lane is not in its own mask");
    row("an exchange beyond the mask",
        "setp.gt.u32 %p1, %r1, 1;\n@%p1 bra $END;\nshfl.sync.bfly.b32 %r2, %r1, 2, 31, 3;",
        "an exchange with a lane that is not in the mask");
    row("a barrier behind the end of some", "setp.gt.u32 %p1, %r1, 3;\n@%p1 bra $END;\nbar.sync 0;",
        "line 20 \"bar.sync 0\": a barrier before which 28 threads have ended");
    row("two barriers", "setp.gt.u32 %p1, %r1, 3;\n@%p1 bra $L;\nbar.sync 0;\nbra $END;\n$L:\nbar.sync 0;",
        "waits at line 23 ");
    row("a copy that nobody waits for",
        "mov.u32 %r3, words;\nshl.b32 %r4, %r1, 4;\nadd.s32 %r3, %r3, %r4;\nsetp.gt.u32 %p1, %r1, 7;\n"
        "@%p1 bra $END;\ncp.async.cg.shared.global [%r3], [%rd1], 16, 16;\ncp.async.commit_group;",
        "it ends without having waited for its copies");
    row("a copy of another size",
        "mov.u32 %r3, words;\ncp.async.ca.shared.global [%r3], [%rd1], 8, 8;\ncp.async.commit_group;",
        "a copy of another size");
  }
  void finds_what_is_wrong() {
    QFETCH(QString, body);
    QFETCH(QString, found);
    const std::string wrong = run_small(small_kernel(body.toStdString())).wrong;
    QVERIFY2(wrong.contains(found.toStdString()), wrong.c_str());
  }

  // Where nvcc was asked for them (-lineinfo): also the places that a function was inlined at.
  void tells_lines_of_the_source() {
    const std::string text =
        small_kernel(
            ".loc 1 35 7\nmov.u32 %r3, 1;\n"
            ".loc 2 8 3, function_name $L__info_string0, inlined_at 1 36 5\nmov.u32 %r3, 2;\n"
            ".loc 3 9 1, function_name $L__info_string0+4, inlined_at 2 8 3\nst.global.u32 [%rd1+256], %r1;\n"
            ".loc 1 37 7") +
        ".file 1 \"/home/of/norm.cu\", 1764000000, 5000\n.file 2 \"reduce.h\"\n.file 3 \"/of/platform.h\"\n"
        ".section .debug_str\n{\n$L__info_string0:\n.b8 95,90,0\n}\n";
    const std::string wrong = run_small(text).wrong;
    QVERIFY2(wrong.contains(" (platform.h:9, in reduce.h:8, in norm.cu:36) \"st.global"), wrong.c_str());
  }

  void names_what_is_not_known_data() {
    QTest::addColumn<QString>("line");
    for (const char* line :
         {"sqrt.rn.f32 %r2, %r1;", "add.rz.f32 %r2, %r1, %r1;", "ld.global.v8.u32 {%r2}, [%rd1];",
          "shfl.sync.up.b32 %r2, %r1, 1, 0, -1;", "mov.u32 %r2, %clock;", "mov.u32 %r2, nowhere;",
          "bra $NOWHERE;", "mul.hi.s32 %r2, %r1, %r1;",
          "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r2, %r3}, [%r1];"})
      QTest::addRow("%s", line) << QString::fromUtf8(line);
  }
  void names_what_is_not_known() {
    QFETCH(QString, line);
    try {
      ptx::parse(small_kernel(line.toStdString()));
    } catch (const std::runtime_error& error) {
      QVERIFY2(std::string(error.what()).starts_with("PTX, line "), error.what());
      return;
    }
    QFAIL("it was taken");
  }
};
FOVEA_TEST(PtxMachineTest)

#include "machine_test.moc"
