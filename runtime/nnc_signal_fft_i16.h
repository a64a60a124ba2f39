/*===- nnc_signal_fft_i16.h - Fourier transforms of int16_t ---------------===
 *
 * SignalRfft and SignalIrfft of int16_t: see nnc_signal_fft.h.
 *
 *===----------------------------------------------------------------------===*/
#ifndef NNC_SIGNAL_FFT_I16_H
#define NNC_SIGNAL_FFT_I16_H

#include <stdint.h>

#define NNC_FFT_NAME(name) name##_i16
#define NNC_FFT_SAMPLE int16_t
#define NNC_FFT_WIDE int32_t
#define NNC_FFT_ROUND(x) ((int16_t)(((x) + (1 << 14)) >> 15))
#define NNC_FFT_DIVIDE(x, by) NNC_FFT_ROUND((x) * (32767 / (by)))
#define NNC_FFT_ADD(a, b) ((int16_t)((a) + (b)))
#define NNC_FFT_SUB(a, b) ((int16_t)((a) - (b)))
#define NNC_FFT_NEGATE(x) ((int16_t)-(x))
#define NNC_FFT_HALF(x) ((x) >> 1)
/* These sums have 17 bits, and are halved before they are cut to 16. */
#define NNC_FFT_HALF_ADD(a, b) ((int16_t)(((a) + (b)) >> 1))
#define NNC_FFT_HALF_SUB(a, b) ((int16_t)(((a) - (b)) >> 1))
#define NNC_FFT_OVER(x, by) (x)
#include "nnc_signal_fft.h"

#endif /* NNC_SIGNAL_FFT_I16_H */
