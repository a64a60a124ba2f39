//===- portable.h - Reductions on any machine -----------------------------===//
//
// y[outer][inner] is the reduction of x[outer][size][inner] over its middle
// axis. Sums are made in 16 parts, so that rounding errors stay small. A unit
// is one element of y. T is float, double or an integer.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_REDUCTION_REDUCE_PORTABLE_H
#define NNC_ROUTINES_REDUCTION_REDUCE_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/simd/math.h"
#include "runtime/simd/number.h"

namespace nnc {

/// Kinds of reductions: map() is applied to each element, join() combines two
/// partial results, and finish() makes the result. An empty sum is 0, an empty
/// product 1.
struct reduce_kind_sum {
  template <class T> NNC_FN static T start() { return T(0); }
  template <class T> NNC_FN static T map(T v) { return v; }
  template <class T> NNC_FN static T join(T a, T b) { return plus(a, b); }
  template <class T> NNC_FN static T finish(T v, int) { return v; }
};
struct reduce_kind_mean : reduce_kind_sum {
  template <class T> NNC_FN static T finish(T v, int n) { return T(v / T(n)); }
};
struct reduce_kind_prod : reduce_kind_sum {
  template <class T> NNC_FN static T start() { return T(1); }
  template <class T> NNC_FN static T join(T a, T b) { return times(a, b); }
};
struct reduce_kind_l1 : reduce_kind_sum {
  template <class T> NNC_FN static T map(T v) {
    return v < T(0) ? times(v, T(-1)) : v;
  }
};
struct reduce_kind_sum_square : reduce_kind_sum {
  template <class T> NNC_FN static T map(T v) { return times(v, v); }
};
struct reduce_kind_l2 : reduce_kind_sum_square {
  template <class T> NNC_FN static T finish(T v, int) {
    if constexpr (is_floating_point<T>::value)
      return nnc::sqrt(v);
    else
      return T(nnc::sqrt(double(v)));
  }
};
struct reduce_kind_log_sum : reduce_kind_sum {
  template <class T> NNC_FN static T finish(T v, int) {
    if constexpr (is_floating_point<T>::value)
      return nnc::log(v);
    else
      return T(nnc::log(double(v)));
  }
};

/// A reduction of a kind that needs a single pass.
template <class Kind, class S, class Epi> struct reduce_one_pass_portable {
  NNC_FN static constexpr int units(const S &s) { return s.outer * s.inner; }

  template <class T>
  NNC_FN static void run(const S &s, const T *x, T *y, const Epi &epi,
                         int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const T *at =
          x + ptrdiff_t(unit / s.inner) * s.size * s.inner + unit % s.inner;
      T partial[16];
      for (T &p : partial)
        p = Kind::template start<T>();
      for (int i = 0; i < s.size; ++i)
        partial[i % 16] = Kind::join(
            partial[i % 16], Kind::template map<T>(at[ptrdiff_t(i) * s.inner]));
      T total = partial[0];
      for (int i = 1; i < 16; ++i)
        total = Kind::join(total, partial[i]);
      y[unit] = epi(Kind::template finish<T>(total, s.size),
                    position<false>{unit, 0});
    }
  }
};

/// The neutral element of a maximum (SIGN = 1) or minimum (-1) of type T: -inf
/// or inf for floats, the least or the greatest number of an integer type.
template <int SIGN, class T> NNC_INLINE T before_all() {
  if constexpr (is_floating_point<T>::value)
    return T(-SIGN * HUGE_VAL);
  else
    return SIGN > 0 ? numeric_limits<T>::min() : numeric_limits<T>::max();
}

/// The largest (SIGN = 1) or smallest (-1) element; NaN if there is one.
template <int SIGN, class S, class Epi> struct reduce_extreme_portable {
  NNC_FN static constexpr int units(const S &s) { return s.outer * s.inner; }

  template <class T>
  NNC_FN static void run(const S &s, const T *x, T *y, const Epi &epi,
                         int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const T *at =
          x + ptrdiff_t(unit / s.inner) * s.size * s.inner + unit % s.inner;
      T best = s.size > 0 ? at[0] : before_all<SIGN, T>();
      for (int i = 1; i < s.size; ++i) {
        const T v = at[ptrdiff_t(i) * s.inner];
        const bool better = SIGN > 0 ? v > best : v < best;
        best = better || v != v ? v : best;
      }
      y[unit] = epi(best, position<false>{unit, 0});
    }
  }
};

/// log(sum of e^x), with the largest element taken out first, so that no
/// exponential overflows. An infinite one stays in: e^-inf is 0 and e^inf is
/// infinite as they stand, but the difference of two infinities is NaN.
template <class S, class Epi> struct reduce_log_sum_exp_portable {
  NNC_FN static constexpr int units(const S &s) { return s.outer * s.inner; }

  template <class T>
  NNC_FN static void run(const S &s, const T *x, T *y, const Epi &epi,
                         int begin, int end) {
    static_assert(is_floating_point<T>::value, "T is float or double");
    for (int unit = begin; unit < end; ++unit) {
      const T *at =
          x + ptrdiff_t(unit / s.inner) * s.size * s.inner + unit % s.inner;
      T largest = s.size > 0 ? at[0] : before_all<1, T>();
      for (int i = 1; i < s.size; ++i)
        largest = at[ptrdiff_t(i) * s.inner] > largest
                      ? at[ptrdiff_t(i) * s.inner]
                      : largest;
      const T taken = largest - largest == T(0) ? largest : T(0);
      T partial[16] = {}, sum = 0;
      for (int i = 0; i < s.size; ++i)
        partial[i % 16] += nnc::exp(at[ptrdiff_t(i) * s.inner] - taken);
      for (T p : partial)
        sum += p;
      y[unit] = epi(taken + nnc::log(sum), position<false>{unit, 0});
    }
  }
};

template <class S, class Epi>
using reduce_sum_portable = reduce_one_pass_portable<reduce_kind_sum, S, Epi>;
template <class S, class Epi>
using reduce_mean_portable = reduce_one_pass_portable<reduce_kind_mean, S, Epi>;
template <class S, class Epi>
using reduce_prod_portable = reduce_one_pass_portable<reduce_kind_prod, S, Epi>;
template <class S, class Epi>
using reduce_l1_portable = reduce_one_pass_portable<reduce_kind_l1, S, Epi>;
template <class S, class Epi>
using reduce_l2_portable = reduce_one_pass_portable<reduce_kind_l2, S, Epi>;
template <class S, class Epi>
using reduce_sum_square_portable =
    reduce_one_pass_portable<reduce_kind_sum_square, S, Epi>;
template <class S, class Epi>
using reduce_log_sum_portable =
    reduce_one_pass_portable<reduce_kind_log_sum, S, Epi>;
template <class S, class Epi>
using reduce_max_portable = reduce_extreme_portable<1, S, Epi>;
template <class S, class Epi>
using reduce_min_portable = reduce_extreme_portable<-1, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_REDUCTION_REDUCE_PORTABLE_H
