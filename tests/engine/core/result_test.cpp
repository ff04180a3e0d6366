#include "engine/core/result.h"

#include "engine/api/errors.h"
#include "tests/support/test.h"

using fovea::ErrorKind;
using fovea::Result;

namespace fovea::errors {
FOVEA_ERROR(invalid, odd_number, "the number is odd", "Give an even one");
}

namespace {

Result<int> half(int x) {
  if (x % 2 != 0) return fovea::fail(fovea::phrases::name_place("half"), fovea::errors::odd_number());
  return x / 2;
}

Result<int> quarter(int x) {
  FOVEA_TRY(const int once, half(x));
  FOVEA_TRY(const int twice, half(once));
  return twice;
}

}  // namespace

class ResultTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void valuesPassThrough() { QCOMPARE(quarter(12).value(), 3); }
  void errorsKeepPlaceAndAdvice() {
    const Result<int> result = quarter(6);
    QVERIFY(!result);
    QCOMPARE(result.error().kind, ErrorKind::invalid);
    QCOMPARE(result.error().message(), std::string("half: the number is odd. Give an even one"));
  }
};
FOVEA_TEST(ResultTest)

#include "result_test.moc"
