// Tests codes of small floats: every code, and every point at which rounding
// changes, against the nearest number in a list of all.
#include "runtime/simd/small_floats.h"
#include "test/runtime/check.h"
#include "test/runtime/widths.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

using namespace nnc;
using nnc_test::widest;

namespace {

/// A format of small floats as its specification defines it, and the values of
/// its codes.
struct format {
  const char *name;
  int exponent, fraction, bias;
  small_specials specials;

  int codes() const { return 2 << (exponent + fraction); }
  int sign() const { return codes() / 2; }
  /// Returns the value of a code in double, which may be NaN or infinite.
  double value(int code) const {
    const int size = code & (sign() - 1), field = size >> fraction;
    const int rest = size & ((1 << fraction) - 1);
    const double negative = code & sign() ? -1.0 : 1.0;
    if (specials == small_specials::infinity && field == (1 << exponent) - 1)
      return rest ? std::nan("") : negative * INFINITY;
    if (specials == small_specials::last_nan && size == sign() - 1)
      return std::nan("");
    if (specials == small_specials::minus_zero && code == sign())
      return std::nan("");
    const int scale = (field ? field : 1) - bias - fraction;
    return negative * std::ldexp(field ? rest + (1 << fraction) : rest, scale);
  }
  int largest() const {
    int code = sign() - 1;
    while (!std::isfinite(value(code)))
      --code;
    return code;
  }
};

const format formats[] = {
    {"e4m3fn", 4, 3, 7, small_specials::last_nan},
    {"e4m3fnuz", 4, 3, 8, small_specials::minus_zero},
    {"e5m2", 5, 2, 15, small_specials::infinity},
    {"e5m2fnuz", 5, 2, 16, small_specials::minus_zero},
    {"e2m1", 2, 1, 1, small_specials::none},
    {"e2m3", 2, 3, 1, small_specials::none},
    {"e3m2", 3, 2, 3, small_specials::none},
    {"e5m10", 5, 10, 15, small_specials::infinity},
    {"e8m7", 8, 7, 127, small_specials::infinity},
};

bool same(float a, float b) {
  return std::isnan(a) ? std::isnan(b)
                       : a == b && std::signbit(a) == std::signbit(b);
}

/// Returns f(x), computed in vectors of V. The number of elements of x is a
/// multiple of the lanes.
template <class V, class F>
std::vector<float> map(const std::vector<float> &x, F f) {
  std::vector<float> y(x.size());
  for (std::size_t i = 0; i < x.size(); i += lanes<V>)
    nnc::store(&y[i], f(nnc::load<V>(&x[i])));
  return y;
}

template <class F> std::vector<float> map_all(std::vector<float> x, F f) {
  const std::size_t count = x.size();
  while (x.size() % widest)
    x.push_back(0.0f);
  std::vector<float> y = map<float>(x, f), wide = map<f32x<widest>>(x, f);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!same(y[i], wide[i])) {
      INFO("of " << x[i]);
      REQUIRE(y[i] == wide[i]);
    }
  y.resize(count);
  return y;
}

/// Returns the code of x by the definition: that of the nearest number of the
/// format, or the even code if two are equally near.
int nearest(const format &f, float x, bool saturates) {
  if (std::isnan(x) && f.specials == small_specials::none)
    return std::signbit(x) ? 0 : f.sign();
  const int sign = std::signbit(x) ? f.sign() : 0;
  const int largest = f.largest();
  const double size = std::fabs(static_cast<double>(x));
  const double last = f.value(largest), step = last - f.value(largest - 1);
  int code = 0;
  if (std::isnan(x))
    code = f.specials == small_specials::infinity
               ? largest + 1 + (1 << (f.fraction - 1))
               : largest + 1;
  else if (size > last + step / 2 || (size == last + step / 2 && largest % 2))
    // A largest number of an odd code is not the even one of two.
    code =
        saturates || f.specials == small_specials::none ? largest : largest + 1;
  else {
    int low = 0, high = largest;
    while (low < high) {
      const int middle = (low + high + 1) / 2;
      (f.value(middle) <= size ? low : high) =
          f.value(middle) <= size ? middle : middle - 1;
    }
    code = low;
    if (low < largest) {
      const double below = size - f.value(low), above = f.value(low + 1) - size;
      if (above < below || (above == below && low % 2))
        code = low + 1;
    }
  }
  if (f.specials == small_specials::minus_zero)
    return code > largest ? f.sign() : code ? code | sign : 0;
  return code | sign;
}

/// Returns true if tests try the numbers around a code. For formats of 16 bits,
/// these are one code in 29, the first and last codes, and those around powers
/// of two; NNC_MATH_STRIDE=1 selects all codes.
bool is_tested(const format &f, int code) {
  static const bool all = std::getenv("NNC_MATH_STRIDE") != nullptr;
  const int part = code & ((1 << f.fraction) - 1);
  return all || f.largest() < 256 || code % 29 == 0 || code < 64 ||
         code > f.largest() - 64 || part < 2 || part + 2 > 1 << f.fraction;
}

/// Returns the numbers of the format, the middles between them, and their
/// neighbours.
std::vector<float> arguments(const format &f) {
  std::vector<float> x = {0.0f,  -0.0f,  INFINITY, -INFINITY,
                          3e38f, -3e38f, 1e-40f};
  const float quiet = std::nanf("");
  x.push_back(std::copysign(quiet, 1.0f));
  x.push_back(std::copysign(quiet, -1.0f));
  for (int code = 0; code <= f.largest() + 1; ++code) {
    if (!is_tested(f, code))
      continue;
    const double low = f.value(code < f.largest() ? code : f.largest() - 1);
    const double step =
        f.value(code < f.largest() ? code + 1 : f.largest()) - low;
    for (double part : {0.0, 0.5, 1.0, 1.5})
      for (float sign : {1.0f, -1.0f}) {
        const float v = sign * static_cast<float>(low + part * step);
        for (float near :
             {v, std::nextafter(v, 0.0f), std::nextafter(v, sign * INFINITY)})
          x.push_back(near);
      }
  }
  return x;
}

template <class Encode, class Decode>
void check(const char *name, Encode encode, Decode decode) {
  INFO(name);
  const format *f = formats;
  while (std::string(f->name) != name)
    ++f;
  std::vector<float> codes;
  for (int code = 0; code < f->codes(); ++code)
    codes.push_back(static_cast<float>(code));
  const std::vector<float> values = map_all(codes, decode);
  int wrong = 0;
  for (int code = 0; code < f->codes(); ++code)
    wrong += !same(values[static_cast<std::size_t>(code)],
                   static_cast<float>(f->value(code)));
  CHECK(wrong == 0);
  const std::vector<float> x = arguments(*f);
  for (bool saturates : {false, true}) {
    const std::vector<float> got = map_all(x, [&](auto v) {
      return encode(v, decltype(v)(saturates ? 1.0f : 0.0f));
    });
    for (std::size_t i = 0; i < x.size(); ++i) {
      const int want = nearest(*f, x[i], saturates);
      if (got[i] != static_cast<float>(want)) {
        INFO(x[i] << " saturates " << saturates);
        REQUIRE(got[i] == static_cast<float>(want));
      }
    }
  }
}
} // namespace

#define CHECK_FORMAT(NAME)                                                     \
  check(                                                                       \
      #NAME, [](auto x, auto s) { return encode_##NAME(x, s); },               \
      [](auto code) { return decode_##NAME(code); })

TEST_CASE("small floats are the nearest numbers", "[small_floats]") {
  CHECK_FORMAT(e4m3fn);
  CHECK_FORMAT(e4m3fnuz);
  CHECK_FORMAT(e5m2);
  CHECK_FORMAT(e5m2fnuz);
  CHECK_FORMAT(e2m1);
  CHECK_FORMAT(e2m3);
  CHECK_FORMAT(e3m2);
  CHECK_FORMAT(e5m10);
  CHECK_FORMAT(e8m7);
}

TEST_CASE("e8m0 is a power of two", "[small_floats]") {
  std::vector<float> codes, powers;
  for (int code = 0; code < 256; ++code) {
    codes.push_back(static_cast<float>(code));
    powers.push_back(code < 255 ? std::ldexp(1.0f, code - 127) : std::nanf(""));
  }
  const std::vector<float> decoded =
      map_all(codes, [](auto c) { return decode_e8m0(c); });
  for (std::size_t i = 0; i < 256; ++i)
    CHECK(same(decoded[i], powers[i]));
  const auto encoded = [](std::vector<float> x, bool saturates,
                          float rounding) {
    return map_all(x, [&](auto v) {
      using V = decltype(v);
      return encode_e8m0(v, V(saturates ? 1.0f : 0.0f), V(rounding));
    });
  };
  const float above = std::nextafter(1.5f, 2.0f),
              below = std::nextafter(1.5f, 1.0f);
  const std::vector<float> x = {1.0f, below, 1.5f,     above,
                                0.0f, -2.0f, INFINITY, 3e38f};
  using result = std::vector<float>;
  CHECK(encoded(x, true, 0) == result{127, 127, 127, 127, 0, 128, 255, 254});
  CHECK(encoded(x, true, 0.5f) == result{127, 127, 128, 128, 0, 128, 255, 254});
  CHECK(encoded(x, true, 1) == result{127, 128, 128, 128, 0, 128, 255, 254});
  CHECK(encoded(x, false, 1) == result{127, 128, 128, 128, 0, 128, 255, 255});
  // The only number of a last exponent of 0 is 2^-127, whose half is a tie,
  // too.
  const float least = std::ldexp(1.0f, -127);
  CHECK(encoded({least, std::nextafter(least, 1.0f)}, true, 0.5f) ==
        result{0, 1});
}

TEST_CASE("bits are the same as another type", "[small_floats]") {
  CHECK(bit_cast(1.0f) == 0x3f800000);
  CHECK(bit_cast(std::int32_t(0x3f800000)) == 1.0f);
  CHECK(bit_cast(-2.0) == INT64_MIN + 0x4000000000000000);
  CHECK(bit_cast(std::int64_t(0x4000000000000000)) == 2.0);
}
