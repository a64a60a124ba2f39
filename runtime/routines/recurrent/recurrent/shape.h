//===- shape.h - The shape of recurrent routines --------------------------===//
#ifndef NNC_ROUTINES_RECURRENT_RECURRENT_SHAPE_H
#define NNC_ROUTINES_RECURRENT_RECURRENT_SHAPE_H

namespace nnc {

/// A layer of `units` recurrent cells over `steps` vectors of `batch`
/// sequences, in one direction, from the last step to the first with reverse.
/// kind: 0 a simple layer of one gate, 1 GRU with the gates z, r, h, 2 LSTM
/// with the gates i, o, f, c. reset_after: a GRU multiplies r by the product of
/// its weights and the last result instead of the result itself. coupled: the
/// forget gate of an LSTM is 1 - i. Gates are limited to [-clip, clip] before
/// their activations unless clip is 0. f, g and h are activations with the
/// numbers alpha and beta: 0 affine, 1 relu, 2 leaky_relu, 3 thresholded_relu,
/// 4 tanh, 5 scaled_tanh, 6 sigmoid, 7 hard_sigmoid, 8 elu, 9 softsign, 10
/// softplus.
struct recurrent_shape {
  int kind, steps, batch, units, reverse, reset_after, coupled, f, g, h;
  float clip, f_alpha, f_beta, g_alpha, g_beta, h_alpha, h_beta;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F call) {
    call("kind", kind);
    call("steps", steps);
    call("batch", batch);
    call("units", units);
    call("reverse", reverse);
    call("reset_after", reset_after);
    call("coupled", coupled);
    call("f", f);
    call("g", g);
    call("h", h);
    call("clip", clip);
    call("f_alpha", f_alpha);
    call("f_beta", f_beta);
    call("g_alpha", g_alpha);
    call("g_beta", g_beta);
    call("h_alpha", h_alpha);
    call("h_beta", h_beta);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_RECURRENT_RECURRENT_SHAPE_H
