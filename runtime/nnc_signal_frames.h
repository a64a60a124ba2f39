/*===- nnc_signal_frames.h - Frames of a stream of samples ----------------===
 *
 * The signal operators that cut a stream of samples into frames, join frames to
 * a stream again, delay a stream, or stack frames: see nnc_signal.h. An
 *operator that has no samples to keep between runs lacks the operand and the
 *result for them.
 *
 *===----------------------------------------------------------------------===*/
#ifndef NNC_SIGNAL_FRAMES_H
#define NNC_SIGNAL_FRAMES_H

#include "nnc_signal.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Returns sample `i` of the `kept` samples that are kept from earlier runs,
 * followed by the new ones. */
NNC_SIGNAL_FUNCTION int16_t nnc_signal_sample(const int16_t *old, int32_t kept,
                                              const int16_t *fresh, int32_t i) {
  return i < kept ? old[i] : fresh[i - kept];
}

/** SignalFramer: cuts samples into overlapping frames that begin every `step`
 * samples. Options: the size of a frame, the step, and the number of samples
 * that are kept for the next run.
 *
 * Operands: x[rows][n], the kept samples [rows][kept], and the number of frames
 * so far, an int32_t. The number counts no further than to the first frame that
 * consists of samples of the stream alone. Results: y[rows][n / step][size]; 1
 * if the frames consist of such samples, otherwise 0, as a byte; the samples to
 * keep; and the new number of frames. If the model accepts frames with zeros in
 * front of the first sample, the operand and the result for the number are
 * missing, and the byte is always 1. */
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

/** SignalDelay: delays a stream. Option: the delay in samples. Operands:
 * x[rows][n], and the samples [rows][delay] of earlier runs that are still to
 * be given. Results: the delayed samples y[rows][n], and the samples
 * [rows][delay] that are still to be given after this run. */
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

/** SignalStacker: stacks the last `count` frames, once every `step` frames.
 * Options: count; how many of these frames lie in the future of the frame that
 * they are stacked for; step.
 *
 * Operands: the frame x[n], the last count - 1 frames, and a counter (int32_t),
 * which is 0 in the first run and then 1 more than the number of frames that
 * have to come before y is valid. Results: y[count * n]; 1 if y is valid,
 * otherwise 0, as a byte; the last count - 1 frames; and the new counter. */
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
  /* In the first run, the earlier frames are copies of the first one. */
  for (i = 0; i < kept; ++i)
    y[i] = known ? old[i] : x[i % n];
  for (i = 0; i < n; ++i)
    y[kept + i] = x[i];
  *(unsigned char *)outputs[1] = wait == 0;
  if (kept)
    memcpy(outputs[2], y + n, (size_t)kept * sizeof(int16_t));
  *(int32_t *)outputs[is_last + 1] = wait == 0 ? step : wait;
}

/** Defines a function for SignalOverlapAdd: joins overlapping frames to a
 * stream by adding them up. Option: the step. Operands: frames
 * x[rows][count][size] that begin every `step` samples, and the sums
 * [rows][size - step] of the parts of earlier frames that overlap these.
 * Results: the sums of all frames, y[rows][count * step], and the sums
 * [rows][size - step] of the parts of frames that overlap the next ones. */
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
