/*===- nnc_signal_frames.h - Frames of a stream of samples ----------------===
 *
 * The signal operators that cut a stream of samples into frames, put it
 * together again, delay it or stack frames: see nnc_signal.h. Where an operator
 * keeps nothing between runs, its last operands and results are left out.
 *
 *===----------------------------------------------------------------------===*/
#ifndef NNC_SIGNAL_FRAMES_H
#define NNC_SIGNAL_FRAMES_H

#include "nnc_signal.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Returns sample `i` of those that are kept, `kept` of them, and of the new
 * ones behind them. */
NNC_SIGNAL_FUNCTION int16_t nnc_signal_sample(const int16_t *old, int32_t kept,
                                              const int16_t *fresh, int32_t i) {
  return i < kept ? old[i] : fresh[i - kept];
}

/** SignalFramer cuts the samples x[rows][n] into frames y[rows][n / step][size]
 * that begin every `step` samples. Options: size, step, and how many samples of
 * the past a frame reads at most. Operands: x, the kept samples [rows][kept],
 * and the number of runs' frames so far, which counts up to the first one that
 * holds samples only. Results: y, whether all frames do, the next kept samples
 * and number. The last operand and result are left out where frames hold zeros
 * of before the first sample. */
NNC_SIGNAL_FUNCTION void nnc_signal_framer(const struct nnc_operator *op,
                                           const void *const *inputs,
                                           void *const *outputs,
                                           void *scratch) {
  int32_t size = nnc_signal_option(op, 0), step = nnc_signal_option(op, 1);
  int32_t kept = nnc_signal_option(op, 2);
  int32_t n = nnc_signal_inner(&op->inputs[0]);
  int32_t rows = op->inputs[0].elements / n, row, at, i;
  const int16_t *x = (const int16_t *)inputs[0];
  const int16_t *old = kept ? (const int16_t *)inputs[1] : x;
  int16_t *y = (int16_t *)outputs[0];
  unsigned char *is_valid = (unsigned char *)outputs[1];
  (void)scratch;
  for (row = 0; row < rows; ++row, x += n, old += kept) {
    for (at = 0; at < n; at += step)
      for (i = 0; i < size; ++i)
        *y++ = nnc_signal_sample(old, kept, x, at + i);
    if (kept) {
      int16_t *next = (int16_t *)outputs[2] + row * kept;
      for (i = 0; i < kept; ++i)
        next[i] = nnc_signal_sample(old, kept, x, n + i);
    }
  }
  *is_valid = 1;
  if (op->num_inputs > 2) {
    int32_t needed = kept / step + 1, frames = *(const int32_t *)inputs[2];
    *is_valid = frames + 1 >= needed;
    frames += n / step;
    *(int32_t *)outputs[3] = frames < needed ? frames : needed;
  }
}

/** SignalDelay gives the samples x[rows][n] later. The option is by how many.
 * Operands: x and the samples [rows][delay] that are still to come. Results:
 * the delayed samples, and those that are to come now. */
NNC_SIGNAL_FUNCTION void nnc_signal_delay(const struct nnc_operator *op,
                                          const void *const *inputs,
                                          void *const *outputs, void *scratch) {
  int32_t delay = nnc_signal_option(op, 0);
  int32_t n = nnc_signal_inner(&op->inputs[0]);
  int32_t rows = op->inputs[0].elements / n, row, i;
  const int16_t *x = (const int16_t *)inputs[0];
  const int16_t *old = delay ? (const int16_t *)inputs[1] : x;
  int16_t *y = (int16_t *)outputs[0];
  int16_t *next = delay ? (int16_t *)outputs[1] : y;
  (void)scratch;
  for (row = 0; row < rows; ++row, x += n, old += delay) {
    for (i = 0; i < n; ++i)
      *y++ = nnc_signal_sample(old, delay, x, i);
    for (i = 0; i < delay; ++i)
      *next++ = nnc_signal_sample(old, delay, x, n + i);
  }
}

/** SignalStacker gives the last `count` frames of x[n] as y[count * n] each
 * time that `step` more are there. Options: count, the frames of the future
 * among them, step. Operands: x, the last count - 1 frames, and 0 before the
 * first run, then 1 more than the frames that have to come before y is valid.
 * Results: y, whether it is valid, the next frames and number. */
NNC_SIGNAL_FUNCTION void nnc_signal_stacker(const struct nnc_operator *op,
                                            const void *const *inputs,
                                            void *const *outputs,
                                            void *scratch) {
  int32_t count = nnc_signal_option(op, 0), future = nnc_signal_option(op, 1);
  int32_t step = nnc_signal_option(op, 2), n = op->inputs[0].elements, i;
  int32_t kept = (count - 1) * n, is_last = op->num_inputs - 1;
  int32_t known = *(const int32_t *)inputs[is_last];
  int32_t wait = known ? known - 1 : future;
  const int16_t *x = (const int16_t *)inputs[0];
  const int16_t *old = kept ? (const int16_t *)inputs[1] : x;
  int16_t *y = (int16_t *)outputs[0];
  (void)scratch;
  /* Frames of before the first one equal it. */
  for (i = 0; i < kept; ++i)
    y[i] = known ? old[i] : x[i % n];
  for (i = 0; i < n; ++i)
    y[kept + i] = x[i];
  *(unsigned char *)outputs[1] = wait == 0;
  if (kept)
    memcpy(outputs[2], y + n, (size_t)kept * sizeof(int16_t));
  *(int32_t *)outputs[is_last + 1] = wait == 0 ? step : wait;
}

/** The option of SignalOverlapAdd is the step. Operands: frames
 * x[rows][count][size] that begin every `step` samples, and the sums
 * [rows][size - step] of earlier ones that go on. Results: the sums of all
 * frames, y[rows][count * step], and those that go on now. */
#define NNC_SIGNAL_OVERLAP_ADD(name, type, sum)                                \
  NNC_SIGNAL_FUNCTION void name(const struct nnc_operator *op,                 \
                                const void *const *inputs,                     \
                                void *const *outputs, void *scratch) {         \
    const struct nnc_tensor_info *info = &op->inputs[0];                       \
    int32_t step = nnc_signal_option(op, 0), size = nnc_signal_inner(info);    \
    int32_t count = info->dims[info->rank - 2], kept = size - step;            \
    int32_t rows = info->elements / size / count, row, frame, i;               \
    const type *x = (const type *)inputs[0];                                   \
    type *y = (type *)outputs[0];                                              \
    (void)scratch;                                                             \
    for (row = 0; row < rows; ++row) {                                         \
      type *next = kept ? (type *)outputs[1] + row * kept : y;                 \
      if (kept)                                                                \
        memcpy(next, (const type *)inputs[1] + row * kept,                     \
               (size_t)kept * sizeof(type));                                   \
      for (frame = 0; frame < count; ++frame, x += size) {                     \
        for (i = 0; i < step; ++i)                                             \
          *y++ = sum(x[i], i < kept ? next[i] : 0);                            \
        for (i = 0; i < kept; ++i)                                             \
          next[i] = sum(x[step + i], step + i < kept ? next[step + i] : 0);    \
      }                                                                        \
    }                                                                          \
  }

NNC_SIGNAL_FUNCTION int16_t nnc_signal_sum_i16(int16_t a, int16_t b) {
  int32_t sum = (int32_t)a + b;
  return (int16_t)(sum < -32768 ? -32768 : sum > 32767 ? 32767 : sum);
}
NNC_SIGNAL_FUNCTION float nnc_signal_sum_f32(float a, float b) { return a + b; }

NNC_SIGNAL_OVERLAP_ADD(nnc_signal_overlap_add_i16, int16_t, nnc_signal_sum_i16)
NNC_SIGNAL_OVERLAP_ADD(nnc_signal_overlap_add_f32, float, nnc_signal_sum_f32)

#endif /* NNC_SIGNAL_FRAMES_H */
