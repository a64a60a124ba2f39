//===- shape.h - The shape of adapt routines ------------------------------===//
#ifndef NNC_ROUTINES_MOVES_ADAPT_SHAPE_H
#define NNC_ROUTINES_MOVES_ADAPT_SHAPE_H

namespace nnc {

/// A change of an image's layout, from x[n][c/block_in][h][w][block_in] to
/// y[n][c/block_out][h][w][block_out]; a block of 1 is plain NCHW. Channels
/// beyond c in the last block are zero.
struct adapt_shape {
  int n, c, h, w, block_in, block_out;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("n", n);
    f("c", c);
    f("h", h);
    f("w", w);
    f("block_in", block_in);
    f("block_out", block_out);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_ADAPT_SHAPE_H
