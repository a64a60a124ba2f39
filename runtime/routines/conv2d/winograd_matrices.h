//===- winograd_matrices.h - The transforms of Winograd's convolution -----===//
//
// F(m, r) computes m outputs of a filter of r taps from n = m + r - 1 inputs x
// with n products (Cook and Toom's method):
//
//   y = A^T ((G w) * (B^T x))
//
// Filter and outputs are taken as polynomials of degrees r - 1 and m - 1, whose
// product is found from its values in n points: 0, n / 2 - 1 pairs +q and -q,
// and infinity. All of the matrices' numbers follow from the q.
//
// Row j of B^T holds the coefficients of the product of (x - p) over the finite
// points p but the row's own, G divides by that product's value in the point.
// So the rows of a pair differ in the sign of every other number, and each
// costs about a half; and for points with few bits B^T and A^T are exact in
// float.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONV2D_WINOGRAD_MATRICES_H
#define NNC_ROUTINES_CONV2D_WINOGRAD_MATRICES_H

namespace nnc {

struct winograd_matrices {
  static constexpr int most_points = 8;
  static constexpr int most_pairs = most_points / 2 - 1;

  int outputs; ///< m
  int taps;    ///< r
  int points;  ///< n; in the order 0, +q[0], -q[0], +q[1], ..., infinity
  int pairs;
  double q[most_pairs];
  /// Coefficients, of 1 first, of the product of (z - q[l]^2) over all pairs l,
  /// and over all but pair k.
  double all[most_pairs + 1];
  double others[most_pairs][most_pairs];
  double powers[most_points][most_pairs];  ///< of the q, from 0 on
  double filter[most_points][most_points]; ///< G

  /// By how much outputs' mean square exceeds that of sums of taps, if the
  /// products were independent of each other: their rounding errors are.
  constexpr double error_growth() const;
};

/// The q for n points that err least on random data against double precision:
/// 2.5e-7, 7.4e-7 and 3.2e-6 of the outputs' root mean square with r = 3 and 64
/// channels, where sums of products alone have 2e-7.
constexpr void choose_winograd_points(winograd_matrices &w) {
  if (w.points == 4) {
    w.q[0] = 1;
  } else if (w.points == 6) {
    w.q[0] = 0.625;
    w.q[1] = 1.5;
  } else {
    w.q[0] = 0.5;
    w.q[1] = 1;
    w.q[2] = 2;
  }
}

constexpr winograd_matrices make_winograd(int outputs, int taps) {
  winograd_matrices w{};
  w.outputs = outputs;
  w.taps = taps;
  w.points = outputs + taps - 1;
  w.pairs = w.points / 2 - 1;
  choose_winograd_points(w);

  // Multiplies a polynomial of `degree` by (z - root).
  const auto multiply = [](double *polynomial, int degree, double root) {
    for (int i = degree + 1; i >= 0; --i)
      polynomial[i] = (i > 0 ? polynomial[i - 1] : 0) -
                      (i <= degree ? root * polynomial[i] : 0);
  };
  w.all[0] = 1;
  for (int k = 0; k < w.pairs; ++k) {
    multiply(w.all, k, w.q[k] * w.q[k]);
    w.others[k][0] = 1;
    for (int l = 0, degree = 0; l < w.pairs; ++l)
      if (l != k)
        multiply(w.others[k], degree++, w.q[l] * w.q[l]);
  }

  for (int i = 0; i < outputs; ++i)
    for (int k = 0; k < w.pairs; ++k)
      w.powers[i][k] = i == 0 ? 1 : w.powers[i - 1][k] * w.q[k];

  w.filter[0][0] = 1 / w.all[0];
  for (int k = 0; k < w.pairs; ++k)
    for (int sign = 0; sign < 2; ++sign) {
      // The product over the other points is p (p + p) others(p^2).
      const double p = sign ? -w.q[k] : w.q[k];
      double power = 1, value = 0;
      for (int i = 0; i < w.pairs; ++i, power *= p * p)
        value += power * w.others[k][i];
      double *row = w.filter[1 + 2 * k + sign];
      row[0] = 1 / (2 * p * p * value);
      for (int i = 1; i < taps; ++i)
        row[i] = row[i - 1] * p;
    }
  w.filter[w.points - 1][taps - 1] = 1;
  return w;
}

constexpr double winograd_matrices::error_growth() const {
  double growth = 0;
  for (int point = 0; point < points; ++point) {
    const bool ends = point == 0 || point == points - 1;
    const int pair = (point - 1) / 2;
    // Squares of the point's row of B^T, of G, and of its column of A^T.
    double input = 0, taps_sum = 0, output = 0;
    for (int i = 0; i < (ends ? pairs + 1 : pairs); ++i)
      input +=
          ends ? all[i] * all[i]
               : others[pair][i] * others[pair][i] * (1 + q[pair] * q[pair]);
    for (int i = 0; i < taps; ++i)
      taps_sum += filter[point][i] * filter[point][i];
    for (int i = 0; i < outputs; ++i)
      output += ends ? (i == (point == 0 ? 0 : outputs - 1))
                     : powers[i][pair] * powers[i][pair];
    growth += input * taps_sum * output;
  }
  return growth / (outputs * taps);
}

} // namespace nnc

#endif // NNC_ROUTINES_CONV2D_WINOGRAD_MATRICES_H
