//===- winograd_matrices.h - The transforms of Winograd's convolution -----===//
//
// F(m, r) computes m outputs of a filter of r taps from n = m + r - 1 inputs x
// with n products (Cook and Toom's method):
//
//   y = A^T ((G w) * (B^T x))
//
// Filter and outputs are taken as polynomials of degrees r - 1 and m - 1, whose
// product is found from its values at n points: 0, pairs +q and -q, one point s
// without a partner if n is odd, and infinity. These points determine all three
// matrices.
//
// Row j of B^T holds the coefficients of the product of (x - p) over all finite
// points p except the row's own, and G divides by that product's value at the
// point. So the rows of a pair differ only in the sign of every second
// coefficient, and computing both costs little more than one; if points have
// few bits, B^T and A^T are exact in float. With a point s, all rows but its
// own have the factor x - s: they are the rows of the pairs, applied to the
// differences x[i + 1] - s x[i].
//
// With a stride of 2, even taps meet even inputs, and odd taps odd inputs. Each
// half is a convolution of stride 1 with points of its own. For three taps
// these are F(m, 2) and a product for each of m outputs: 2 m + 1 products in
// the place of 3 m.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_WINOGRAD_MATRICES_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_WINOGRAD_MATRICES_H

namespace nnc {

/// The matrices of F(outputs, taps), in terms of their points.
struct winograd_matrices {
  static constexpr int most_points = 8;
  static constexpr int most_pairs = most_points / 2 - 1;

  int outputs; ///< m
  int taps;    ///< r
  int points;  ///< n; in the order 0, +q[0], -q[0], +q[1], ..., s, infinity
  int pairs;
  bool odd; ///< whether n is odd, so that there is s
  double q[most_pairs];
  double s;
  /// Coefficients, the constant one first, of the product of (z - q[l]^2) over
  /// all pairs l, and over all pairs but k.
  double all[most_pairs + 1];
  double others[most_pairs][most_pairs];
  double powers[most_points][most_pairs];  ///< [i][k]: i-th power of q[k], or s
  double filter[most_points][most_points]; ///< G

  /// Factor by which the outputs' mean square exceeds that of sums of `taps`
  /// products, if all products are independent of each other, as their rounding
  /// errors are.
  constexpr double error_growth() const;

private:
  /// Squared norms of a point's row of B^T and of its column of A^T.
  constexpr double input_square(int point) const;
  constexpr double output_square(int point) const;
};

/// Sets q and s, for each even n to those with the least errors on random data,
/// compared with double precision: with r = 3 and 64 channels 2.5e-7, 7.4e-7
/// and 3.2e-6 of the outputs' root mean square for n = 4, 6 and 8, where direct
/// sums of products have 2e-7. For odd n they have the least error_growth().
constexpr void choose_winograd_points(winograd_matrices &w) {
  w.s = w.points == 3 ? 1 : 2;
  if (w.points == 5) {
    w.q[0] = 0.75;
  } else if (w.points == 7) {
    w.q[0] = 0.5;
    w.q[1] = 1;
  } else if (w.points == 4) {
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

/// The matrices of F(outputs, taps).
constexpr winograd_matrices make_winograd(int outputs, int taps) {
  winograd_matrices w{};
  w.outputs = outputs;
  w.taps = taps;
  w.points = outputs + taps - 1;
  w.pairs = w.points / 2 - 1;
  w.odd = w.points % 2 == 1;
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

  const int finite = w.pairs + w.odd;
  for (int i = 0; i < outputs; ++i)
    for (int k = 0; k < finite; ++k)
      w.powers[i][k] =
          i == 0 ? 1 : w.powers[i - 1][k] * (k < w.pairs ? w.q[k] : w.s);

  // Sets a row of G: that of point p, at which the product of (x - p') over the
  // other finite points p' has value `product`.
  const auto set_filter = [&](int row, double p, double product) {
    w.filter[row][0] = 1 / product;
    for (int i = 1; i < taps; ++i)
      w.filter[row][i] = w.filter[row][i - 1] * p;
  };
  const auto at_square = [](const double *polynomial, int degree, double p) {
    double value = polynomial[degree];
    for (int i = degree - 1; i >= 0; --i)
      value = value * p * p + polynomial[i];
    return value;
  };
  const auto from_s = [&](double p) { return w.odd ? p - w.s : 1; };
  set_filter(0, 0, w.all[0] * from_s(0));
  for (int k = 0; k < w.pairs; ++k)
    for (int sign = 0; sign < 2; ++sign) {
      const double p = sign ? -w.q[k] : w.q[k];
      set_filter(1 + 2 * k + sign, p,
                 p * (p + p) * at_square(w.others[k], w.pairs - 1, p) *
                     from_s(p));
    }
  if (w.odd)
    set_filter(w.points - 2, w.s, w.s * at_square(w.all, w.pairs, w.s));
  w.filter[w.points - 1][taps - 1] = 1;
  return w;
}

constexpr double winograd_matrices::input_square(int point) const {
  const bool ends = point == 0 || point == points - 1;
  const bool alone = odd && point == points - 2;
  const int pair = (point - 1) / 2;
  // Coefficients of x[i] or, with a factor x - s, of x[i + 1] - s x[i]; a zero
  // precedes them.
  double row[most_points + 1] = {};
  for (int i = 0; i < (ends || alone ? pairs + 1 : pairs); ++i)
    if (ends || alone) {
      row[1 + 2 * i + (point != 0)] = all[i];
    } else {
      row[2 + 2 * i] = others[pair][i] * q[pair];
      row[3 + 2 * i] = others[pair][i];
    }
  double sum = 0;
  for (int i = 0; i < most_points; ++i) {
    const double factor = odd && !alone ? row[i] - s * row[i + 1] : row[i + 1];
    sum += factor * factor;
  }
  return sum;
}

constexpr double winograd_matrices::output_square(int point) const {
  if (point == 0 || point == points - 1)
    return 1;
  double sum = 0;
  for (int i = 0; i < outputs; ++i)
    sum += powers[i][(point - 1) / 2] * powers[i][(point - 1) / 2];
  return sum;
}

/// Sums over all points the product of three squared norms: of the point's row
/// of B^T, its row of G and its column of A^T.
constexpr double winograd_matrices::error_growth() const {
  double growth = 0;
  for (int point = 0; point < points; ++point) {
    double taps_sum = 0;
    for (int i = 0; i < taps; ++i)
      taps_sum += filter[point][i] * filter[point][i];
    growth += input_square(point) * taps_sum * output_square(point);
  }
  return growth / (outputs * taps);
}

/// The matrix that transforms the taps along an axis into points, for a stride
/// of 1 or 2. With a stride of 2 the points of even taps come before those of
/// odd ones.
struct winograd_filter {
  int points;
  double rows[2 * winograd_matrices::most_points]
             [2 * winograd_matrices::most_points];
  double error_growth;
};

constexpr winograd_filter make_winograd_filter(int outputs, int taps,
                                               int stride) {
  winograd_filter all{};
  for (int first = 0; first < stride; ++first) {
    const int own = (taps - first + stride - 1) / stride;
    if (own == 1) { // each output has a product of its own
      for (int i = 0; i < (stride == 1 ? 1 : outputs); ++i)
        all.rows[all.points++][first] = 1;
      all.error_growth += 1.0 / taps;
      continue;
    }
    const winograd_matrices w = make_winograd(outputs, own);
    for (int i = 0; i < w.points; ++i, ++all.points)
      for (int tap = 0; tap < own; ++tap)
        all.rows[all.points][first + stride * tap] = w.filter[i][tap];
    all.error_growth += w.error_growth() * own / taps;
  }
  return all;
}

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_WINOGRAD_MATRICES_H
