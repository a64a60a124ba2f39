// Tests routines for Arm's M-profile vectors, on a board that has them, against
// the routines for any machine: results are equal bit for bit. nhwc.cpp checks
// what other machines compute in place of these vectors.
#include "runtime/routines/convolution/conv2d/helium.h"
#include "runtime/routines/convolution/conv2d/helium_depthwise.h"
#include "runtime/routines/convolution/conv2d/nhwc.h"
#include "runtime/routines/convolution/conv2d/shape.h"
#include "runtime/routines/matrix/matmul/helium.h"
#include "runtime/routines/matrix/matmul/portable.h"
#include "runtime/routines/matrix/matmul/shape.h"
#include "runtime/routines/pooling/pool2d/helium.h"
#include "runtime/routines/pooling/pool2d/nhwc.h"
#include "runtime/routines/pooling/pool2d/shape.h"
#include "test/runtime/board.h"

using namespace nnc;
using namespace nnc_test;

namespace {

/// An array of bytes at an address of any alignment, with a guard behind it
/// that no routine may change.
struct bytes {
  int8_t data[1 << 16];
  int size = 0;
  int8_t *first = data;

  int8_t *make(int count) {
    size = count;
    first = data + between(0, 7);
    for (int i = 0; i < count + 16; ++i)
      first[i] = 99;
    return first;
  }
  int8_t *fill(int count) {
    make(count);
    const bool is_extreme = between(0, 9) == 0;
    for (int i = 0; i < count; ++i)
      first[i] = static_cast<int8_t>(is_extreme ? -128 : between(-128, 127));
    return first;
  }
  bool operator==(const bytes &other) const {
    for (int i = 0; i < size + 16; ++i)
      if (first[i] != other.first[i])
        return false;
    return true;
  }
};
bytes x, w, y, want;
alignas(8) unsigned char scratch[1 << 16];

/// The bias, multiplier and shift of each channel. Shifts go in both
/// directions, and some sums are so large that twice their value does not fit
/// in 32 bits.
struct factors {
  int32_t bias[80], multiplier[80], shift[80];
  void fill(int channels) {
    for (int k = 0; k < channels; ++k) {
      const bool is_odd = between(0, 9) == 0;
      bias[k] = is_odd ? between(-1, 1) * 2000000000 : between(-5000, 5000);
      multiplier[k] =
          between(0, 9) ? (1 << 30) + between(0, (1 << 23) - 1) * 127 : 0;
      shift[k] = is_odd ? -31 + between(0, 2) : between(-12, 2);
    }
  }
} operands;

template <int Low, int High> struct expression {
  int8_t operator()(int32_t v, int32_t bias, int32_t multiplier,
                    int32_t shift) const {
    const int32_t r =
        plus(rescale_double(plus(v, bias), multiplier, shift), int32_t(5));
    return static_cast<int8_t>(r < Low ? Low : r > High ? High : r);
  }
};
template <int Low, int High> struct known : expression<Low, High> {
  using requantization = requantization_of<5, Low, High>;
};
template <class F>
using channels_of =
    fused<F, channel_of<int32_t>, channel_of<int32_t>, channel_of<int32_t>>;
template <class F> channels_of<F> get() {
  return {operands.bias, operands.multiplier, operands.shift};
}

template <class S> void compare(const char *name, S s) {
  check(y == want, name, [&] {
    s.visit([](const char *field, const auto &value) { say(field, value); });
  });
}

template <class R, class S, class Epi>
void run_with_scratch(const S &s, bytes &out, const Epi &epi) {
  // In two parts, as two threads would.
  const int all = R::units(s), middle = between(0, all);
  R::run(s, x.first, w.first, out.first, scratch, epi, 0, middle);
  R::run(s, x.first, w.first, out.first, scratch, epi, middle, all);
}

template <template <class, class> class R,
          template <class, class> class Reference, class F, class Known>
void check_conv2d(const char *name, const conv2d_shape &s) {
  x.fill(s.n * s.h * s.w * s.c);
  w.fill(s.k * s.kh * s.kw * (s.c / s.groups));
  operands.fill(s.k);
  want.make(s.n * s.oh * s.ow * s.k);
  using reference = Reference<conv2d_shape, channels_of<F>>;
  reference::run(s, x.first, w.first, want.first, get<F>(), 0,
                 reference::units(s));
  y.make(want.size);
  run_with_scratch<R<conv2d_shape, channels_of<F>>>(s, y, get<F>());
  compare(name, s);
  y.make(want.size);
  run_with_scratch<R<conv2d_shape, channels_of<Known>>>(s, y, get<Known>());
  compare(name, s);
}

void choose_axis(int in, int taps, int dilation, int stride, int &before,
                 int &out) {
  const int reach = (taps - 1) * dilation;
  before = between(0, 2) ? between(0, reach) : 0;
  int after = between(0, 2) ? between(0, reach) : 0;
  if (in + before + after < reach + 1)
    after = reach + 1 - in - before;
  out = (in + before + after - reach - 1) / stride + 1;
}
conv2d_shape make_conv2d() {
  conv2d_shape s{};
  s.n = between(1, 2), s.groups = 1;
  s.c = between(1, 40), s.k = between(1, 40);
  s.h = between(1, 9), s.w = between(1, 9);
  s.kh = between(0, 1) ? between(1, 4) : 1;
  s.kw = between(0, 1) ? between(1, 5) : s.kh;
  s.sh = between(1, 3), s.sw = between(1, 3);
  s.dh = between(1, 2), s.dw = between(0, 2) ? 1 : between(2, 3);
  choose_axis(s.h, s.kh, s.dh, s.sh, s.pt, s.oh);
  choose_axis(s.w, s.kw, s.dw, s.sw, s.pl, s.ow);
  s.fill = between(0, 3) ? between(-128, 127) : 0;
  return s;
}

template <class F> void run_matmul(const matmul_shape &s) {
  using routine = matmul_i32_helium<matmul_shape, channels_of<F>>;
  y.make(want.size);
  const int all = routine::units(s), middle = between(0, all);
  routine::run(s, x.first, w.first, y.first, get<F>(), 0, middle);
  routine::run(s, x.first, w.first, y.first, get<F>(), middle, all);
  compare("matmul", s);
}
void check_matmul() {
  matmul_shape s{};
  s.batch = 1, s.m = between(1, 4);
  s.k = between(1, 80), s.n = between(1, 70);
  s.a_batch_stride = s.m * s.k, s.transpose_b = 1;
  x.fill(s.m * s.k);
  w.fill(s.n * s.k);
  operands.fill(s.n);
  want.make(s.m * s.n);
  using F = expression<-100, 127>;
  using reference = matmul_i32_portable<matmul_shape, channels_of<F>>;
  reference::run(s, x.first, w.first, want.first, get<F>(), 0,
                 reference::units(s));
  run_matmul<F>(s);
  run_matmul<known<-100, 127>>(s);
}

template <class R, class Reference>
void check_pool2d(const char *name, const pool2d_shape &s) {
  x.fill(s.n * s.h * s.w * s.c);
  want.make(s.n * s.oh * s.ow * s.c);
  Reference::run(s, x.first, want.first, {}, 0, Reference::units(s));
  y.make(want.size);
  const int all = R::units(s), middle = between(0, all);
  R::run(s, x.first, y.first, {}, 0, middle);
  R::run(s, x.first, y.first, {}, middle, all);
  compare(name, s);
}
struct halved {
  int8_t operator()(int32_t v) const { return static_cast<int8_t>(v / 2); }
};
void check_pools() {
  pool2d_shape s{};
  s.n = between(1, 2), s.c = between(1, 40);
  s.h = between(1, 9), s.w = between(1, 9);
  s.kh = between(1, 4), s.kw = between(1, 5);
  s.sh = between(1, 3), s.sw = between(1, 3);
  s.dh = between(1, 2), s.dw = between(1, 2);
  s.count_include_pad = between(0, 1);
  choose_axis(s.h, s.kh, s.dh, s.sh, s.pt, s.oh);
  choose_axis(s.w, s.kw, s.dw, s.sw, s.pl, s.ow);
  s.pb = s.pt, s.pr = s.pl;
  using S = pool2d_shape;
  using F = fused<halved>;
  check_pool2d<max_pool2d_nhwc_helium<S, none>,
               max_pool2d_nhwc_portable<S, none>>("max_pool2d", s);
  check_pool2d<max_pool2d_nhwc_helium<S, F>, max_pool2d_nhwc_portable<S, F>>(
      "halved max_pool2d", s);
  check_pool2d<avg_pool2d_rounded_nhwc_helium<S, F>,
               avg_pool2d_rounded_nhwc_portable<S, F>>("avg_pool2d", s);
}

} // namespace

int main() {
  constexpr int rounds = 400;
  for (int i = 0; i < rounds; ++i) {
    check_conv2d<conv2d_i32_nhwc_helium, conv2d_i32_nhwc_portable,
                 expression<-100, 120>, known<-100, 120>>("conv2d",
                                                          make_conv2d());
    conv2d_shape s = make_conv2d();
    s.groups = s.k = s.c = between(2, 50);
    check_conv2d<conv2d_i32_nhwc_depthwise_helium,
                 conv2d_i32_nhwc_depthwise_portable, expression<-128, 127>,
                 known<-128, 127>>("depthwise conv2d", s);
    check_matmul();
    check_pools();
  }
  return finish();
}
