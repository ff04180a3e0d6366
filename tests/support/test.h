// Registration of Qt Test classes, so that one executable holds a folder's tests.
//
//   class MatMulTest : public QObject { Q_OBJECT  private Q_SLOTS: void agrees_data(); void agrees(); };
//   FOVEA_TEST(MatMulTest)
//   #include "matmul_test.moc"
//
// Arguments after the class name go to Qt Test:  test_kernels_cpu MatMulTest agrees:"q4_0 odd rows"
#pragma once

#include <QObject>
#include <QtTest/QtTest>
#include <memory>

#include "tests/support/paths.h"
#include "tests/support/wait.h"

namespace fovea::tests {

struct Registration {
  Registration(const char* name, std::unique_ptr<QObject> (*make)());
};

// Runs the registered classes, or the one that argv[1] names. Returns the process's exit code.
int run(int argc, char** argv);

// The seed of this run: FOVEA_TEST_SEED, else 1. A failing random test must print it.
unsigned seed();
// Rounds of randomised tests: FOVEA_TEST_ROUNDS multiplies the usual number (scripts/test --full uses 20).
int rounds(int usual);

}  // namespace fovea::tests

// Qt's own give up after five seconds.
#undef QTRY_VERIFY
#define QTRY_VERIFY(condition) QTRY_VERIFY_WITH_TIMEOUT((condition), ::fovea::tests::kLong)
#undef QTRY_COMPARE
#define QTRY_COMPARE(actual, expected) QTRY_COMPARE_WITH_TIMEOUT((actual), (expected), ::fovea::tests::kLong)

#define FOVEA_TEST(Class)                                     \
  static const ::fovea::tests::Registration register_##Class( \
      #Class, []() -> std::unique_ptr<QObject> { return std::make_unique<Class>(); });

// Fails with the message of a Result that holds an error.
#define FOVEA_VERIFY(result)                                                              \
  do {                                                                                    \
    const auto& fovea_verified = (result);                                                \
    QVERIFY2(fovea_verified.has_value(),                                                  \
             fovea_verified.has_value() ? "" : fovea_verified.error().message().c_str()); \
  } while (false)
