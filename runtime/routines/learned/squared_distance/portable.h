//===- portable.h - Squared distances of vectors on any machine -----------===//
//
// y[i][j] is the sum over k of (x[i][k] - w[j][k])^2. Differences are made
// before they are squared, so that vectors that lie close together have an
// exact distance however far they are from zero. A unit is a row of y.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_LEARNED_SQUARED_DISTANCE_PORTABLE_H
#define NNC_ROUTINES_LEARNED_SQUARED_DISTANCE_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"

namespace nnc {

template <class S, class Epi> struct squared_distance_portable {
  NNC_FN static constexpr int units(const S &s) { return s.m; }

  /// T is float or double.
  template <class T>
  NNC_FN static void run(const S &s, const T *x, const T *w, T *y, const Epi &,
                         int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const T *a = x + ptrdiff_t(i) * s.k;
      const T *b = w;
      T *row = y + ptrdiff_t(i) * s.n;
      for (int j = 0; j < s.n; ++j, b += s.k)
        row[j] = distance(s, a, b);
    }
  }

private:
  /// Returns the squared distance of two rows. It is summed up in four parts,
  /// which keeps the pipeline busy and rounding errors small.
  template <class T>
  NNC_FN static T distance(const S &s, const T *a, const T *b) {
    T sums[4] = {};
    int k = 0;
    for (; k + 4 <= s.k; k += 4)
      for (int lane = 0; lane < 4; ++lane) {
        const T d = a[k + lane] - b[k + lane];
        sums[lane] += d * d;
      }
    for (int lane = 0; k < s.k; ++k, ++lane) {
      const T d = a[k] - b[k];
      sums[lane] += d * d;
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_LEARNED_SQUARED_DISTANCE_PORTABLE_H
