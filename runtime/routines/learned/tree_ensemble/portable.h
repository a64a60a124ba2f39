//===- portable.h - Ensembles of decision trees on any machine ------------===//
//
// Node i of all trees' nodes has values[i], tests[i] and jumps[i]. A negative
// test is a leaf: ~test is its target, and the value its score; or with `dense`
// the row of scores[][targets] that holds one for each target. Any other node
// compares x[test / 2] with its value: if x is not larger, or if x is NaN and
// the test is odd, the next node follows, otherwise the node `jumps[i]`
// positions behind this one. roots[trees] are the nodes at which trees start. A
// unit is a row.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_LEARNED_TREE_ENSEMBLE_PORTABLE_H
#define NNC_ROUTINES_LEARNED_TREE_ENSEMBLE_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"

#include <math.h>
#include <stdint.h>

namespace nnc {

template <class S, class Epi> struct tree_ensemble_portable {
  NNC_FN static constexpr int units(const S &s) { return s.rows; }

  /// T is float or double, I a signed integer.
  template <class T, class I>
  NNC_FN static void run(const S &s, const T *x, const T *values,
                         const I *tests, const I *jumps, const int32_t *roots,
                         const T *scores, T *y, const Epi &, int begin,
                         int end) {
    // The worst possible score, which any score replaces.
    const T worst = s.reduce == 0   ? T(0)
                    : s.reduce == 1 ? T(HUGE_VAL)
                                    : T(-HUGE_VAL);
    for (int unit = begin; unit < end; ++unit) {
      const T *row = x + ptrdiff_t(unit) * s.features;
      T *sums = y + ptrdiff_t(unit) * s.targets;
      for (int t = 0; t < s.targets; ++t)
        sums[t] = worst;
      for (int tree = 0; tree < s.trees; ++tree) {
        const ptrdiff_t leaf = descend(row, values, tests, jumps, roots[tree]);
        const ptrdiff_t place = ~ptrdiff_t(tests[leaf]);
        if (s.dense)
          for (int t = 0; t < s.targets; ++t)
            sums[t] = join(s, sums[t], scores[place * s.targets + t]);
        else
          sums[place] = join(s, sums[place], values[leaf]);
      }
      if (s.reduce != 0)
        for (int t = 0; t < s.targets; ++t)
          sums[t] = sums[t] == worst ? T(0) : sums[t];
    }
  }

private:
  /// Returns the leaf that `row` reaches in the tree with the root node `at`.
  template <class T, class I>
  NNC_FN static ptrdiff_t descend(const T *row, const T *values, const I *tests,
                                  const I *jumps, ptrdiff_t at) {
    for (int test; (test = tests[at]) >= 0;) {
      const T v = row[test >> 1];
      const bool is_missing = v != v;
      const bool is_next = (v <= values[at]) | (is_missing & ((test & 1) != 0));
      at += is_next ? ptrdiff_t(1) : ptrdiff_t(jumps[at]);
    }
    return at;
  }

  template <class T> NNC_FN static T join(const S &s, T a, T b) {
    if (s.reduce == 0)
      return a + b;
    return (s.reduce == 1 ? b < a : b > a) ? b : a;
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_LEARNED_TREE_ENSEMBLE_PORTABLE_H
