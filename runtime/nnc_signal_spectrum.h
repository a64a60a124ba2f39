/*===- nnc_signal_spectrum.h - Features of a spectrum ---------------------===
 *
 * The signal operators around a Fourier transform, in fixed point: see
 * nnc_signal.h.
 *
 *===----------------------------------------------------------------------===*/
#ifndef NNC_SIGNAL_SPECTRUM_H
#define NNC_SIGNAL_SPECTRUM_H

#include "nnc_signal.h"

#include <stdint.h>

/** SignalWindow: multiplies each row of samples by the weights of a window and
 * saturates the products to 16 bits. Option: the number of fraction bits of the
 * weights. Operands: x[rows][n] and the weights w[n]. Result: y[rows][n]. All
 * are int16_t. */
NNC_SIGNAL_FUNCTION void nnc_signal_window(const struct nnc_operator *op,
                                           const void *const *inputs,
                                           void *const *outputs,
                                           void *scratch) {
  int32_t shift = nnc_signal_option(op, 0), n = op->inputs[1].elements, i, j;
  const int16_t *x = (const int16_t *)inputs[0];
  const int16_t *w = (const int16_t *)inputs[1];
  int16_t *y = (int16_t *)outputs[0];
  (void)scratch;
  for (i = 0; i < op->inputs[0].elements; i += n)
    for (j = 0; j < n; ++j) {
      int32_t product = ((int32_t)x[i + j] * w[j]) >> shift;
      y[i + j] = (int16_t)(product < -32768  ? -32768
                           : product > 32767 ? 32767
                                             : product);
    }
}

/** SignalFftAutoScale: multiplies samples by the largest power of two that
 * keeps them in 16 bits. Operand: x[n]. Results: y[n] and the exponent of the
 * power, an int32_t. As in TFLite Micro, magnitudes are int16_t, so that the
 * magnitude of -32768 is -32768. */
NNC_SIGNAL_FUNCTION void nnc_signal_auto_scale(const struct nnc_operator *op,
                                               const void *const *inputs,
                                               void *const *outputs,
                                               void *scratch) {
  int32_t n = op->inputs[0].elements, i, shift;
  const int16_t *x = (const int16_t *)inputs[0];
  int16_t *y = (int16_t *)outputs[0], most = 0;
  (void)scratch;
  for (i = 0; i < n; ++i)
    if (x[i] > most)
      most = x[i];
    else if (-x[i] > most)
      most = (int16_t)-x[i];
  shift = 15 - nnc_signal_bits((uint32_t)(int32_t)most);
  if (shift < 0)
    shift = 0;
  for (i = 0; i < n; ++i)
    y[i] = (int16_t)((int32_t)x[i] * ((int32_t)1 << shift));
  *(int32_t *)outputs[1] = shift;
}

/** SignalEnergy: squares the magnitudes of complex numbers. Options: the index
 * of the first number, and the index behind the last. Operand: x[n][2], real
 * and imaginary parts. Result: y[n], which is 0 outside of that range. */
NNC_SIGNAL_FUNCTION void nnc_signal_energy(const struct nnc_operator *op,
                                           const void *const *inputs,
                                           void *const *outputs,
                                           void *scratch) {
  int32_t start = nnc_signal_option(op, 0), end = nnc_signal_option(op, 1), i;
  const int16_t *x = (const int16_t *)inputs[0];
  uint32_t *y = (uint32_t *)outputs[0];
  (void)scratch;
  for (i = 0; i < op->outputs[0].elements; ++i) {
    int32_t re = 0, im = 0;
    if (i >= start && i < end) {
      re = x[2 * i];
      im = x[2 * i + 1];
    }
    y[i] = (uint32_t)(re * re) + (uint32_t)(im * im);
  }
}

/** SignalFilterBank: sums up energies in channels with triangular, overlapping
 * weights. The energies are divided into channels + 1 ranges. Those of range i
 * count for channel i - 1 with their weights, and for channel i with the
 * complements of these. Result: y[channels]. Operands: the energies, the
 * weights, the complements, and for each range the index of its first energy,
 * the index of its first weight, and its number of energies. */
NNC_SIGNAL_FUNCTION void nnc_signal_filter_bank(const struct nnc_operator *op,
                                                const void *const *inputs,
                                                void *const *outputs,
                                                void *scratch) {
  const uint32_t *x = (const uint32_t *)inputs[0];
  const int16_t *up = (const int16_t *)inputs[1];
  const int16_t *down = (const int16_t *)inputs[2];
  const int16_t *energies = (const int16_t *)inputs[3];
  const int16_t *weights = (const int16_t *)inputs[4];
  const int16_t *widths = (const int16_t *)inputs[5];
  uint64_t *y = (uint64_t *)outputs[0], falling = 0;
  int32_t i, j;
  (void)scratch;
  for (i = 0; i <= op->outputs[0].elements; ++i) {
    /* The sum of channel i - 1, and the part of range i in that of channel i.
     */
    uint64_t rising = falling;
    falling = 0;
    for (j = 0; j < widths[i]; ++j) {
      uint64_t energy = x[energies[i] + j];
      rising += (uint64_t)(int64_t)up[weights[i] + j] * energy;
      falling += (uint64_t)(int64_t)down[weights[i] + j] * energy;
    }
    if (i > 0)
      y[i - 1] = rising;
  }
}

/** Returns the nearest integer to the square root of x, but at most 65535. */
NNC_SIGNAL_FUNCTION uint32_t nnc_signal_root_32(uint32_t x) {
  uint32_t root = 0, bit = (uint32_t)1 << 30;
  while (bit > x)
    bit >>= 2;
  for (; bit; bit >>= 2) {
    if (x >= root + bit) {
      x -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  return root + (x > root && root != 0xffff);
}

/** Returns the nearest integer to the square root of x, which is at least 2^32,
 * but at most 2^32 - 1. */
NNC_SIGNAL_FUNCTION uint32_t nnc_signal_root_64(uint64_t x) {
  uint64_t root = 0, bit = (uint64_t)1 << 62;
  while (bit > x)
    bit >>= 2;
  for (; bit; bit >>= 2) {
    if (x >= root + bit) {
      x -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  return (uint32_t)(root + (x > root && root != 0xffffffff));
}

/** SignalFilterBankSquareRoot: square roots of energies, shifted to the right.
 * Operands: x[n], and the number of bits of the shift. Result: y[n]. */
NNC_SIGNAL_FUNCTION void nnc_signal_square_root(const struct nnc_operator *op,
                                                const void *const *inputs,
                                                void *const *outputs,
                                                void *scratch) {
  const uint64_t *x = (const uint64_t *)inputs[0];
  int32_t shift = *(const int32_t *)inputs[1] & 31, i;
  uint32_t *y = (uint32_t *)outputs[0];
  (void)scratch;
  for (i = 0; i < op->outputs[0].elements; ++i)
    y[i] = (x[i] >> 32 ? nnc_signal_root_64(x[i])
                       : nnc_signal_root_32((uint32_t)x[i])) >>
           shift;
}

/** Indices of the options of SignalFilterBankSpectralSubtraction. Weights and
 * the floor are fixed-point numbers with NNC_SIGNAL_BITS fraction bits. */
enum nnc_signal_subtraction {
  NNC_SIGNAL_SMOOTHING,      /**< weight of the new signal, even channels */
  NNC_SIGNAL_KEEPING,        /**< weight of the old estimate, even channels */
  NNC_SIGNAL_SMOOTHING_ODD,  /**< weight of the new signal, odd channels */
  NNC_SIGNAL_KEEPING_ODD,    /**< weight of the old estimate, odd channels */
  NNC_SIGNAL_FLOOR,          /**< smallest part of a signal that remains */
  NNC_SIGNAL_SMOOTHING_BITS, /**< additional fraction bits of estimates */
  NNC_SIGNAL_BITS,           /**< fraction bits of the weights and the floor */
  NNC_SIGNAL_CLAMPING        /**< 1 to limit estimates to the signal */
};

/** SignalFilterBankSpectralSubtraction: estimates the noise of each channel as
 * a running mean, and subtracts it. Operands: x[n], and the estimates [n] of
 * the previous run. Results: what remains of x, y[n]; the new estimates [n];
 * and the same estimates as state for the next run. */
NNC_SIGNAL_FUNCTION void
nnc_signal_spectral_subtraction(const struct nnc_operator *op,
                                const void *const *inputs, void *const *outputs,
                                void *scratch) {
  const uint32_t *x = (const uint32_t *)inputs[0];
  const uint32_t *before = (const uint32_t *)inputs[1];
  uint32_t *y = (uint32_t *)outputs[0], *noise = (uint32_t *)outputs[1];
  uint32_t *next = (uint32_t *)outputs[2];
  uint32_t least = (uint32_t)nnc_signal_option(op, NNC_SIGNAL_FLOOR);
  int32_t more = nnc_signal_option(op, NNC_SIGNAL_SMOOTHING_BITS);
  int32_t bits = nnc_signal_option(op, NNC_SIGNAL_BITS), i;
  int is_clamping = nnc_signal_option(op, NNC_SIGNAL_CLAMPING) != 0;
  (void)scratch;
  for (i = 0; i < op->outputs[0].elements; ++i) {
    int which = i % 2 ? NNC_SIGNAL_SMOOTHING_ODD : NNC_SIGNAL_SMOOTHING;
    uint64_t smoothing = (uint32_t)nnc_signal_option(op, which);
    uint64_t keeping = (uint32_t)nnc_signal_option(op, which + 1);
    uint32_t signal = x[i] << more;
    uint32_t estimate =
        (uint32_t)((signal * smoothing + before[i] * keeping) >> bits);
    uint32_t removed = estimate < signal ? estimate : signal;
    uint32_t left = (signal - removed) >> more;
    uint32_t floor = (uint32_t)(((uint64_t)x[i] * least) >> bits);
    next[i] = noise[i] = is_clamping ? removed : estimate;
    y[i] = left > floor ? left : floor;
  }
}

/** Returns the gain for noise x from a table. An x of at most 2 has an entry of
 * its own. For each range of x from a power of two up to the next one, the
 * table has the three coefficients of a parabola. */
NNC_SIGNAL_FUNCTION int16_t nnc_signal_gain(const int16_t *table, uint32_t x) {
  int32_t bits, at, y;
  if (x <= 2)
    return table[x];
  bits = nnc_signal_bits(x);
  table += 4 * bits - 6;
  at = (int32_t)((bits < 11 ? x << (11 - bits) : x >> (bits - 11)) & 0x3ff);
  y = ((table[2] * at) >> 5) + table[1] * 32;
  return (int16_t)(((y * at + (1 << 14)) >> 15) + table[0]);
}

/** SignalPCAN: per-channel amplitude normalization, which multiplies each
 * channel by a gain that depends on its noise and compresses the product.
 * Option: the number of bits by which the product is shifted to the right to
 * have 12 fraction bits. Operands: x[n], noise[n] and the table of gains.
 * Result: y[n], with 6 fraction bits. */
NNC_SIGNAL_FUNCTION void nnc_signal_pcan(const struct nnc_operator *op,
                                         const void *const *inputs,
                                         void *const *outputs, void *scratch) {
  const uint32_t *x = (const uint32_t *)inputs[0];
  const uint32_t *noise = (const uint32_t *)inputs[1];
  const int16_t *table = (const int16_t *)inputs[2];
  uint32_t *y = (uint32_t *)outputs[0];
  int32_t shift = nnc_signal_option(op, 0), i;
  (void)scratch;
  for (i = 0; i < op->outputs[0].elements; ++i) {
    uint32_t gain = (uint32_t)(int32_t)nnc_signal_gain(table, noise[i]);
    uint32_t ratio = (uint32_t)(((uint64_t)x[i] * gain) >> shift);
    /* ratio^2 / 4 for a ratio below 2, and ratio - 1 otherwise, with 6 fraction
     * bits. */
    y[i] = ratio < 2 << 12 ? (ratio * ratio) >> 20 : (ratio >> 6) - (1 << 6);
  }
}

/** SignalFilterBankLog: natural logarithms times a factor, at most 32767.
 * Options: the number of bits by which x is shifted to the left first, and the
 * factor. Operands: x[n], and the table of log2(1 + i / 128) - i / 128, for i
 * from 0 to 128, with 16 fraction bits. Result: y[n], which is 0 for a shifted
 * x of at most 1. */
NNC_SIGNAL_FUNCTION void nnc_signal_log(const struct nnc_operator *op,
                                        const void *const *inputs,
                                        void *const *outputs, void *scratch) {
  const uint32_t *x = (const uint32_t *)inputs[0];
  const uint16_t *table = (const uint16_t *)inputs[1];
  int16_t *y = (int16_t *)outputs[0];
  int32_t correction = nnc_signal_option(op, 0), i;
  uint32_t scale = (uint32_t)nnc_signal_option(op, 1);
  (void)scratch;
  for (i = 0; i < op->outputs[0].elements; ++i) {
    uint32_t value = x[i] << correction, fraction, log;
    int32_t power, low, high, line;
    y[i] = 0;
    if (value <= 1)
      continue;
    power = nnc_signal_bits(value) - 1;
    fraction = value - ((uint32_t)1 << power);
    fraction = power < 16 ? fraction << (16 - power) : fraction >> (power - 16);
    low = table[fraction >> 9];
    high = table[(fraction >> 9) + 1];
    line = ((high - low) * (int32_t)(fraction & 511)) >> 16;
    log = ((uint32_t)power << 16) + (uint32_t)((int32_t)fraction + low + line);
    /* The natural logarithm: 45426 is ln 2 with 16 fraction bits. */
    log = (uint32_t)(((uint64_t)45426 * log + 32768) >> 16);
    log = (scale * log + 32768) >> 16;
    y[i] = (int16_t)(log < 32767 ? log : 32767);
  }
}

#endif /* NNC_SIGNAL_SPECTRUM_H */
