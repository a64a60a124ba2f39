//===- portable.h - Image layout changes on any machine -------------------===//
//
// Copies x in NCHW<block_in>c to y in NCHW<block_out>c; a block of 1 is plain
// NCHW. Missing channels of the last block of y are zero. A unit is one output
// channel block of one image.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MOVES_ADAPT_PORTABLE_H
#define NNC_ROUTINES_MOVES_ADAPT_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"

namespace nnc {

/// A unit is a block of channels of y, or with ByElement an element of y,
/// padding included.
template <class S, class Epi, bool ByElement = false> struct adapt_portable {
  using by_element = adapt_portable<S, Epi, true>;

  NNC_FN static constexpr int units(const S &s) {
    return s.n * blocks(s, s.block_out) * pieces(s);
  }

  template <class T>
  NNC_FN static void run(const S &s, const T *x, T *y, const Epi &, int begin,
                         int end) {
    const ptrdiff_t plane = ptrdiff_t(s.h) * s.w;
    if constexpr (ByElement) {
      for (int unit = begin; unit < end; ++unit) {
        const int block = unit / pieces(s), n = block / blocks(s, s.block_out);
        const int c =
            block % blocks(s, s.block_out) * s.block_out + unit % s.block_out;
        const int p = unit % pieces(s) / s.block_out;
        y[unit] =
            c < s.c
                ? x[((ptrdiff_t(n) * blocks(s, s.block_in) + c / s.block_in) *
                         plane +
                     p) *
                        s.block_in +
                    c % s.block_in]
                : T(0);
      }
      return;
    }
    for (int unit = begin; unit < end; ++unit) {
      const int n = unit / blocks(s, s.block_out);
      const int first = unit % blocks(s, s.block_out) * s.block_out;
      T *to = y + unit * plane * s.block_out;
      for (int i = 0; i < s.block_out; ++i) {
        const int c = first + i;
        if (c >= s.c) {
          for (ptrdiff_t p = 0; p < plane; ++p)
            to[p * s.block_out + i] = T(0);
          continue;
        }
        const T *from =
            x +
            (ptrdiff_t(n) * blocks(s, s.block_in) + c / s.block_in) * plane *
                s.block_in +
            c % s.block_in;
        for (ptrdiff_t p = 0; p < plane; ++p)
          to[p * s.block_out + i] = from[p * s.block_in];
      }
    }
  }

private:
  /// Units of a block of channels.
  NNC_FN static constexpr int pieces(const S &s) {
    return ByElement ? s.h * s.w * s.block_out : 1;
  }

  NNC_FN static constexpr int blocks(const S &s, int block) {
    return (s.c + block - 1) / block;
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_ADAPT_PORTABLE_H
