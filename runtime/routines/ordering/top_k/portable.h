//===- portable.h - Indices of the largest elements on any machine --------===//
//
// y[o][i][j], for i < count, is the index along the middle axis of
// x[o][size][j] of its i-th best element: the largest first or, without
// `largest`, the smallest. Of equal elements the one with the lower index is
// better; NaN is worse than all numbers. The result itself is a heap whose root
// is the worst index that was kept, so it takes size * log(count) comparisons
// and no memory. A unit is a pair of o and j.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_ORDERING_TOP_K_PORTABLE_H
#define NNC_ROUTINES_ORDERING_TOP_K_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"

#include <stdint.h>

namespace nnc {

template <class S, class Epi> struct top_k_portable {
  NNC_FN static constexpr int units(const S &s) { return s.outer * s.inner; }

  template <class T>
  NNC_FN static void run(const S &s, const T *x, int64_t *y, const Epi &,
                         int begin, int end) {
    if (s.count == 0)
      return; // The result may have no memory.
    for (int unit = begin; unit < end; ++unit) {
      const ptrdiff_t outer = unit / s.inner, inner = unit % s.inner;
      const line<T> all{x + outer * s.size * s.inner + inner,
                        y + outer * s.count * s.inner + inner, s.inner,
                        s.largest != 0};
      for (int i = 0; i < s.count; ++i)
        all.kept(i) = i;
      for (int i = s.count / 2 - 1; i >= 0; --i)
        all.sink(i, s.count, all.kept(i));
      for (int i = s.count; i < s.size; ++i)
        if (all.is_better(i, all.kept(0)))
          all.sink(0, s.count, i);
      for (int i = s.count - 1; i > 0; --i) {
        const int64_t last = all.kept(i);
        all.kept(i) = all.kept(0);
        all.sink(0, i, last);
      }
    }
  }

private:
  /// The elements of one line of x and the heap of their indices in y.
  template <class T> struct line {
    const T *x;
    int64_t *y;
    ptrdiff_t stride;
    bool largest;

    NNC_FN int64_t &kept(int i) const { return y[i * stride]; }
    NNC_FN bool is_better(int64_t a, int64_t b) const {
      const T va = x[static_cast<ptrdiff_t>(a) * stride],
              vb = x[static_cast<ptrdiff_t>(b) * stride];
      const bool a_is_number = va == va, b_is_number = vb == vb;
      if (a_is_number != b_is_number)
        return a_is_number;
      if (a_is_number && va != vb)
        return largest ? va > vb : va < vb;
      return a < b;
    }
    /// Inserts `index` into the heap of `count` indices at `hole` or below it,
    /// so that no index is better than its children.
    NNC_FN void sink(int hole, int count, int64_t index) const {
      for (int child; (child = 2 * hole + 1) < count; hole = child) {
        if (child + 1 < count && is_better(kept(child), kept(child + 1)))
          ++child;
        if (!is_better(index, kept(child)))
          break;
        kept(hole) = kept(child);
      }
      kept(hole) = index;
    }
  };
};

} // namespace nnc

#endif // NNC_ROUTINES_ORDERING_TOP_K_PORTABLE_H
