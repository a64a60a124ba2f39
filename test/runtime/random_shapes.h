// Random shapes of the families that several tests check.
#ifndef NNC_TEST_RANDOM_SHAPES_H
#define NNC_TEST_RANDOM_SHAPES_H

#include "runtime/routines/catalogue/shapes.h"
#include "test/runtime/blocked.h"

#include <string>
#include <type_traits>

namespace nnc_test {

/// Returns a number, or the entries of a list or a list of lists, as text.
template <class T> std::string describe_field(const T &field) {
  if constexpr (std::is_array_v<T>) {
    std::string text;
    for (const auto &value : field)
      text += describe_field(value) + " ";
    return text;
  } else {
    return std::to_string(field);
  }
}

/// Returns the fields of a shape as text, with the entries of lists.
template <class S> std::string describe(S s) {
  std::string text;
  s.visit([&](const char *name, const auto &field) {
    text += std::string(" ") + name + "=" + describe_field(field);
  });
  return text;
}

/// Sets random pads of a convolution, and the size of its output. Padding may
/// be on one side only and may cover whole taps.
inline void pad_randomly(random_source &r, nnc::conv2d_shape &s) {
  const auto pad = [&](int in, int taps, int dilation, int stride, int &before,
                       int &out) {
    const int reach = (taps - 1) * dilation;
    before = r.between(0, reach);
    int after = r.between(0, reach);
    if (in + before + after < reach + 1)
      after = reach + 1 - in - before;
    out = (in + before + after - reach - 1) / stride + 1;
  };
  pad(s.h, s.kh, s.dh, s.sh, s.pt, s.oh);
  pad(s.w, s.kw, s.dw, s.sw, s.pl, s.ow);
}

/// Returns a random convolution of images with at most `side` pixels along each
/// side.
inline nnc::conv2d_shape random_conv2d(random_source &r, int side) {
  nnc::conv2d_shape s{};
  s.n = r.between(1, 2);
  s.groups = 1;
  s.c = r.between(1, 40);
  s.k = r.between(1, 70);
  s.h = r.between(1, side);
  s.w = r.between(1, side);
  s.kh = r.between(1, 4);
  s.kw = r.between(1, 5);
  s.sh = r.between(1, 3);
  s.sw = r.between(1, 3);
  s.dh = r.between(1, 2);
  s.dw = r.between(1, 3);
  pad_randomly(r, s);
  return s;
}

/// Returns a random convolution of one of the kinds that have routines of their
/// own.
inline nnc::conv2d_shape random_conv2d_of_a_kind(random_source &r) {
  nnc::conv2d_shape s = random_conv2d(r, 16);
  switch (r.between(0, 6)) {
  case 0: // the first of a network
    s.c = r.between(1, 5);
    if (r.between(0, 1)) { // which reads every second pixel
      s.kh = s.kw = r.between(3, 8);
      s.sh = s.sw = 2;
      s.dh = s.dw = 1;
    }
    break;
  case 1: // depthwise
    s.groups = s.c = s.k = r.between(2, 50);
    break;
  case 2: // of groups of whole blocks, whatever these are
    s.groups = r.between(2, 3);
    s.c = s.groups * 16 * r.between(1, 2);
    s.k = s.groups * 16 * r.between(1, 3);
    break;
  case 3: // 1 x 1
    s.kh = s.kw = 1;
    if (r.between(0, 1))
      s.sh = s.sw = 1;
    if (r.between(0, 1)) { // of halves of whole blocks
      s.c = 32 * r.between(1, 5);
      s.k = 32 * r.between(1, 2);
    }
    break;
  case 4: // 3 x 3 of stride 1
    s.kh = s.kw = 3;
    s.sh = s.sw = s.dh = s.dw = 1;
    break;
  case 5: // of stride 2
    s.kh = s.kw = 2 * r.between(1, 3) + 1;
    s.sh = s.sw = 2;
    s.dh = s.dw = 1;
    break;
  default:
    break;
  }
  pad_randomly(r, s);
  return s;
}

inline nnc::pool2d_shape random_pool2d(random_source &r) {
  nnc::pool2d_shape s{};
  s.n = r.between(1, 2);
  s.c = r.between(1, 40);
  s.count_include_pad = r.between(0, 1);
  s.dh = r.between(1, 2);
  s.dw = r.between(1, 2);
  const auto axis = [&](int &in, int &taps, int &stride, int dilation,
                        int &before, int &after, int &out) {
    in = r.between(1, 20);
    taps = r.between(1, 5);
    stride = r.between(1, 3);
    const int reach = (taps - 1) * dilation;
    before = r.between(0, taps - 1);
    after = r.between(0, taps - 1);
    if (in + before + after < reach + 1)
      in = reach + 1 - before - after;
    // Sometimes a last window that begins inside and ends beyond (ceil mode).
    const int over = r.between(0, stride - 1);
    out = (in + before + after - reach - 1 + over) / stride + 1;
    if ((out - 1) * stride >= in + before)
      out = (in + before + after - reach - 1) / stride + 1;
  };
  axis(s.h, s.kh, s.sh, s.dh, s.pt, s.pb, s.oh);
  axis(s.w, s.kw, s.sw, s.dw, s.pl, s.pr, s.ow);
  if (r.between(0, 9) == 0) { // global
    s.kh = s.h;
    s.kw = s.w;
    s.dh = s.dw = s.oh = s.ow = 1;
    s.pt = s.pb = s.pl = s.pr = 0;
  }
  return s;
}

inline nnc::conv_transpose2d_shape random_conv_transpose2d(random_source &r) {
  nnc::conv_transpose2d_shape s{};
  s.n = r.between(1, 2);
  s.c = r.between(1, 40);
  s.k = r.between(1, 50);
  s.groups = 1;
  const auto axis = [&](int &in, int &taps, int &stride, int &dilation,
                        int &before, int &out) {
    in = r.between(1, 15);
    taps = r.between(1, 4);
    stride = r.between(1, 3);
    dilation = r.between(1, 2);
    const int whole = (in - 1) * stride + (taps - 1) * dilation + 1;
    before = r.between(0, whole / 3);
    out = whole - before - r.between(0, whole / 3) + r.between(0, stride - 1);
  };
  axis(s.h, s.kh, s.sh, s.dh, s.pt, s.oh);
  axis(s.w, s.kw, s.sw, s.dw, s.pl, s.ow);
  return s;
}

inline nnc::matmul_shape random_matmul(random_source &r) {
  nnc::matmul_shape s{};
  s.batch = r.between(1, 3);
  s.m = r.between(1, r.between(0, 3) ? 30 : 150);
  s.n = r.between(1, 70);
  s.k = r.between(1, 300);
  s.a_batch_stride = r.between(0, 1) * s.m * s.k;
  s.b_batch_stride = r.between(0, 1) * s.n * s.k;
  s.transpose_a = r.between(0, 1);
  s.transpose_b = r.between(0, 1);
  if (r.between(0, 3) == 0) { // of halves of whole vectors
    s.n = 32 * r.between(1, 2);
    s.k = 32 * r.between(1, 10);
    s.a_batch_stride = s.m * s.k;
    s.b_batch_stride = s.transpose_a = s.transpose_b = 0;
  } else if (r.between(0, 2) == 0) { // a few rows, long sums
    s.batch = 1;
    s.m = r.between(1, 6);
    s.k = r.between(1, 1200);
    s.a_batch_stride = s.b_batch_stride = s.transpose_b = 0;
  }
  return s;
}

} // namespace nnc_test

#endif // NNC_TEST_RANDOM_SHAPES_H
