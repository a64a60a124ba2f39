//===- shape.h - The shape of lstm routines -------------------------------===//
#ifndef NNC_ROUTINES_RECURRENT_LSTM_SHAPE_H
#define NNC_ROUTINES_RECURRENT_LSTM_SHAPE_H

namespace nnc {

/// A layer of `units` LSTM cells over `steps` vectors of `input` elements, of
/// `batch` sequences. Sequences are x[batch][steps][input], or with time_major
/// x[steps][batch][input]; results have the same order of axes. Cells are
/// limited to [-clip, clip] unless clip is 0.
struct lstm_shape {
  int batch, steps, input, units, time_major;
  float clip;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("batch", batch);
    f("steps", steps);
    f("input", input);
    f("units", units);
    f("time_major", time_major);
    f("clip", clip);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_RECURRENT_LSTM_SHAPE_H
