//===- portable.h - RNN, GRU and LSTM of ONNX on any machine --------------===//
//
// sums[steps][batch][gates][units] are the products of the vectors and the
// weights of the gates, with all biases that are only added; h and c are what
// the cells give and hold before, r[gates][units][units] the weights of h:
//
//   RNN:  h = f(sums + r h)
//   GRU:  z, m = f(sums + r h),  n = g(sums + r (m h)),  h = (1 - z) n + z h;
//         with reset_after n = g(sums + m (r h + extras))
//   LSTM: i, k = f(sums + r h + extras c),  n = g(sums + r h),  c = k c + i n,
//         o = f(sums + r h + extras c),  h = o h(c)
//
// extras[3][units] of an LSTM are the peepholes of i, o and k, extras[units] of
// a GRU the bias beside r h. A sequence has lengths[batch] vectors; behind them
// results are 0. y holds h after each vector as y[steps][batch][units], then
// the last h of each sequence and, of an LSTM, c, which are y[batch][units]
// each. A unit is a sequence.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_RECURRENT_RECURRENT_PORTABLE_H
#define NNC_ROUTINES_RECURRENT_RECURRENT_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/recurrent/dot_product.h"
// Functions of doubles come first, as argument-dependent lookup does not find
// them.
#include "runtime/simd/number.h"

#include "runtime/simd/activations.h"
#include "runtime/simd/arithmetic.h"
#include "runtime/simd/math.h"

#include <stdint.h>

namespace nnc {

template <class S, class Epi> struct recurrent_portable {
  NNC_FN static constexpr int units(const S &s) { return s.batch; }

  template <class T>
  NNC_FN static void run(const S &s, const T *sums, const T *r, const T *extras,
                         const T *h0, const T *c0, const int64_t *lengths, T *y,
                         const Epi &, int begin, int end) {
    const ptrdiff_t row = ptrdiff_t(s.batch) * s.units;
    const int gates = s.kind == 2 ? 4 : s.kind == 1 ? 3 : 1;
    for (int b = begin; b < end; ++b) {
      T *own = y + ptrdiff_t(b) * s.units;
      T *last = own + s.steps * row, *c = last + row;
      const T *h = h0 + ptrdiff_t(b) * s.units;
      if (s.kind == 2)
        for (int u = 0; u < s.units; ++u)
          c[u] = c0[ptrdiff_t(b) * s.units + u];
      const int64_t given = lengths[b];
      const int length = given < 0         ? 0
                         : given < s.steps ? static_cast<int>(given)
                                           : s.steps;
      for (int i = 0; i < length; ++i) {
        const int t = s.reverse ? length - 1 - i : i;
        const T *sum = sums + (ptrdiff_t(t) * s.batch + b) * gates * s.units;
        T *next = own + t * row;
        if (s.kind == 0)
          for (int u = 0; u < s.units; ++u)
            next[u] = first(s, gate(s, sum, r, h, 0, u));
        else if (s.kind == 1)
          step_gru(s, sum, r, extras, h, next, last);
        else
          step_lstm(s, sum, r, extras, h, next, c);
        h = next;
      }
      for (int u = 0; u < s.units; ++u)
        last[u] = h[u];
      for (int t = length; t < s.steps; ++t)
        for (int u = 0; u < s.units; ++u)
          own[t * row + u] = 0;
    }
  }

private:
  /// The sum of gate number `gate` of cell u and the products with h.
  template <class T>
  NNC_FN static T gate(const S &s, const T *sum, const T *r, const T *h,
                       int gate, int u) {
    const ptrdiff_t at = ptrdiff_t(gate) * s.units + u;
    return sum[at] + dot_product(h, r + at * s.units, s.units);
  }

  /// `reset` is memory for r times h.
  template <class T>
  NNC_FN static void step_gru(const S &s, const T *sum, const T *r,
                              const T *extras, const T *h, T *next, T *reset) {
    // h may be the memory of `next` only before the first step, which is h0.
    if (!s.reset_after)
      for (int u = 0; u < s.units; ++u)
        reset[u] = first(s, gate(s, sum, r, h, 1, u)) * h[u];
    for (int u = 0; u < s.units; ++u) {
      const T keep = first(s, gate(s, sum, r, h, 0, u));
      const ptrdiff_t at = 2 * ptrdiff_t(s.units) + u;
      T candidate = 0;
      if (s.reset_after) {
        const T through = dot_product(h, r + at * s.units, s.units) + extras[u];
        candidate = sum[at] + first(s, gate(s, sum, r, h, 1, u)) * through;
      } else {
        candidate = gate(s, sum, r, static_cast<const T *>(reset), 2, u);
      }
      next[u] = (T(1) - keep) * second(s, candidate) + keep * h[u];
    }
  }

  template <class T>
  NNC_FN static void step_lstm(const S &s, const T *sum, const T *r,
                               const T *extras, const T *h, T *next, T *c) {
    for (int u = 0; u < s.units; ++u) {
      const T *peephole = extras + u;
      const T in = first(s, gate(s, sum, r, h, 0, u) + peephole[0] * c[u]);
      const T keep = s.coupled ? T(1) - in
                               : first(s, gate(s, sum, r, h, 2, u) +
                                              peephole[2 * s.units] * c[u]);
      c[u] = keep * c[u] + in * second(s, gate(s, sum, r, h, 3, u));
      const T out =
          first(s, gate(s, sum, r, h, 1, u) + peephole[s.units] * c[u]);
      next[u] = out * activate(s.h, c[u], T(s.h_alpha), T(s.h_beta));
    }
  }

  template <class T> NNC_FN static T limit(const S &s, T v) {
    const T clip = T(s.clip);
    return clip > T(0) ? (v > clip ? clip : v < -clip ? -clip : v) : v;
  }
  template <class T> NNC_FN static T first(const S &s, T v) {
    return activate(s.f, limit(s, v), T(s.f_alpha), T(s.f_beta));
  }
  template <class T> NNC_FN static T second(const S &s, T v) {
    return activate(s.g, limit(s, v), T(s.g_alpha), T(s.g_beta));
  }

  template <class T> NNC_FN static T activate(int kind, T v, T alpha, T beta) {
    switch (kind) {
    case 0:
      return alpha * v + beta;
    case 1:
      return v > T(0) ? v : T(0);
    case 2:
      return v < T(0) ? alpha * v : v;
    case 3:
      return v > alpha ? v : T(0);
    case 4:
      return nnc::tanh(v);
    case 5:
      return alpha * nnc::tanh(beta * v);
    case 6:
      return nnc::sigmoid(v);
    case 7: {
      const T line = alpha * v + beta;
      return line < T(0) ? T(0) : line > T(1) ? T(1) : line;
    }
    case 8:
      return nnc::elu(v, alpha);
    case 9:
      return v / (T(1) + (v < T(0) ? -v : v));
    default:
      return nnc::softplus(v);
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_RECURRENT_RECURRENT_PORTABLE_H
