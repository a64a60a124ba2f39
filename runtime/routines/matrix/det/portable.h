//===- portable.h - Determinants on any machine ---------------------------===//
//
// By Gaussian elimination with the largest pivot of each column, on a copy of
// the matrix in scratch, of n * n numbers. A unit is one matrix.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MATRIX_DET_PORTABLE_H
#define NNC_ROUTINES_MATRIX_DET_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"

namespace nnc {

template <class S, class Epi> struct det_portable {
  NNC_FN static constexpr int units(const S &s) { return s.batch; }

  /// T is float or double.
  template <class T>
  NNC_FN static void run(const S &s, const T *x, T *y, unsigned char *scratch,
                         const Epi &, int begin, int end) {
    T *const a = static_cast<T *>(static_cast<void *>(scratch));
    for (int unit = begin; unit < end; ++unit) {
      const T *const from = x + ptrdiff_t(unit) * s.n * s.n;
      for (ptrdiff_t i = 0; i < ptrdiff_t(s.n) * s.n; ++i)
        a[i] = from[i];
      y[unit] = eliminate(a, s.n);
    }
  }

private:
  template <class T> NNC_FN static T eliminate(T *a, int n) {
    T det = 1;
    for (int k = 0; k < n; ++k) {
      T *const row = a + ptrdiff_t(k) * n;
      T *pivot = row;
      for (T *other = row + n; other < a + ptrdiff_t(n) * n; other += n)
        if (magnitude(other[k]) > magnitude(pivot[k]))
          pivot = other;
      if (pivot != row) {
        for (int j = k; j < n; ++j) {
          const T value = row[j];
          row[j] = pivot[j];
          pivot[j] = value;
        }
        det = -det;
      }
      det *= row[k];
      if (row[k] == T(0))
        return det;
      for (T *other = row + n; other < a + ptrdiff_t(n) * n; other += n) {
        const T factor = other[k] / row[k];
        for (int j = k + 1; j < n; ++j)
          other[j] -= factor * row[j];
      }
    }
    return det;
  }
  template <class T> NNC_FN static T magnitude(T value) {
    return value < T(0) ? -value : value;
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_DET_PORTABLE_H
