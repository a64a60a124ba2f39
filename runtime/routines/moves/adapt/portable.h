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

namespace nnc {

template <class S, class Epi> struct adapt_portable {
  static constexpr int units(const S &s) {
    return s.n * blocks(s, s.block_out);
  }

  template <class T>
  static void run(const S &s, const T *x, T *y, const Epi &, int begin,
                  int end) {
    const ptrdiff_t plane = ptrdiff_t(s.h) * s.w;
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
  static constexpr int blocks(const S &s, int block) {
    return (s.c + block - 1) / block;
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_ADAPT_PORTABLE_H
