//===- panels.h - Products of a few rows and panels of weights ------------===//
//
// Common code of products that read constant weights in panels of W columns in
// a form smaller than floats (codebook.h). A unit is a run of B
// panels.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_PANELS_H
#define NNC_ROUTINES_MATRIX_MATMUL_PANELS_H

#include "runtime/functions.h"
#include "runtime/routines/matrix/matmul/finish.h"
#include "runtime/routines/tiles/remainder.h"

namespace nnc {

/// Values that all tiles of one run of panels use.
template <class Epi> struct panels_job {
  const float *a;
  const unsigned char *b;
  float *y;
  const Epi *epi;
  ptrdiff_t out; ///< index in y of the matrix
  int column;    ///< first column of the run
};

/// The product y[m][n] of a[m][k] and weights in the form FORM, whose panels
/// have FORM::panel(k, W) bytes. METHOD::tile<R, N>(s, j, row) computes R rows
/// from `row` on of N panels; tiles have at most M rows by B panels.
template <class METHOD, class FORM, int W, class S, int M, int B, class Epi>
struct matmul_of_panels {
  static_assert(W >= 4 && (W & (W - 1)) == 0, "W is a vector width");
  static_assert(M > 0 && B > 0, "a tile has points");

  NNC_FN static constexpr int units(const S &s) {
    return ceil_div(panels(s), B);
  }

  NNC_FN static void run(const S &s, const float *a, const float *b, float *y,
                         const Epi &epi, int begin, int end) {
    constexpr int left = left_over<B, S>(panels);
    const auto *bytes = reinterpret_cast<const unsigned char *>(b);
    for (int unit = begin; unit < end; ++unit)
      in_one_tile<B, left>(smaller(B, panels(s) - unit * B), [&](auto count,
                                                                 int at) {
        const int panel = unit * B + at;
        const job j{a,        bytes + panel * FORM::panel(s.k, W), y, &epi, 0,
                    panel * W};
        rows<count>(s, j);
      });
  }

protected:
  /// Bytes from the weights in use to those that are prefetched.
  static constexpr int ahead = 448;

private:
  using job = panels_job<Epi>;

  NNC_FN static constexpr int panels(const S &s) { return ceil_div(s.n, W); }

  /// Computes all rows of N panels.
  template <int N> NNC_FN static void rows(const S &s, const job &j) {
    constexpr int left =
        left_over<M, S>([](const S &shape) { return shape.m; });
    in_tiles<M, left>(0, s.m, [&](auto count, int row) {
      METHOD::template tile<count, N>(s, j, row);
    });
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_PANELS_H
