//===- shape.h - The shape of integer_lstm routines -----------------------===//
#ifndef NNC_ROUTINES_RECURRENT_INTEGER_LSTM_SHAPE_H
#define NNC_ROUTINES_RECURRENT_INTEGER_LSTM_SHAPE_H

namespace nnc {

/// The axes are as in lstm_shape. Results have the zero point `zero`; cells are
/// limited to [-clip, clip] unless clip is 0. An integer cell times
/// `multiplier` over 2^shift is the argument of tanh in units of 1 / 12288;
/// with a multiplier of 0, gates have 16 bits, and cells `shift` integer bits.
/// With `single`, products are rounded once.
struct integer_lstm_shape {
  int batch, steps, input, units, time_major, zero, clip, multiplier, shift,
      single;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("batch", batch);
    f("steps", steps);
    f("input", input);
    f("units", units);
    f("time_major", time_major);
    f("zero", zero);
    f("clip", clip);
    f("multiplier", multiplier);
    f("shift", shift);
    f("single", single);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_RECURRENT_INTEGER_LSTM_SHAPE_H
