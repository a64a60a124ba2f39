//===- portable.h - LSTM on any machine -----------------------------------===//
//
// For each vector x_t of a sequence, with gates i, f, g, o, whose weights
// follow each other in w[4][units][input], r[4][units][units] and
// bias[4][units]:
//
//   i, f, o = sigmoid(w x_t + r h + bias),  g = tanh(w x_t + r h + bias)
//   c = clip(f c + i g),  h = o tanh(c)
//
// y holds h after each vector, in the order of x, and behind these c[batch] at
// the end. A unit is a sequence.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_RECURRENT_LSTM_PORTABLE_H
#define NNC_ROUTINES_RECURRENT_LSTM_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/recurrent/dot_product.h"
#include "runtime/simd/math.h"

namespace nnc {

template <class S, class Epi> struct lstm_portable {
  NNC_FN static constexpr int units(const S &s) { return s.batch; }

  template <class T>
  NNC_FN static void run(const S &s, const T *x, const T *w, const T *r,
                         const T *bias, const T *h0, const T *c0, T *y,
                         const Epi &, int begin, int end) {
    for (int b = begin; b < end; ++b) {
      const T *h = h0 + ptrdiff_t(b) * s.units;
      const T *old = c0 + ptrdiff_t(b) * s.units;
      T *c = y + (ptrdiff_t(s.steps) * s.batch + b) * s.units;
      for (int u = 0; u < s.units; ++u)
        c[u] = old[u];
      for (int t = 0; t < s.steps; ++t) {
        const ptrdiff_t row = s.time_major ? ptrdiff_t(t) * s.batch + b
                                           : ptrdiff_t(b) * s.steps + t;
        T *next = y + row * s.units;
        for (int u = 0; u < s.units; ++u)
          next[u] = step(s, x + row * s.input, w, r, bias, h, u, c[u]);
        h = next;
      }
    }
  }

private:
  /// Advances cell u by one vector x and returns its output.
  template <class T>
  NNC_FN static T step(const S &s, const T *x, const T *w, const T *r,
                       const T *bias, const T *h, int u, T &c) {
    T gates[4] = {};
    for (int gate = 0; gate < 4; ++gate) {
      const ptrdiff_t at = ptrdiff_t(gate) * s.units + u;
      gates[gate] = bias[at] + dot_product(x, w + at * s.input, s.input) +
                    dot_product(h, r + at * s.units, s.units);
    }
    c = sigmoid(gates[1]) * c + sigmoid(gates[0]) * tanh(gates[2]);
    const T clip = static_cast<T>(s.clip);
    if (clip > 0)
      c = c > clip ? clip : c < -clip ? -clip : c;
    return sigmoid(gates[3]) * tanh(c);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_RECURRENT_LSTM_PORTABLE_H
