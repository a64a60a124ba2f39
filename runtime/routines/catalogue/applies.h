//===- applies.h - Which shapes a routine can compute ---------------------===//
//
// The functions of the APPLIES column of routines.inc. Most say what a routine
// can compute at all; those of strips and integers also leave out shapes for
// which the method never pays.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CATALOGUE_APPLIES_H
#define NNC_ROUTINES_CATALOGUE_APPLIES_H

#include "runtime/routines/convolution/conv2d/winograd_matrices.h"
#include "runtime/routines/convolution/conv2d/winograd_plan.h"
#include "runtime/routines/convolution/expanded_conv2d/plan.h"
#include "runtime/routines/convolution/separable_conv2d/plan.h"

namespace nnc {

/// Returns true if every group of a blocked convolution has whole blocks of W
/// channels.
template <class S> constexpr bool whole_blocks(const S &s, int W) {
  return s.groups == 1 || (s.c / s.groups % W == 0 && s.k / s.groups % W == 0);
}
template <class S> constexpr bool depthwise_applies(const S &s) {
  return s.groups > 1 && s.groups == s.c && s.c == s.k;
}
/// Returns true if conv2d/first.h can compute the shape with tiles of C
/// columns: the copy of a tile's row of taps has a fixed size
/// (first_layer_span). The method reads planes one by one, which does not pay
/// for many of them.
template <class S> constexpr bool first_applies(const S &s, int C) {
  return s.groups == 1 && s.c <= 16 && (C - 1) * s.sw + (s.kw - 1) * s.dw < 256;
}
template <class S> constexpr bool direct_applies(const S &s, int W) {
  return whole_blocks(s, W) && s.sw <= 4;
}
template <class S> constexpr bool integers_apply_to_conv2d(const S &s, int W) {
  return whole_blocks(s, W) && !(s.groups > 1 && s.groups == s.c);
}
/// Returns true if four times a sum of the convolution fits in 32 bits for all
/// possible values of its 8-bit integers.
template <class S> constexpr bool integers_winograd_applies(const S &s) {
  constexpr int most = (1 << 29) / (9 * 255 * 255);
  return s.groups == 1 && s.kh == 3 && s.kw == 3 && s.sh == 1 && s.sw == 1 &&
         s.dh == 1 && s.dw == 1 && s.c <= most;
}
/// Returns true if the input has few channels: its planes are copied one by
/// one, which does not pay for many of them.
template <class S> constexpr bool first_integers_apply(const S &s) {
  return s.groups == 1 && s.c <= 16;
}
template <class S> constexpr bool pointwise_applies(const S &s, int W) {
  return direct_applies(s, W) && s.kh == 1 && s.kw == 1 && s.pt == 0 &&
         s.pl == 0 && (s.oh - 1) * s.sh < s.h && (s.ow - 1) * s.sw < s.w;
}

/// Returns true if there are Winograd matrices for `taps` taps and M outputs
/// along an axis. winograd_matrices.h has them for 4, 6 and 8 points; an axis
/// with one tap needs none.
constexpr bool winograd_takes(int taps, int M) {
  const int points = M + taps - 1;
  return taps == 1 || (taps > 2 && points % 2 == 0 && points <= 8);
}
template <class S> constexpr bool winograd_applies(const S &s, int M) {
  const bool square = s.kh == s.kw, line = s.kh == 1 || s.kw == 1;
  return s.groups == 1 && square != line && winograd_takes(s.kh, M) &&
         winograd_takes(s.kw, M) && s.sh == 1 && s.sw == 1 && s.dh == 1 &&
         s.dw == 1;
}
/// Returns true if Winograd's method can compute the convolution with a stride
/// of 2, in which even and odd taps are two convolutions.
template <class S> constexpr bool strided_winograd_applies(const S &s, int M) {
  return s.groups == 1 && s.kh == s.kw && s.kh % 2 == 1 && s.kh > 2 &&
         M + s.kh / 2 <= winograd_matrices::most_points && s.sh == 2 &&
         s.sw == 2 && s.dh == 1 && s.dw == 1;
}
/// Returns true if Winograd's method can compute the convolution after folding:
/// it has a stride of 2, an input with few channels, as at the beginning of a
/// network, and 2 to 4 folded taps along an axis.
template <class S> constexpr bool folded_winograd_applies(const S &s, int M) {
  const int taps = folded_taps(s.kh), points = M + taps - 1;
  return s.groups == 1 && s.c <= 16 && taps > 1 && taps == folded_taps(s.kw) &&
         points % 2 == 0 && points <= 8 && s.sh == 2 && s.sw == 2 &&
         s.dh == 1 && s.dw == 1;
}

/// Returns true if L levels of Strassen's method can compute the 1 x 1
/// convolution: both operands are cut into 2^L parts of whole blocks along each
/// axis.
template <class S>
constexpr bool strassen_conv2d_applies(const S &s, int L, int W) {
  return pointwise_applies(s, W) && s.groups == 1 && s.c % (W << L) == 0 &&
         s.k % (W << L) == 0;
}
template <class S>
constexpr bool strassen_matmul_applies(const S &s, int L, int W) {
  return !s.transpose_a && !s.transpose_b && s.b_batch_stride == 0 &&
         s.k % (W << L) == 0 && s.n % (W << L) == 0;
}
template <class S>
constexpr bool scaled_conv2d_applies(const S &s, int L, int W) {
  return L == 0 || (s.c % (W << L) == 0 && s.k % (W << L) == 0);
}

/// Returns true if a strip and the rows from which it is computed fit into a
/// second-level cache, and if there are at least a dozen strips: with fewer,
/// threads would get unequal numbers of them.
template <class S> constexpr bool separable_applies(const S &s, int W, int R) {
  constexpr ptrdiff_t fewest_strips = 12, most_bytes = 512 * 1024;
  const separable_plan p = plan_separable(s, W, R);
  const int rows = smaller(s.h, (R - 1) * s.sh + (s.kh - 1) * s.dh + 1);
  const ptrdiff_t input = ptrdiff_t(s.c) * rows * s.w;
  return p.strips >= fewest_strips &&
         p.thread_scratch() + 4 * input <= most_bytes;
}
/// Returns true if the rows between both convolutions fit into a second-level
/// cache.
template <class S> constexpr bool expanded_applies(const S &s, int W, int B) {
  constexpr ptrdiff_t most_bytes = 128 * 1024;
  return plan_expanded(s, W, B).thread_scratch() <= most_bytes;
}

/// Returns true if all rows fit in one tile. The method is for products of few
/// rows.
template <class S> constexpr bool codebook_applies(const S &s, int M) {
  return s.batch == 1 && s.b_batch_stride == 0 && !s.transpose_b && s.m <= M &&
         (M <= 2 || s.m > M / 2);
}

/// Returns true if vectors of W lanes can change the layout: from or to plain
/// NCHW, or between blocks of which the smaller has W channels.
template <class S> constexpr bool adapt_applies(const S &s, int W) {
  const int low = smaller(s.block_in, s.block_out);
  const int high = larger(s.block_in, s.block_out);
  return low == 1 ? high == W : low == W && high % W == 0;
}
/// Returns true if a copy moves whole rows, for which there is no specific
/// vector routine.
template <class S> constexpr bool copies_rows(const S &s) {
  return s.src_strides[s.rank - 1] == 1 && s.dst_strides[s.rank - 1] == 1;
}
/// Returns true if the window of a pooling layer is the whole image.
template <class S> constexpr bool global_applies(const S &s) {
  return s.kh == s.h && s.kw == s.w && s.dh == 1 && s.dw == 1 && s.oh == 1 &&
         s.ow == 1 && s.pt == 0 && s.pl == 0 && s.pb == 0 && s.pr == 0;
}

} // namespace nnc

#endif // NNC_ROUTINES_CATALOGUE_APPLIES_H
