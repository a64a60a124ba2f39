/*===- nnc_signal_fft_i32.h - Fourier transforms of int32_t ---------------===
 *
 * SignalRfft and SignalIrfft of int32_t: see nnc_signal_fft.h.
 *
 *===----------------------------------------------------------------------===*/
#ifndef NNC_SIGNAL_FFT_I32_H
#define NNC_SIGNAL_FFT_I32_H

#include <stdint.h>

#define NNC_FFT_NAME(name) name##_i32
#define NNC_FFT_SAMPLE int32_t
#define NNC_FFT_WIDE int64_t
#define NNC_FFT_ROUND(x) ((int32_t)(((x) + ((int64_t)1 << 30)) >> 31))
#define NNC_FFT_DIVIDE(x, by) NNC_FFT_ROUND((int64_t)(x) * (INT32_MAX / (by)))
/* Sums wrap around. */
#define NNC_FFT_ADD(a, b) ((int32_t)((uint32_t)(a) + (uint32_t)(b)))
#define NNC_FFT_SUB(a, b) ((int32_t)((uint32_t)(a) - (uint32_t)(b)))
#define NNC_FFT_NEGATE(x) ((int32_t)(0u - (uint32_t)(x)))
#define NNC_FFT_HALF(x) ((x) >> 1)
#define NNC_FFT_HALF_ADD(a, b) (NNC_FFT_ADD(a, b) >> 1)
#define NNC_FFT_HALF_SUB(a, b) (NNC_FFT_SUB(a, b) >> 1)
#define NNC_FFT_OVER(x, by) (x)
#include "nnc_signal_fft.h"

#endif /* NNC_SIGNAL_FFT_I32_H */
