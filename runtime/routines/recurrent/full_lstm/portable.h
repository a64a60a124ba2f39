//===- portable.h - LSTM with all of its variants on any machine ----------===//
//
// For each vector x_t of a sequence, with gates i, f, g, o, whose weights
// follow each other in w[gates][units][input], r[gates][units][output] and
// bias[gates][units]; of coupled cells, only f, g, o:
//
//   s = w x_t + r h + p c     for each gate, g without p; o with the new c
//   s = n (s - mean) / sqrt(variance + 1e-8)     if normalized
//   i, f, o = sigmoid(s + bias),  g = tanh(s + bias);  i = 1 - f if coupled
//   c = clip(f c + i g),  h = o tanh(c)
//   h = output_clip(v h + b)                     if projected
//
// `extras` holds p[3][units] of i, f, o, then n[gates][units] if normalized,
// then v[output][units] and b[output] if projected. y holds h after each
// vector, in the order of x, and behind these c[batch] at the end. A unit is a
// sequence; a thread computes one after the other in scratch of 5 * units
// numbers.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_RECURRENT_FULL_LSTM_PORTABLE_H
#define NNC_ROUTINES_RECURRENT_FULL_LSTM_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/recurrent/dot_product.h"
#include "runtime/simd/math.h"

namespace nnc {

template <class S, class Epi> struct full_lstm_portable {
  NNC_FN static constexpr int units(const S &s) { return s.batch; }

  NNC_FN static void run(const S &s, const float *x, const float *w,
                         const float *r, const float *bias, const float *extras,
                         const float *h0, const float *c0, float *y,
                         unsigned char *scratch, const Epi &, int begin,
                         int end) {
    float *const gates = static_cast<float *>(static_cast<void *>(scratch));
    for (int b = begin; b < end; ++b) {
      const float *h = h0 + ptrdiff_t(b) * s.output;
      float *const c =
          y + ptrdiff_t(s.steps) * s.batch * s.output + ptrdiff_t(b) * s.units;
      for (int u = 0; u < s.units; ++u)
        c[u] = c0[ptrdiff_t(b) * s.units + u];
      for (int t = 0; t < s.steps; ++t) {
        const ptrdiff_t row = s.time_major != 0 ? ptrdiff_t(t) * s.batch + b
                                                : ptrdiff_t(b) * s.steps + t;
        float *const next = y + row * s.output;
        step(s, x + row * s.input, w, r, bias, extras, h, c, gates, next);
        h = next;
      }
    }
  }

private:
  /// Advances all cells by one vector.
  NNC_FN static void step(const S &s, const float *x, const float *w,
                          const float *r, const float *bias,
                          const float *extras, const float *h, float *c,
                          float *gates, float *y) {
    const int n = s.units, first = s.coupled != 0 ? 0 : 1;
    const float *const peepholes = extras, *const norm = extras + 3 * n;
    float *const i = gates, *const f = gates + n, *const g = gates + 2 * n,
                 *const o = gates + 3 * n, *const given = gates + 4 * n;
    // Computes a gate from its weights and its peephole.
    const auto fill = [&](float *to, int gate, const float *peephole) {
      const ptrdiff_t at = ptrdiff_t(gate) * n;
      for (int u = 0; u < n; ++u)
        to[u] = dot_product(x, w + (at + u) * s.input, s.input) +
                dot_product(h, r + (at + u) * s.output, s.output) +
                (peephole ? peephole[u] * c[u] : 0.0f);
      if (s.normalized != 0)
        normalize(to, norm + at, n);
      for (int u = 0; u < n; ++u)
        to[u] += bias[at + u];
    };
    if (first != 0)
      fill(i, 0, peepholes);
    fill(f, first, peepholes + n);
    fill(g, first + 1, nullptr);
    for (int u = 0; u < n; ++u) {
      const float keep = sigmoid(f[u]);
      const float take = first != 0 ? sigmoid(i[u]) : 1.0f - keep;
      c[u] = limit(keep * c[u] + take * tanh(g[u]), s.clip);
    }
    fill(o, first + 2, peepholes + 2 * n);
    for (int u = 0; u < n; ++u)
      given[u] = sigmoid(o[u]) * tanh(c[u]);
    if (s.projected == 0) {
      for (int u = 0; u < n; ++u)
        y[u] = given[u];
      return;
    }
    const float *const matrix =
        norm + (s.normalized != 0 ? (3 + first) * n : 0);
    const float *const offset = matrix + ptrdiff_t(s.output) * n;
    for (int k = 0; k < s.output; ++k)
      y[k] = limit(dot_product(given, matrix + ptrdiff_t(k) * n, n) + offset[k],
                   s.output_clip);
  }

  NNC_FN static void normalize(float *v, const float *factors, int count) {
    float sum = 0.0f;
    for (int i = 0; i < count; ++i)
      sum += v[i];
    const float mean = sum / static_cast<float>(count);
    float squares = 0.0f;
    for (int i = 0; i < count; ++i)
      squares += (v[i] - mean) * (v[i] - mean);
    const float scale = rsqrt(squares / static_cast<float>(count) + 1e-8f);
    for (int i = 0; i < count; ++i)
      v[i] = (v[i] - mean) * scale * factors[i];
  }

  NNC_FN static float limit(float v, float clip) {
    return clip > 0.0f ? (v > clip ? clip : v < -clip ? -clip : v) : v;
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_RECURRENT_FULL_LSTM_PORTABLE_H
