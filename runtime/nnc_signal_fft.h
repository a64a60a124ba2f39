/*===- nnc_signal_fft.h - Fourier transforms of real samples --------------===
 *
 * SignalRfft and SignalIrfft for one type of samples: see nnc_signal.h. The
 * headers nnc_signal_fft_*.h define the type and its arithmetic, and include
 * this one, which may be included several times.
 *
 * Pairs of real samples are taken as complex numbers z, half as many. Their
 * transform is computed in stages of radix 4 and 2 and, in the functions with
 * `mixed`, of 3 and 5, too. The transform of the samples is then separated from
 * it. For integers, each stage divides by its radix. All products and sums are
 * those of kissfft 1.30, which TFLite Micro uses, so that integer results are
 * equal.
 *
 * The options are the number of samples, and the radices from the last stage to
 * the first. The second operand is a table of complex numbers on the unit
 * circle (twiddle factors): those for the transform of z, in order, then those
 * for the separation.
 *
 *===----------------------------------------------------------------------===*/
#include "nnc_signal.h"

#include <stdint.h>

#ifdef NNC_FFT_SAMPLE

#ifndef NNC_FFT_STAGES
/** An upper bound of the number of stages of transforms that fit into memory.
 */
#define NNC_FFT_STAGES 20
#endif

/* The names that this header defines end in the type of the samples. */
#define nnc_fft NNC_FFT_NAME(nnc_fft)
#define nnc_fft_add NNC_FFT_NAME(nnc_fft_add)
#define nnc_fft_backward NNC_FFT_NAME(nnc_fft_backward)
#define nnc_fft_complex NNC_FFT_NAME(nnc_fft_complex)
#define nnc_fft_divide NNC_FFT_NAME(nnc_fft_divide)
#define nnc_fft_even_stage NNC_FFT_NAME(nnc_fft_even_stage)
#define nnc_fft_fifth_stage NNC_FFT_NAME(nnc_fft_fifth_stage)
#define nnc_fft_forward NNC_FFT_NAME(nnc_fft_forward)
#define nnc_fft_load NNC_FFT_NAME(nnc_fft_load)
#define nnc_fft_mixed_stage NNC_FFT_NAME(nnc_fft_mixed_stage)
#define nnc_fft_mul NNC_FFT_NAME(nnc_fft_mul)
#define nnc_fft_open NNC_FFT_NAME(nnc_fft_open)
#define nnc_fft_part NNC_FFT_NAME(nnc_fft_part)
#define nnc_fft_stage NNC_FFT_NAME(nnc_fft_stage)
#define nnc_fft_store NNC_FFT_NAME(nnc_fft_store)
#define nnc_fft_sub NNC_FFT_NAME(nnc_fft_sub)
#define nnc_fft_third_stage NNC_FFT_NAME(nnc_fft_third_stage)
#define nnc_fft_times NNC_FFT_NAME(nnc_fft_times)
#define nnc_fft_transform NNC_FFT_NAME(nnc_fft_transform)
#define nnc_fft_turn NNC_FFT_NAME(nnc_fft_turn)
#define nnc_signal_irfft NNC_FFT_NAME(nnc_signal_irfft)
#define nnc_signal_irfft_mixed NNC_FFT_NAME(nnc_signal_irfft_mixed)
#define nnc_signal_rfft NNC_FFT_NAME(nnc_signal_rfft)
#define nnc_signal_rfft_mixed NNC_FFT_NAME(nnc_signal_rfft_mixed)

/** A complex number. */
struct nnc_fft_complex {
  NNC_FFT_SAMPLE re, im;
};

/** The parameters of a complex transform. */
struct nnc_fft {
  int32_t n;                    /**< number of complex numbers */
  const int64_t *radices;       /**< from the last stage to the first */
  int stages;                   /**< number of radices */
  const NNC_FFT_SAMPLE *circle; /**< table of complex numbers, see above */
  int is_inverse;
};

/** A function that computes a stage in place: in each run of radix * m complex
 * numbers of x, it joins `radix` transforms of m numbers to one. */
typedef void nnc_fft_stage(const struct nnc_fft *fft, NNC_FFT_SAMPLE *x,
                           int32_t radix, int32_t m);

NNC_SIGNAL_FUNCTION struct nnc_fft_complex nnc_fft_load(const NNC_FFT_SAMPLE *x,
                                                        int32_t i) {
  struct nnc_fft_complex a;
  a.re = x[2 * i];
  a.im = x[2 * i + 1];
  return a;
}

NNC_SIGNAL_FUNCTION void nnc_fft_store(NNC_FFT_SAMPLE *x, int32_t i,
                                       struct nnc_fft_complex a) {
  x[2 * i] = a.re;
  x[2 * i + 1] = a.im;
}

NNC_SIGNAL_FUNCTION struct nnc_fft_complex
nnc_fft_add(struct nnc_fft_complex a, struct nnc_fft_complex b) {
  a.re = NNC_FFT_ADD(a.re, b.re);
  a.im = NNC_FFT_ADD(a.im, b.im);
  return a;
}

NNC_SIGNAL_FUNCTION struct nnc_fft_complex
nnc_fft_sub(struct nnc_fft_complex a, struct nnc_fft_complex b) {
  a.re = NNC_FFT_SUB(a.re, b.re);
  a.im = NNC_FFT_SUB(a.im, b.im);
  return a;
}

/** Returns a times i. */
NNC_SIGNAL_FUNCTION struct nnc_fft_complex
nnc_fft_turn(struct nnc_fft_complex a) {
  struct nnc_fft_complex b;
  b.re = NNC_FFT_NEGATE(a.im);
  b.im = a.re;
  return b;
}

NNC_SIGNAL_FUNCTION struct nnc_fft_complex
nnc_fft_mul(struct nnc_fft_complex a, struct nnc_fft_complex b) {
  struct nnc_fft_complex c;
  c.re = NNC_FFT_ROUND((NNC_FFT_WIDE)a.re * b.re - (NNC_FFT_WIDE)a.im * b.im);
  c.im = NNC_FFT_ROUND((NNC_FFT_WIDE)a.re * b.im + (NNC_FFT_WIDE)a.im * b.re);
  return c;
}

/** Returns a times a real number. */
NNC_SIGNAL_FUNCTION struct nnc_fft_complex
nnc_fft_times(struct nnc_fft_complex a, NNC_FFT_SAMPLE factor) {
  a.re = NNC_FFT_ROUND((NNC_FFT_WIDE)a.re * factor);
  a.im = NNC_FFT_ROUND((NNC_FFT_WIDE)a.im * factor);
  return a;
}

/** Returns a over `radix` for integers, a for floats. */
NNC_SIGNAL_FUNCTION struct nnc_fft_complex
nnc_fft_divide(struct nnc_fft_complex a, int32_t radix) {
  (void)radix; /* floats are not divided */
  a.re = NNC_FFT_DIVIDE(a.re, radix);
  a.im = NNC_FFT_DIVIDE(a.im, radix);
  return a;
}

/** Returns complex number `i` of x, divided by the radix and multiplied by
 * number `angle` of the unit circle's table. */
NNC_SIGNAL_FUNCTION struct nnc_fft_complex
nnc_fft_part(const struct nnc_fft *fft, const NNC_FFT_SAMPLE *x, int32_t radix,
             int32_t i, int32_t angle) {
  return nnc_fft_mul(nnc_fft_divide(nnc_fft_load(x, i), radix),
                     nnc_fft_load(fft->circle, angle));
}

/** A stage of radix 2 or 4. */
NNC_SIGNAL_FUNCTION void nnc_fft_even_stage(const struct nnc_fft *fft,
                                            NNC_FFT_SAMPLE *x, int32_t radix,
                                            int32_t m) {
  int32_t stride = fft->n / (radix * m), first, k;
  for (first = 0; first < fft->n; first += radix * m)
    for (k = 0; k < m; ++k) {
      NNC_FFT_SAMPLE *at = x + 2 * (first + k);
      struct nnc_fft_complex a, b, c, d, even, odd, turned;
      a = nnc_fft_divide(nnc_fft_load(at, 0), radix);
      b = nnc_fft_part(fft, at, radix, m, k * stride);
      if (radix == 2) {
        nnc_fft_store(at, m, nnc_fft_sub(a, b));
        nnc_fft_store(at, 0, nnc_fft_add(a, b));
        continue;
      }
      c = nnc_fft_part(fft, at, radix, 2 * m, 2 * k * stride);
      d = nnc_fft_part(fft, at, radix, 3 * m, 3 * k * stride);
      even = nnc_fft_add(a, c);
      odd = nnc_fft_add(b, d);
      nnc_fft_store(at, 2 * m, nnc_fft_sub(even, odd));
      nnc_fft_store(at, 0, nnc_fft_add(even, odd));
      even = nnc_fft_sub(a, c);
      turned = nnc_fft_turn(nnc_fft_sub(b, d));
      odd = nnc_fft_add(even, turned);
      even = nnc_fft_sub(even, turned);
      nnc_fft_store(at, fft->is_inverse ? m : 3 * m, odd);
      nnc_fft_store(at, fft->is_inverse ? 3 * m : m, even);
    }
}

/** A stage of radix 3. */
NNC_SIGNAL_FUNCTION void nnc_fft_third_stage(const struct nnc_fft *fft,
                                             NNC_FFT_SAMPLE *x, int32_t m) {
  int32_t stride = fft->n / (3 * m), first, k;
  NNC_FFT_SAMPLE sine = nnc_fft_load(fft->circle, stride * m).im;
  for (first = 0; first < fft->n; first += 3 * m)
    for (k = 0; k < m; ++k) {
      NNC_FFT_SAMPLE *at = x + 2 * (first + k);
      struct nnc_fft_complex a, b, c, sum, middle, turned;
      a = nnc_fft_divide(nnc_fft_load(at, 0), 3);
      b = nnc_fft_part(fft, at, 3, m, k * stride);
      c = nnc_fft_part(fft, at, 3, 2 * m, 2 * k * stride);
      sum = nnc_fft_add(b, c);
      middle.re = NNC_FFT_SUB(a.re, NNC_FFT_HALF(sum.re));
      middle.im = NNC_FFT_SUB(a.im, NNC_FFT_HALF(sum.im));
      turned = nnc_fft_turn(nnc_fft_times(nnc_fft_sub(b, c), sine));
      nnc_fft_store(at, 0, nnc_fft_add(a, sum));
      nnc_fft_store(at, 2 * m, nnc_fft_sub(middle, turned));
      nnc_fft_store(at, m, nnc_fft_add(middle, turned));
    }
}

/** A stage of radix 5. */
NNC_SIGNAL_FUNCTION void nnc_fft_fifth_stage(const struct nnc_fft *fft,
                                             NNC_FFT_SAMPLE *x, int32_t m) {
  int32_t stride = fft->n / (5 * m), first, k;
  struct nnc_fft_complex one = nnc_fft_load(fft->circle, stride * m);
  struct nnc_fft_complex two = nnc_fft_load(fft->circle, 2 * stride * m);
  for (first = 0; first < fft->n; first += 5 * m)
    for (k = 0; k < m; ++k) {
      NNC_FFT_SAMPLE *at = x + 2 * (first + k);
      struct nnc_fft_complex a, parts[4], outer, inner, sum, difference, even,
          odd;
      int32_t i;
      a = nnc_fft_divide(nnc_fft_load(at, 0), 5);
      for (i = 0; i < 4; ++i)
        parts[i] = nnc_fft_part(fft, at, 5, (i + 1) * m, (i + 1) * k * stride);
      outer = nnc_fft_add(parts[0], parts[3]);
      inner = nnc_fft_add(parts[1], parts[2]);
      sum = nnc_fft_sub(parts[0], parts[3]);
      difference = nnc_fft_sub(parts[1], parts[2]);
      nnc_fft_store(at, 0, nnc_fft_add(a, nnc_fft_add(outer, inner)));
      even = nnc_fft_add(nnc_fft_add(a, nnc_fft_times(outer, one.re)),
                         nnc_fft_times(inner, two.re));
      odd = nnc_fft_turn(nnc_fft_add(nnc_fft_times(sum, one.im),
                                     nnc_fft_times(difference, two.im)));
      nnc_fft_store(at, m, nnc_fft_add(even, odd));
      nnc_fft_store(at, 4 * m, nnc_fft_sub(even, odd));
      even = nnc_fft_add(nnc_fft_add(a, nnc_fft_times(outer, two.re)),
                         nnc_fft_times(inner, one.re));
      odd = nnc_fft_turn(nnc_fft_sub(nnc_fft_times(sum, two.im),
                                     nnc_fft_times(difference, one.im)));
      nnc_fft_store(at, 2 * m, nnc_fft_add(even, odd));
      nnc_fft_store(at, 3 * m, nnc_fft_sub(even, odd));
    }
}

/** A stage of any radix from 2 to 5. */
NNC_SIGNAL_FUNCTION void nnc_fft_mixed_stage(const struct nnc_fft *fft,
                                             NNC_FFT_SAMPLE *x, int32_t radix,
                                             int32_t m) {
  if (radix == 3)
    nnc_fft_third_stage(fft, x, m);
  else if (radix == 5)
    nnc_fft_fifth_stage(fft, x, m);
  else
    nnc_fft_even_stage(fft, x, radix, m);
}

/** Transforms z into x, which is other memory. The first `given` real and
 * imaginary parts of z are in memory, and the others are 0. */
NNC_SIGNAL_FUNCTION void nnc_fft_transform(const struct nnc_fft *fft,
                                           nnc_fft_stage *stage,
                                           const NNC_FFT_SAMPLE *z,
                                           int32_t given, NNC_FFT_SAMPLE *x) {
  int32_t digits[NNC_FFT_STAGES] = {0}, i, m = 1, from = 0;
  int at;
  /* Reorders the numbers: the digits of an index, in the mixed radix of the
   * stages, are reversed. */
  for (i = 0; i < fft->n; ++i) {
    int32_t step = fft->n;
    x[2 * i] = 2 * from < given ? z[2 * from] : 0;
    x[2 * i + 1] = 2 * from + 1 < given ? z[2 * from + 1] : 0;
    for (at = fft->stages - 1; at >= 0; --at) {
      int32_t radix = (int32_t)fft->radices[at];
      step /= radix;
      from += step;
      if (++digits[at] < radix)
        break;
      from -= step * radix;
      digits[at] = 0;
    }
  }
  for (at = fft->stages - 1; at >= 0; --at) {
    int32_t radix = (int32_t)fft->radices[at];
    stage(fft, x, radix, m);
    m *= radix;
  }
}

/** Returns the parameters of an operator's transform. */
NNC_SIGNAL_FUNCTION struct nnc_fft nnc_fft_open(const struct nnc_operator *op,
                                                const void *circle,
                                                int is_inverse) {
  struct nnc_fft fft;
  fft.n = nnc_signal_option(op, 0) / 2;
  fft.radices = op->attributes[0].ints + 1;
  fft.stages = op->attributes[0].count - 1;
  fft.circle = (const NNC_FFT_SAMPLE *)circle;
  fft.is_inverse = is_inverse;
  return fft;
}

/** Transforms samples x[rows][length or less] into y[rows][length / 2 + 1][2].
 */
NNC_SIGNAL_FUNCTION void nnc_fft_forward(const struct nnc_operator *op,
                                         const void *const *inputs,
                                         void *const *outputs,
                                         nnc_fft_stage *stage) {
  struct nnc_fft fft = nnc_fft_open(op, inputs[1], 0);
  int32_t given = nnc_signal_inner(&op->inputs[0]), n = fft.n, k;
  int32_t rows = op->inputs[0].elements / given;
  const NNC_FFT_SAMPLE *x = (const NNC_FFT_SAMPLE *)inputs[0];
  NNC_FFT_SAMPLE *y = (NNC_FFT_SAMPLE *)outputs[0];
  for (; rows > 0; --rows, x += given, y += 2 * (n + 1)) {
    struct nnc_fft_complex a, b;
    nnc_fft_transform(&fft, stage, x, given, y);
    a = nnc_fft_divide(nnc_fft_load(y, 0), 2);
    y[0] = NNC_FFT_ADD(a.re, a.im);
    y[2 * n] = NNC_FFT_SUB(a.re, a.im);
    y[1] = y[2 * n + 1] = 0;
    for (k = 1; k <= n / 2; ++k) {
      struct nnc_fft_complex even, odd;
      a = nnc_fft_divide(nnc_fft_load(y, k), 2);
      b = nnc_fft_load(y, n - k);
      b.im = NNC_FFT_NEGATE(b.im);
      b = nnc_fft_divide(b, 2);
      even = nnc_fft_add(a, b);
      odd = nnc_fft_mul(nnc_fft_sub(a, b), nnc_fft_load(fft.circle, n + k - 1));
      y[2 * k] = NNC_FFT_HALF_ADD(even.re, odd.re);
      y[2 * k + 1] = NNC_FFT_HALF_ADD(even.im, odd.im);
      y[2 * (n - k)] = NNC_FFT_HALF_SUB(even.re, odd.re);
      y[2 * (n - k) + 1] = NNC_FFT_HALF_SUB(odd.im, even.im);
    }
  }
}

/** Transforms spectra x[rows][length / 2 + 1][2] into samples y[rows][length].
 */
NNC_SIGNAL_FUNCTION void nnc_fft_backward(const struct nnc_operator *op,
                                          const void *const *inputs,
                                          void *const *outputs,
                                          NNC_FFT_SAMPLE *z,
                                          nnc_fft_stage *stage) {
  struct nnc_fft fft = nnc_fft_open(op, inputs[1], 1);
  int32_t n = fft.n, rows = op->inputs[0].elements / (2 * (n + 1)), k;
  const NNC_FFT_SAMPLE *x = (const NNC_FFT_SAMPLE *)inputs[0];
  NNC_FFT_SAMPLE *y = (NNC_FFT_SAMPLE *)outputs[0];
  for (; rows > 0; --rows, x += 2 * (n + 1), y += 2 * n) {
    struct nnc_fft_complex a, b;
    a.re = NNC_FFT_ADD(x[0], x[2 * n]);
    a.im = NNC_FFT_SUB(x[0], x[2 * n]);
    nnc_fft_store(z, 0, nnc_fft_divide(a, 2));
    for (k = 1; k <= n / 2; ++k) {
      struct nnc_fft_complex even, odd;
      a = nnc_fft_divide(nnc_fft_load(x, k), 2);
      b = nnc_fft_load(x, n - k);
      b.im = NNC_FFT_NEGATE(b.im);
      b = nnc_fft_divide(b, 2);
      even = nnc_fft_add(a, b);
      odd = nnc_fft_mul(nnc_fft_sub(a, b), nnc_fft_load(fft.circle, n + k - 1));
      nnc_fft_store(z, k, nnc_fft_add(even, odd));
      a = nnc_fft_sub(even, odd);
      a.im = NNC_FFT_NEGATE(a.im);
      nnc_fft_store(z, n - k, a);
    }
    nnc_fft_transform(&fft, stage, z, 2 * n, y);
    for (k = 0; k < 2 * n; ++k)
      y[k] = NNC_FFT_OVER(y[k], 2 * n);
  }
}

/** SignalRfft with a length that is a power of two. Operands: samples
 * x[rows][length or less] and the table. Result: y[rows][length / 2 + 1][2]. */
NNC_SIGNAL_FUNCTION void nnc_signal_rfft(const struct nnc_operator *op,
                                         const void *const *inputs,
                                         void *const *outputs, void *scratch) {
  (void)scratch;
  nnc_fft_forward(op, inputs, outputs, nnc_fft_even_stage);
}

/** SignalRfft with a length that has the factors 2, 3 and 5. */
NNC_SIGNAL_FUNCTION void nnc_signal_rfft_mixed(const struct nnc_operator *op,
                                               const void *const *inputs,
                                               void *const *outputs,
                                               void *scratch) {
  (void)scratch;
  nnc_fft_forward(op, inputs, outputs, nnc_fft_mixed_stage);
}

/** SignalIrfft with a length that is a power of two. Operands: spectra
 * x[rows][length / 2 + 1][2] and the table. Result: samples y[rows][length].
 * Scratch holds `length` samples. */
NNC_SIGNAL_FUNCTION void nnc_signal_irfft(const struct nnc_operator *op,
                                          const void *const *inputs,
                                          void *const *outputs, void *scratch) {
  nnc_fft_backward(op, inputs, outputs, (NNC_FFT_SAMPLE *)scratch,
                   nnc_fft_even_stage);
}

/** SignalIrfft with a length that has the factors 2, 3 and 5. */
NNC_SIGNAL_FUNCTION void nnc_signal_irfft_mixed(const struct nnc_operator *op,
                                                const void *const *inputs,
                                                void *const *outputs,
                                                void *scratch) {
  nnc_fft_backward(op, inputs, outputs, (NNC_FFT_SAMPLE *)scratch,
                   nnc_fft_mixed_stage);
}

#undef nnc_fft
#undef nnc_fft_add
#undef nnc_fft_backward
#undef nnc_fft_complex
#undef nnc_fft_divide
#undef nnc_fft_even_stage
#undef nnc_fft_fifth_stage
#undef nnc_fft_forward
#undef nnc_fft_load
#undef nnc_fft_mixed_stage
#undef nnc_fft_mul
#undef nnc_fft_open
#undef nnc_fft_part
#undef nnc_fft_stage
#undef nnc_fft_store
#undef nnc_fft_sub
#undef nnc_fft_third_stage
#undef nnc_fft_times
#undef nnc_fft_transform
#undef nnc_fft_turn
#undef nnc_signal_irfft
#undef nnc_signal_irfft_mixed
#undef nnc_signal_rfft
#undef nnc_signal_rfft_mixed
#undef NNC_FFT_NAME
#undef NNC_FFT_SAMPLE
#undef NNC_FFT_WIDE
#undef NNC_FFT_ROUND
#undef NNC_FFT_DIVIDE
#undef NNC_FFT_ADD
#undef NNC_FFT_SUB
#undef NNC_FFT_NEGATE
#undef NNC_FFT_HALF
#undef NNC_FFT_HALF_ADD
#undef NNC_FFT_HALF_SUB
#undef NNC_FFT_OVER

#endif /* NNC_FFT_SAMPLE */
