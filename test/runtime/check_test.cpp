// A test of check.h: the first case passes, all others fail and print why.
#include "test/runtime/check.h"

#include <stdexcept>
#include <vector>

TEST_CASE("what holds passes", "[check]") {
  INFO("not said");
  CHECK(1 + 1 == 2);
  CHECK_FALSE(2 < 1);
  REQUIRE(std::vector<int>{1, 2} == std::vector<int>{1, 2});
  REQUIRE_FALSE(false);
  CHECK(1.0f == Approx(1.000001));
  CHECK(0.25 == Approx(0.2).margin(0.06));
  CHECK_FALSE(1.0 == Approx(1.1).epsilon(0.05));
}

TEST_CASE("a value that is not what is wanted fails") {
  const int got = 3;
  INFO("a first " << 1.5f);
  INFO("a second");
  CHECK(got == 4);
}

TEST_CASE("a condition fails") {
  CHECK(false);
  CHECK_FALSE(true);
}

TEST_CASE("a list that differs fails") {
  REQUIRE(std::vector<float>{0.5f, 1} == std::vector<float>{0.5f, 2});
}

TEST_CASE("nothing runs behind a failed REQUIRE") {
  REQUIRE(1 > 2);
  throw std::runtime_error("went on");
}

TEST_CASE("an exception fails") { throw std::runtime_error("thrown"); }

TEMPLATE_TEST_CASE("a type that is too small fails", "[check]", char, long) {
  CHECK(sizeof(TestType) > 1);
}
