// Tests every operation of f32x<W>, lane by lane, against the operation on
// float.
#include "runtime/simd/vec.h"
#include "runtime/epilogue.h"
#include "runtime/parallel.h"
#include "runtime/routines/catalogue/shapes.h"
#include "test/runtime/check.h"
#include "test/runtime/widths.h"

#include <cmath>
#include <limits>
#include <vector>

using namespace nnc;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();

/// Returns ordinary values, the ends of ranges, and neighbours of points at
/// which rounding changes.
const std::vector<float> &samples() {
  static const std::vector<float> v = {
      0.0f,   -0.0f,       1.0f,        -1.0f,   0.5f,     -0.5f,
      1.5f,   2.5f,        -2.5f,       3.49f,   -3.51f,   1e-20f,
      -1e20f, 8388607.5f,  0.1f,        7.0f,    infinity, -infinity,
      1e-42f, 16777216.0f, -8388609.0f, 100.25f, -0.75f,   2.0f};
  return v;
}

bool same(float a, float b) {
  return std::isnan(a) ? std::isnan(b) : bit_cast_int(a) == bit_cast_int(b);
}

template <class V, class F> void check_unary(const char *name, F f) {
  INFO(name << " at W=" << lanes<V>);
  const auto &s = samples();
  for (std::size_t i = 0; i < s.size(); ++i) {
    float in[16], out[16];
    for (int l = 0; l < lanes<V>; ++l)
      in[l] = s[(i + l) % s.size()];
    store(out, f(load<V>(in)));
    for (int l = 0; l < lanes<V>; ++l) {
      INFO("x=" << in[l] << " got " << out[l] << " want " << f(in[l]));
      REQUIRE(same(out[l], f(in[l])));
    }
  }
}

template <class V, class F> void check_binary(const char *name, F f) {
  INFO(name << " at W=" << lanes<V>);
  auto s = samples();
  s.push_back(quiet_nan);
  for (std::size_t i = 0; i < s.size(); ++i)
    for (std::size_t j = 0; j < s.size(); ++j) {
      float a[16], b[16], out[16];
      for (int l = 0; l < lanes<V>; ++l) {
        a[l] = s[(i + l) % s.size()];
        b[l] = s[(j + 3 * l) % s.size()];
      }
      store(out, f(load<V>(a), load<V>(b)));
      for (int l = 0; l < lanes<V>; ++l) {
        INFO("a=" << a[l] << " b=" << b[l] << " got " << out[l]);
        REQUIRE(same(out[l], f(a[l], b[l])));
      }
    }
}

template <class V> V one_if(mask_of<V> m) {
  return select(m, V(1.0f), V(0.0f));
}

template <class V> float lane(V v, int i) {
  float out[16];
  store(out, v);
  return out[i];
}

} // namespace

TEMPLATE_TEST_CASE("vectors agree with float in every lane", "[vec]",
                   NNC_TEST_VECTORS) {
  using V = TestType;
  check_binary<V>("+", [](auto a, auto b) { return a + b; });
  check_binary<V>("-", [](auto a, auto b) { return a - b; });
  check_binary<V>("*", [](auto a, auto b) { return a * b; });
  check_binary<V>("/", [](auto a, auto b) { return a / b; });
  check_binary<V>("+=", [](auto a, auto b) { return a += b; });
  check_binary<V>("*=", [](auto a, auto b) { return a *= b; });
  // Adding zero: the sign of a zero from max and min is the machine's choice.
  check_binary<V>(
      "max", [](auto a, auto b) { return nnc::max(a, b) + decltype(a)(0.0f); });
  check_binary<V>(
      "min", [](auto a, auto b) { return nnc::min(a, b) + decltype(a)(0.0f); });
  check_binary<V>("fma", [](auto a, auto b) { return nnc::fma(a, b, a); });
  check_binary<V>("copysign",
                  [](auto a, auto b) { return nnc::copysign(a, b); });
  check_binary<V>("<",
                  [](auto a, auto b) { return one_if<decltype(a)>(a < b); });
  check_binary<V>("<=",
                  [](auto a, auto b) { return one_if<decltype(a)>(a <= b); });
  check_binary<V>(">",
                  [](auto a, auto b) { return one_if<decltype(a)>(a > b); });
  check_binary<V>(">=",
                  [](auto a, auto b) { return one_if<decltype(a)>(a >= b); });
  check_binary<V>("==",
                  [](auto a, auto b) { return one_if<decltype(a)>(a == b); });
  check_binary<V>("!=",
                  [](auto a, auto b) { return one_if<decltype(a)>(a != b); });
  check_binary<V>("not, and, or", [](auto a, auto b) {
    using T = decltype(a);
    return select((!(a < b)) & (b == b), T(1.0f),
                  select((a < b) | (a != a), T(2.0f), T(3.0f)));
  });
  check_unary<V>("-", [](auto a) { return -a; });
  check_unary<V>("abs", [](auto a) { return vec_abs(a); });
  check_unary<V>("sqrt", [](auto a) { return vec_sqrt(a); });
  check_unary<V>("floor", [](auto a) { return vec_floor(a); });
  check_unary<V>("ceil", [](auto a) { return vec_ceil(a); });
  check_unary<V>("trunc", [](auto a) { return vec_trunc(a); });
  check_unary<V>("round", [](auto a) { return vec_round(a); });
}

TEMPLATE_TEST_CASE("integer vectors add, shift and compare", "[vec]",
                   NNC_TEST_VECTORS) {
  using V = TestType;
  auto constant = [](auto x, std::int32_t c) {
    return integer_of<decltype(x)>(c);
  };
  check_unary<V>("+ - & ^", [&](auto a) {
    auto i = bit_cast_int(a) & constant(a, 0x0fffffff);
    return bit_cast_float((((i + constant(a, 0x01234567)) - constant(a, 77)) &
                           constant(a, 0x1f7fffff)) ^
                          constant(a, 0x00555555));
  });
  check_unary<V>("|", [&](auto a) {
    return bit_cast_float(bit_cast_int(a) | constant(a, 0x00400000));
  });
  check_unary<V>("shift_left", [](auto a) {
    return bit_cast_float(shift_left<3>(bit_cast_int(a)));
  });
  check_unary<V>("shift_right", [](auto a) {
    return bit_cast_float(shift_right<5>(bit_cast_int(a)));
  });
  check_unary<V>("shift_right_logical", [](auto a) {
    return bit_cast_float(shift_right_logical<9>(bit_cast_int(a)));
  });
  check_unary<V>("to_int, to_float", [](auto a) {
    using T = decltype(a);
    T small = select(vec_abs(a) < T(1e9f), a, T(3.7f));
    return to_float(to_int(small));
  });
  check_unary<V>("< and ==", [&](auto a) {
    auto i = bit_cast_int(a);
    using T = decltype(a);
    return select(i < constant(a, 1000), T(1.0f),
                  select(i == constant(a, 0x3f800000), T(2.0f), T(3.0f)));
  });
  check_unary<V>("select of integers", [&](auto a) {
    auto i = bit_cast_int(a);
    return bit_cast_float(select(a < decltype(a)(0.0f), i, constant(a, 42)));
  });
}

TEMPLATE_TEST_CASE("partial loads and stores touch only their lanes", "[vec]",
                   float, NNC_TEST_VECTORS) {
  using V = TestType;
  constexpr int w = lanes<V>;
  for (int count = 0; count <= w; ++count) {
    // A heap block of just the lanes, so that ASan sees one read too many.
    std::vector<float> in(count);
    for (int i = 0; i < count; ++i)
      in[i] = 1.0f + static_cast<float>(i);
    in.shrink_to_fit();
    V v = load<V>(in.data(), count);
    float all[17];
    for (float &x : all)
      x = -7.0f;
    store(all, v);
    for (int i = 0; i < w; ++i)
      REQUIRE(all[i] == (i < count ? 1.0f + static_cast<float>(i) : 0.0f));
    REQUIRE(all[w] == -7.0f);
    std::vector<float> out(count);
    store(out.data(), v, count);
    REQUIRE(out == in);
    V kept = keep_first(V(5.0f), count);
    for (int i = 0; i < w; ++i)
      REQUIRE(lane(kept, i) == (i < count ? 5.0f : 0.0f));
  }
}

TEMPLATE_TEST_CASE("reductions combine all lanes", "[vec]", NNC_TEST_VECTORS) {
  using V = TestType;
  constexpr int w = lanes<V>;
  for (int seed = 0; seed < 50; ++seed) {
    float x[16], tree[16];
    for (int i = 0; i < w; ++i)
      tree[i] = x[i] = std::sin(static_cast<float>(seed * 31 + i * 7)) * 100;
    float largest = x[0], smallest = x[0];
    for (int i = 0; i < w; ++i) {
      largest = std::fmax(largest, x[i]);
      smallest = std::fmin(smallest, x[i]);
    }
    for (int half = w / 2; half; half /= 2)
      for (int i = 0; i < half; ++i)
        tree[i] += tree[i + half];
    V v = load<V>(x);
    REQUIRE(reduce_add(v) == tree[0]);
    REQUIRE(reduce_max(v) == largest);
    REQUIRE(reduce_min(v) == smallest);
    REQUIRE(any(v == V(x[w - 1])));
    REQUIRE_FALSE(any(v == V(1000.0f)));
    REQUIRE(all(v < V(1000.0f)));
    REQUIRE_FALSE(all(v != V(x[0])));
  }
}

TEMPLATE_TEST_CASE("max_fast and min_fast return a NaN of their second operand",
                   "[vec]", float, NNC_TEST_VECTORS) {
  using V = TestType;
  REQUIRE(std::isnan(lane(max_fast(V(1.0f), V(quiet_nan)), lanes<V> - 1)));
  REQUIRE(std::isnan(lane(min_fast(V(1.0f), V(quiet_nan)), 0)));
}

TEST_CASE("fma rounds once where the machine has it", "[vec]") {
  // (1 + e)^2 - (1 + 2e) is e^2 exactly; two roundings lose it.
  float e = 0x1p-23f, x = 1.0f + e;
  float want = 0.0f;
#if defined(__FMA__) || defined(__aarch64__) || defined(__riscv_f) ||          \
    defined(NNC_EMULATE_CUDA)
  want = e * e;
#endif
  REQUIRE(nnc::fma(x, x, -(1.0f + 2.0f * e)) == want);
  REQUIRE(lane(nnc::fma(f32x<16>(x), f32x<16>(x), f32x<16>(-(1.0f + 2.0f * e))),
               9) == want);
}

namespace {
struct add_three {
  template <class V> V operator()(V x, V a, V b, V c) const {
    return x + a + b + c;
  }
};
} // namespace

TEMPLATE_TEST_CASE("an epilogue reads its operands where the value lies",
                   "[epilogue]", float, NNC_TEST_VECTORS) {
  using V = TestType;
  constexpr int w = lanes<V>;
  std::vector<float> residual(64), bias(64);
  for (int i = 0; i < 64; ++i) {
    residual[i] = static_cast<float>(i);
    bias[i] = static_cast<float>(1000 * i);
  }
  float offset = 0.5f;
  fused<add_three, full_of<float>, channel_of<float>, scalar_of<float>> epi{
      residual.data(), bias.data(), &offset};
  V lanes_are_channels = epi(V(0.25f), position<true>{20, 4});
  V lanes_are_pixels = epi(V(0.25f), position<false>{20, 4});
  V partial = epi(V(0.25f), position<true>{64 - w + 1, 64 - w + 1}, w - 1);
  for (int i = 0; i < w; ++i) {
    float f = static_cast<float>(i);
    REQUIRE(lane(lanes_are_channels, i) == 20.75f + f + 1000.0f * (4.0f + f));
    REQUIRE(lane(lanes_are_pixels, i) == 20.75f + f + 4000.0f);
    if (i < w - 1)
      REQUIRE(lane(partial, i) ==
              0.75f + 1001.0f * static_cast<float>(64 - w + 1 + i));
  }
  REQUIRE(lane(none{}(V(3.0f), position<false>{0, 0}), w - 1) == 3.0f);
}

TEMPLATE_TEST_CASE("halves of bytes are places in a table", "[vec]",
                   NNC_TEST_VECTORS) {
  using V = TestType;
  // No value beside the table and no byte beside the codes may be read.
  float table[16];
  for (int i = 0; i < 16; ++i)
    table[i] = float(i * i) - 20.5f;
  for (int first = 0; first < 256; ++first) {
    std::vector<unsigned char> codes(lanes<V>);
    for (int i = 0; i < lanes<V>; ++i)
      codes[i] = static_cast<unsigned char>(first + 37 * i);
    V low, high;
    V::look_up16(table, codes.data(), low, high);
    for (int i = 0; i < lanes<V>; ++i) {
      REQUIRE(lane(low, i) == table[codes[i] % 16]);
      REQUIRE(lane(high, i) == table[codes[i] / 16]);
    }
  }
}

namespace {
struct count_units {
  static int units(const reduce_shape &s) { return s.outer; }
  static void run(const reduce_shape &, int *y, none, int begin, int end) {
    for (int i = begin; i < end; ++i)
      ++y[i];
  }
};
} // namespace

TEST_CASE("launch runs every unit once", "[parallel]") {
  for (int units : {0, 1, 7, 100}) {
    std::vector<int> seen(units);
    launch<count_units>(pool{}, reduce_shape{units, 1, 1}, seen.data(), none{});
    REQUIRE(seen == std::vector<int>(units, 1));
  }
}
