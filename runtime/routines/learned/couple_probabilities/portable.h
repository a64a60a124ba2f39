//===- portable.h - Probabilities of classes from those of pairs ----------===//
//
// The second method of Wu, Lin, Weng, "Probability Estimates for Multi-class
// Classification by Pairwise Coupling" (2004), as support vector machines use
// it: with r(i, j) the probability of i among i and j, the result minimizes p^T
// Q p, where Q(i, i) is the sum over j of r(j, i)^2 and Q(i, j) is -r(j, i)
// r(i, j). Algorithm 2 of the paper approaches it: at most 100 sweeps over all
// classes, until Q p differs from p^T Q p by less than 0.005 / classes. The
// scratch holds Q p and the diagonal of Q. A unit is a row.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_LEARNED_COUPLE_PROBABILITIES_PORTABLE_H
#define NNC_ROUTINES_LEARNED_COUPLE_PROBABILITIES_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"

namespace nnc {

template <class S, class Epi> struct couple_probabilities_portable {
  NNC_FN static constexpr int units(const S &s) { return s.rows; }

  /// T is float or double.
  template <class T>
  NNC_FN static void run(const S &s, const T *x, T *y, unsigned char *scratch,
                         const Epi &, int begin, int end) {
    T *products = reinterpret_cast<T *>(scratch),
      *diagonal = products + s.classes;
    const ptrdiff_t pairs = ptrdiff_t(s.classes) * (s.classes - 1) / 2;
    for (int unit = begin; unit < end; ++unit)
      couple(s, x + unit * pairs, y + ptrdiff_t(unit) * s.classes, products,
             diagonal);
  }

private:
  /// r(i, j) of different classes.
  template <class T>
  NNC_FN static T among(const S &s, const T *r, int i, int j) {
    const int low = i < j ? i : j, high = i < j ? j : i;
    const ptrdiff_t pair =
        ptrdiff_t(low) * (2 * s.classes - low - 1) / 2 + (high - low - 1);
    return i < j ? r[pair] : T(1) - r[pair];
  }
  /// Q(i, j) of different classes.
  template <class T>
  NNC_FN static T entry(const S &s, const T *r, int i, int j) {
    return -among(s, r, j, i) * among(s, r, i, j);
  }

  template <class T>
  NNC_FN static void couple(const S &s, const T *r, T *p, T *products,
                            T *diagonal) {
    const T tolerance = T(0.005) / T(s.classes);
    for (int i = 0; i < s.classes; ++i) {
      p[i] = T(1) / T(s.classes);
      diagonal[i] = 0;
      for (int j = 0; j < s.classes; ++j)
        if (j != i)
          diagonal[i] += among(s, r, j, i) * among(s, r, j, i);
    }
    for (int sweep = 0; sweep < 100; ++sweep) {
      T whole = 0;
      for (int i = 0; i < s.classes; ++i) {
        products[i] = 0;
        for (int j = 0; j < s.classes; ++j)
          products[i] += (j == i ? diagonal[i] : entry(s, r, i, j)) * p[j];
        whole += p[i] * products[i];
      }
      T apart = 0;
      for (int i = 0; i < s.classes; ++i) {
        const T error = products[i] - whole;
        const T size = error < T(0) ? -error : error;
        apart = size > apart ? size : apart;
      }
      if (apart < tolerance)
        return;
      for (int i = 0; i < s.classes; ++i) {
        const T step = (whole - products[i]) / diagonal[i], norm = T(1) + step;
        p[i] += step;
        whole = (whole + step * (step * diagonal[i] + T(2) * products[i])) /
                norm / norm;
        for (int j = 0; j < s.classes; ++j) {
          const T q = j == i ? diagonal[i] : entry(s, r, i, j);
          products[j] = (products[j] + step * q) / norm;
          p[j] /= norm;
        }
      }
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_LEARNED_COUPLE_PROBABILITIES_PORTABLE_H
