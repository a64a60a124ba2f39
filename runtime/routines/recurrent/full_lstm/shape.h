//===- shape.h - The shape of full_lstm routines --------------------------===//
#ifndef NNC_ROUTINES_RECURRENT_FULL_LSTM_SHAPE_H
#define NNC_ROUTINES_RECURRENT_FULL_LSTM_SHAPE_H

namespace nnc {

/// A layer of `units` LSTM cells over `steps` vectors of `input` elements, of
/// `batch` sequences, which gives `output` elements for each vector. Sequences
/// are x[batch][steps][input], or with time_major x[steps][batch][input].
/// `coupled`: cells have no input gate; it is 1 - the forget gate.
/// `normalized`: the sums of a gate are normalized over the cells. `projected`:
/// results are the product of a matrix and the cells' outputs; otherwise
/// `output` is equal to `units`. Cells are limited to [-clip, clip] unless clip
/// is 0, and projections likewise.
struct full_lstm_shape {
  int batch, steps, input, units, output, time_major, coupled, normalized,
      projected;
  float clip, output_clip;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("batch", batch);
    f("steps", steps);
    f("input", input);
    f("units", units);
    f("output", output);
    f("time_major", time_major);
    f("coupled", coupled);
    f("normalized", normalized);
    f("projected", projected);
    f("clip", clip);
    f("output_clip", output_clip);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_RECURRENT_FULL_LSTM_SHAPE_H
