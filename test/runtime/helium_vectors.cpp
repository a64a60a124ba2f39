// Tests Arm's M-profile vectors on a board that has them, and layers whose
// expressions they compute: each lane has the result of scalars.
#include "runtime/routines/convolution/conv2d/helium.h"
#include "runtime/routines/convolution/conv2d/nhwc.h"
#include "runtime/routines/convolution/conv2d/shape.h"
#include "runtime/routines/elementwise/elementwise.h"
#include "runtime/routines/elementwise/shape.h"
#include "runtime/simd/bytes.h"
#include "test/runtime/board.h"

using namespace nnc;
using namespace nnc_test;

#if !defined(NNC_HELIUM_VECTORS)
#error "the flags of this test are for a machine without vectors"
#endif

namespace {

using V = i32x<4>;
using F = f32x<4>;
using lanes4 = byte_lanes<4>;

struct four {
  int32_t v[4];
  V load() const { return lanes4::load_bits(v); }
};
four any_four() {
  return {{any_number(), any_number(), any_number(), any_number()}};
}
four from_range(int low, int high) {
  return {{between(low, high), between(low, high), between(low, high),
           between(low, high)}};
}

/// Checks that lane i of a vector is f(i).
template <class G> void expect(const char *what, V got, const G &f) {
  int32_t lanes[4];
  lanes4::store_bits(lanes, got);
  for (int i = 0; i < 4; ++i) {
    const int32_t want = f(i);
    check(lanes[i] == want, what, [&] {
      say("lane", i);
      say("is", lanes[i]);
      say("not", want);
    });
  }
}
template <class G> void expect(const char *what, F got, const G &f) {
  expect(what, bit_cast_int(got), [&](int i) { return bit_cast_int(f(i)); });
}

void check_integers() {
  const four x = any_four(), y = any_four(), small = from_range(-5000, 5000);
  const four &a = between(0, 1) ? x : small;
  const four m = from_range(1 << 30, INT32_MAX), s = from_range(-31, 2);
  expect("rescale_double", rescale_double(small.load(), m.load(), s.load()),
         [&](int i) { return rescale_double(small.v[i], m.v[i], s.v[i]); });
  expect("rescale_double, down",
         rescale_double(x.load(), m.load(), from_range(-3, -3).load()),
         [&](int i) { return rescale_double(x.v[i], m.v[i], int32_t(-3)); });
  expect("rescale_single", rescale_single(a.load(), m.load(), s.load()),
         [&](int i) { return rescale_single(a.v[i], m.v[i], s.v[i]); });
  expect("multiply", lanes4::multiply(x.load(), y.load()),
         [&](int i) { return times(x.v[i], y.v[i]); });
  expect("most", lanes4::most(x.load(), y.load()),
         [&](int i) { return x.v[i] < y.v[i] ? y.v[i] : x.v[i]; });
  expect("least", lanes4::least(x.load(), y.load()),
         [&](int i) { return x.v[i] < y.v[i] ? x.v[i] : y.v[i]; });
  expect("xor", x.load() ^ y.load(), [&](int i) { return x.v[i] ^ y.v[i]; });
  expect("logical shift", shift_right_logical<5>(x.load()), [&](int i) {
    return static_cast<int32_t>(static_cast<uint32_t>(x.v[i]) >> 5);
  });
  expect("select", select(x.load() < y.load(), x.load(), y.load()),
         [&](int i) { return x.v[i] < y.v[i] ? x.v[i] : y.v[i]; });
  const auto lane = [](const four &v, int i) {
    return byte_lanes<1>::load_bits(v.v + i);
  };
  expect("dot2", lanes4::dot2(x.load(), y.load(), m.load()), [&](int i) {
    return byte_lanes<1>::dot2(lane(x, i), lane(y, i), lane(m, i)).v;
  });
  expect("dot4", lanes4::dot4(x.load(), y.load(), m.load()), [&](int i) {
    return byte_lanes<1>::dot4(lane(x, i), lane(y, i), lane(m, i)).v;
  });
}

template <class T> void check_memory(const char *what) {
  using memory = vector_memory<T, 4>;
  T from[8], to[8];
  for (int i = 0; i < 8; ++i) {
    from[i] = static_cast<T>(any_number());
    to[i] = static_cast<T>(i);
  }
  const T *p = from + between(0, 3);
  expect(what, lanes_of(memory::load(p)),
         [&](int i) { return static_cast<int32_t>(p[i]); });
  const int count = between(1, 4);
  expect(what, lanes_of(memory::load(p, count)),
         [&](int i) { return i < count ? static_cast<int32_t>(p[i]) : 0; });
  memory::store(to, memory::load(p), count);
  memory::store(to + 4, memory::load(p));
  for (int i = 0; i < 8; ++i)
    check(to[i] == (i >= 4      ? p[i - 4]
                    : i < count ? p[i]
                                : static_cast<T>(i)),
          what, [&] { say("stored at", i); });
}

float any_float() {
  switch (between(0, 9)) {
  case 0:
    return bit_cast_float(0x7f800000); // infinity
  case 1:
    return -0.0f;
  default:
    return static_cast<float>(any_number()) /
           static_cast<float>(1 << between(0, 30));
  }
}
void check_floats() {
  float x[4], y[4], z[4];
  for (int i = 0; i < 4; ++i)
    x[i] = any_float(), y[i] = any_float(), z[i] = any_float();
  const F a = F::load(x), b = F::load(y), c = F::load(z);
  expect("+", a + b, [&](int i) { return x[i] + y[i]; });
  expect("-", a - b, [&](int i) { return x[i] - y[i]; });
  expect("*", a * b, [&](int i) { return x[i] * y[i]; });
  expect("/", a / b, [&](int i) { return x[i] / y[i]; });
  expect("fma", fma(a, b, c),
         [&](int i) { return nnc::fma(x[i], y[i], z[i]); });
  expect("floor", vec_floor(a), [&](int i) { return vec_floor(x[i]); });
  expect("ceil", vec_ceil(a), [&](int i) { return vec_ceil(x[i]); });
  expect("trunc", vec_trunc(a), [&](int i) { return vec_trunc(x[i]); });
  expect("round", vec_round(a), [&](int i) { return vec_round(x[i]); });
  expect("select", select(a <= b, a, c),
         [&](int i) { return x[i] <= y[i] ? x[i] : z[i]; });
  expect("not equal", select(a != b, a, c),
         [&](int i) { return x[i] != y[i] ? x[i] : z[i]; });
  expect("cast", cast<int8_t>(a).v,
         [&](int i) { return static_cast<int32_t>(cast<int8_t>(x[i])); });
  const int count = between(0, 4);
  expect("keep", select(first_lanes_of<F>::make(count), a, b),
         [&](int i) { return i < count ? x[i] : y[i]; });
  expect("load", F::load(x, count),
         [&](int i) { return i < count ? x[i] : 0.0f; });
  expect("zip", zip_high(a, b),
         [&](int i) { return i % 2 ? y[2 + i / 2] : x[2 + i / 2]; });
}

/// An expression like those that the compiler prints for layers, for scalars
/// and vectors: a requantized sum, plus another number, looked up in a table.
struct residual_expression {
  static constexpr int8_t table1[256] = {3, -7, 100, -128, 127, 5};
  template <class V>
  auto operator()(V v, like<V, int32_t> bias, like<V, int8_t> other) const {
    const auto t1 =
        nnc::rescale_single(nnc::add(v, bias), nnc::same<V>(int32_t(1 << 30)),
                            nnc::same<V>(int32_t(-6)));
    const auto t2 = nnc::cast<int8_t>(
        nnc::max(nnc::min(nnc::add(t1, nnc::cast<int32_t>(other)),
                          nnc::same<V>(int32_t(127))),
                 nnc::same<V>(int32_t(-128))));
    return nnc::lookup(table1, t2);
  }
};
struct sum_expression {
  template <class V> auto operator()(V a, like<V, uint8_t> b) const {
    const auto sum = nnc::add(nnc::cast<int32_t>(a), nnc::cast<int32_t>(b));
    return nnc::cast<int16_t>(nnc::rescale_double(
        sum, nnc::same<V>(int32_t(1518500250)), nnc::same<V>(int32_t(3))));
  }
};

int8_t x[4096], w[4096], y[4096], want[4096], other[4096];
int32_t bias[64];
alignas(8) unsigned char scratch[8192];

void check_layer() {
  conv2d_shape s{};
  s.n = s.groups = s.sh = s.sw = s.dh = s.dw = 1;
  s.c = between(1, 8), s.k = between(1, 20), s.h = between(2, 6);
  s.w = between(2, 6), s.kh = s.kw = 2, s.oh = s.h - 1, s.ow = s.w - 1;
  for (int i = 0; i < 4096; ++i) {
    x[i] = static_cast<int8_t>(between(-128, 127));
    w[i] = static_cast<int8_t>(between(-128, 127));
    other[i] = static_cast<int8_t>(between(-128, 127));
    y[i] = want[i] = 99;
  }
  for (int32_t &b : bias)
    b = between(-2000, 2000);
  using epilogue =
      fused<residual_expression, channel_of<int32_t>, full_of<int8_t>>;
  const epilogue epi{bias, other};
  using routine = conv2d_i32_nhwc_helium<conv2d_shape, epilogue>;
  using reference = conv2d_i32_nhwc_portable<conv2d_shape, epilogue>;
  routine::run(s, x, w, y, scratch, epi, 0, routine::units(s));
  reference::run(s, x, w, want, epi, 0, reference::units(s));
  for (int i = 0; i < 4096; ++i)
    check(y[i] == want[i], "conv2d with a residual", [&] { say("at", i); });
}

void check_elementwise() {
  elementwise_shape s{};
  s.rank = 2, s.dims[0] = between(1, 5), s.dims[1] = between(1, 40);
  s.strides[0][0] = s.strides[1][0] = s.dims[1];
  s.strides[0][1] = s.strides[1][1] = 1;
  const int count = s.dims[0] * s.dims[1];
  static uint8_t bytes[256];
  static int16_t got[256], wanted[256];
  for (int i = 0; i < 256; ++i) {
    x[i] = static_cast<int8_t>(between(-128, 127));
    bytes[i] = static_cast<uint8_t>(between(0, 255));
    got[i] = wanted[i] = 99;
  }
  using routine = elementwise_helium<elementwise_shape, sum_expression>;
  using reference = elementwise_portable<elementwise_shape, sum_expression>;
  routine::run(s, x, bytes, got, sum_expression{}, 0, routine::units(s));
  reference::run(s, x, bytes, wanted, sum_expression{}, 0, reference::units(s));
  for (int i = 0; i < 256; ++i)
    check(got[i] == wanted[i], "elementwise", [&] {
      say("at", i);
      say("of", count);
    });
}

} // namespace

int main() {
  constexpr int rounds = 300;
  for (int i = 0; i < rounds; ++i) {
    check_integers();
    check_memory<int8_t>("int8_t");
    check_memory<uint8_t>("uint8_t");
    check_memory<int16_t>("int16_t");
    check_memory<uint16_t>("uint16_t");
    check_memory<int32_t>("int32_t");
    check_floats();
    check_layer();
    check_elementwise();
  }
  return finish();
}
