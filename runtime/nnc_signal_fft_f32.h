/*===- nnc_signal_fft_f32.h - Fourier transforms of float -----------------===
 *
 * SignalRfft and SignalIrfft of float: see nnc_signal_fft.h.
 *
 *===----------------------------------------------------------------------===*/
#ifndef NNC_SIGNAL_FFT_F32_H
#define NNC_SIGNAL_FFT_F32_H

#define NNC_FFT_NAME(name) name##_f32
#define NNC_FFT_SAMPLE float
#define NNC_FFT_WIDE float
#define NNC_FFT_ROUND(x) (x)
#define NNC_FFT_DIVIDE(x, by) (x)
#define NNC_FFT_ADD(a, b) ((a) + (b))
#define NNC_FFT_SUB(a, b) ((a) - (b))
#define NNC_FFT_NEGATE(x) (-(x))
#define NNC_FFT_HALF(x) ((x) * 0.5f)
#define NNC_FFT_HALF_ADD(a, b) (((a) + (b)) * 0.5f)
#define NNC_FFT_HALF_SUB(a, b) (((a) - (b)) * 0.5f)
#define NNC_FFT_OVER(x, by) ((x) / (float)(by))
#include "nnc_signal_fft.h"

#endif /* NNC_SIGNAL_FFT_F32_H */
