//===- portable.h - Discrete Fourier transforms on any machine ------------===//
//
// y[k] = sum over i of x[i] * roots[i * k % length], where roots[i] holds the
// cosine and the negated sine of 2 pi i / length; of the inverse, the conjugate
// root, and y is divided by length. dft/shape.h has the lines and parts.
// Elements behind the end of x are zeros.
//
// Stockham's algorithm: a stage for each factor of the length, an odd prime p,
// which takes length * p multiplications, 4 or 2; so lengths that are large
// primes are slow. scratch holds 4 * length numbers. The error is about
// log2(length) times half a unit in the last place of the largest element.
// A unit is one line.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_SIGNAL_DFT_PORTABLE_H
#define NNC_ROUTINES_SIGNAL_DFT_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"

namespace nnc {

template <class S, class Epi> struct dft_portable {
  NNC_FN static constexpr int units(const S &s) {
    return s.outer * s.lines * s.inner;
  }

  /// T is float or double.
  template <class T>
  NNC_FN static void run(const S &s, const T *x, const T *window,
                         const T *roots, T *y, unsigned char *scratch,
                         const Epi &, int begin, int end) {
    T *const first = static_cast<T *>(static_cast<void *>(scratch));
    T *const second = first + ptrdiff_t(2) * s.length;
    for (int unit = begin; unit < end; ++unit) {
      const int j = unit % s.inner, line = unit / s.inner % s.lines,
                o = unit / s.inner / s.lines;
      read(s, x, window, o, line * s.step, j, first);
      const T *const done = transform(s, roots, first, second);
      const T scale = s.inverse != 0 ? T(1) / static_cast<T>(s.length) : T(1);
      const ptrdiff_t at = (ptrdiff_t(o) * s.lines + line) * s.count;
      for (int k = 0; k < s.count; ++k)
        for (int part = 0; part < s.out_parts; ++part)
          y[((at + k) * s.inner + j) * s.out_parts + part] =
              done[2 * k + part] * scale;
    }
  }

private:
  /// Copies a line to complex numbers.
  template <class T>
  NNC_FN static void read(const S &s, const T *x, const T *window, int o,
                          int start, int j, T *to) {
    const int given = s.hermitian != 0 ? s.length / 2 + 1 : s.length;
    const int left = s.size - start;
    for (int i = 0; i < given; ++i) {
      T real = 0, imaginary = 0;
      if (i < left) {
        const T *const from =
            x +
            ((ptrdiff_t(o) * s.size + start + i) * s.inner + j) * s.in_parts;
        const T factor = s.windowed != 0 ? window[i] : T(1);
        real = from[0] * factor;
        imaginary = s.in_parts == 2 ? from[1] * factor : T(0);
      }
      to[2 * i] = real;
      to[2 * i + 1] = imaginary;
    }
    for (int i = given; i < s.length; ++i) {
      to[2 * i] = to[2 * (s.length - i)];
      to[2 * i + 1] = -to[2 * (s.length - i) + 1];
    }
  }

  /// Transforms `from`, with `to` as additional memory. Returns the one that
  /// holds the result.
  template <class T>
  NNC_FN static T *transform(const S &s, const T *roots, T *from, T *to) {
    int rest = s.length, done = 1;
    while (rest > 1) {
      const int factor = get_factor(rest);
      rest /= factor;
      if (factor == 4)
        join_four(s, roots, from, to, rest, done);
      else
        join(s, roots, from, to, factor, rest, done);
      done *= factor;
      T *const other = from;
      from = to;
      to = other;
    }
    return from;
  }
  /// Returns the factor of the next stage. Odd factors come first; then the
  /// element at half the length is exactly real for real input.
  NNC_FN static int get_factor(int size) {
    int odd = size;
    while (odd % 2 == 0)
      odd /= 2;
    if (odd == 1)
      return size % 4 == 0 ? 4 : 2;
    for (int factor = 3; factor <= odd / factor; factor += 2)
      if (odd % factor == 0)
        return factor;
    return odd;
  }

  /// Computes a stage: for each p < rest and q < done, transforms `factor`
  /// elements.
  template <class T>
  NNC_FN static void join(const S &s, const T *roots, const T *from, T *to,
                          int factor, int rest, int done) {
    const T sign = s.inverse != 0 ? T(-1) : T(1);
    const int apart = s.length / factor;
    for (int p = 0; p < rest; ++p)
      for (int k = 0; k < factor; ++k) {
        const T *const turn = root(s, roots, p, k, done);
        for (int q = 0; q < done; ++q) {
          const T *a = from + ptrdiff_t(2) * (q + ptrdiff_t(done) * p);
          T real = 0, imaginary = 0;
          int at = 0; // i * k % factor
          for (int i = 0; i < factor; ++i) {
            const T *const w = roots + ptrdiff_t(2) * at * apart;
            real += a[0] * w[0] - a[1] * w[1] * sign;
            imaginary += a[0] * w[1] * sign + a[1] * w[0];
            a += ptrdiff_t(2) * done * rest;
            at += k;
            at -= at >= factor ? factor : 0;
          }
          T *const b =
              to + ptrdiff_t(2) *
                       (q + ptrdiff_t(done) * (ptrdiff_t(factor) * p + k));
          b[0] = real * turn[0] - imaginary * turn[1] * sign;
          b[1] = real * turn[1] * sign + imaginary * turn[0];
        }
      }
  }

  /// Computes a stage with the factor 4, whose roots are 1, -i, -1 and i.
  template <class T>
  NNC_FN static void join_four(const S &s, const T *roots, const T *from, T *to,
                               int rest, int done) {
    const T sign = s.inverse != 0 ? T(-1) : T(1);
    const ptrdiff_t apart = ptrdiff_t(2) * done * rest,
                    next = ptrdiff_t(2) * done;
    for (int p = 0; p < rest; ++p) {
      const T *const one = root(s, roots, p, 1, done),
                     *const two = root(s, roots, p, 2, done),
                     *const three = root(s, roots, p, 3, done);
      for (int q = 0; q < done; ++q) {
        const T *const a = from + ptrdiff_t(2) * (q + ptrdiff_t(done) * p),
                       *const b = a + apart, *const c = b + apart,
                       *const d = c + apart;
        T *const y = to + ptrdiff_t(2) * (q + ptrdiff_t(done) * 4 * p);
        const T sum_r = a[0] + c[0], sum_i = a[1] + c[1], off_r = a[0] - c[0],
                off_i = a[1] - c[1], more_r = b[0] + d[0], more_i = b[1] + d[1],
                turned_r = (b[1] - d[1]) * sign,
                turned_i = (d[0] - b[0]) * sign;
        y[0] = sum_r + more_r;
        y[1] = sum_i + more_i;
        put(y + next, off_r + turned_r, off_i + turned_i, one, sign);
        put(y + 2 * next, sum_r - more_r, sum_i - more_i, two, sign);
        put(y + 3 * next, off_r - turned_r, off_i - turned_i, three, sign);
      }
    }
  }
  template <class T>
  NNC_FN static void put(T *to, T real, T imaginary, const T *turn, T sign) {
    to[0] = real * turn[0] - imaginary * turn[1] * sign;
    to[1] = real * turn[1] * sign + imaginary * turn[0];
  }
  /// The root of p * k * done, which is less than the length.
  template <class T>
  NNC_FN static const T *root(const S &, const T *roots, int p, int k,
                              int done) {
    return roots + ptrdiff_t(2) * p * k * done;
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_SIGNAL_DFT_PORTABLE_H
