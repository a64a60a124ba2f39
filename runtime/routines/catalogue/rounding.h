//===- rounding.h - Rounding errors of fast methods -----------------------===//
//
// The functions of the ERROR column of routines.inc. An error is the root mean
// square of the rounding errors in the result, divided by the root mean square
// of the result. One rounding to a 32-bit float has an error of 0.4 * 2^-24 on
// average. With 16-bit floats all errors are 2^13 times as large, and so is the
// tolerance of users.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CATALOGUE_ROUNDING_H
#define NNC_ROUTINES_CATALOGUE_ROUNDING_H

#include "runtime/routines/convolution/conv2d/winograd_matrices.h"
#include "runtime/routines/convolution/conv2d/winograd_plan.h"
#include "runtime/routines/transforms/strassen_plan.h"

namespace nnc {

/// Square root by Newton's method, as <cmath> is not constexpr.
constexpr double square_root(double x) {
  double root = x < 1 ? 1 : x;
  for (int i = 0; i < 64; ++i)
    root = (root + x / root) / 2;
  return root;
}

/// Error of Winograd's method with `channels` channels, of which `summed` are
/// summed at a time: the rounding errors of the sums of products and of the
/// transforms, amplified by the output transform.
constexpr double winograd_error_of(int channels, int summed,
                                   const winograd_filter &rows,
                                   const winograd_filter &cols) {
  // Squared error of transforming both factors, in units of the squared error
  // of one rounding.
  constexpr double transforms = 5.4;
  const double part = smaller(channels, summed);
  const double parts = double(channels) / summed;
  const double squares = transforms + part / 2 + parts / 2;
  return 0.4 / (1 << 24) *
         square_root(squares * rows.error_growth * cols.error_growth);
}
template <class S>
constexpr double winograd_error(const S &s, int M,
                                int summed = winograd_summed) {
  return winograd_error_of(s.c, summed, make_winograd_filter(M, s.kh, s.sh),
                           make_winograd_filter(M, s.kw, s.sw));
}
template <class S> constexpr double folded_winograd_error(const S &s, int M) {
  return winograd_error_of(folded_channels(s), winograd_summed,
                           make_winograd_filter(M, folded_taps(s.kh), 1),
                           make_winograd_filter(M, folded_taps(s.kw), 1));
}

/// Error of L levels of Strassen's method with sums of `terms` terms, in excess
/// of that of other routines, which compute sums in parts of up to 512 terms.
/// The result is never 0.
constexpr double strassen_error(int terms, int L) {
  const int summed = terms >> L;
  const double part = smaller(summed, strassen_summed(L));
  const double parts = larger(1, summed / strassen_summed(L));
  double squares = 2 + part / 2 + parts / 2;
  for (int i = 0; i < L; ++i)
    squares *= strassen_error_growth;
  const double plain = smaller(terms, 512) / 2.0;
  const double beyond = squares - plain;
  return 0.4 / (1 << 24) * square_root(beyond < 1 ? 1 : beyond);
}

} // namespace nnc

#endif // NNC_ROUTINES_CATALOGUE_ROUNDING_H
