//===- shape.h - The shape of block_matmul routines -----------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_BLOCK_MATMUL_SHAPE_H
#define NNC_ROUTINES_STORED_WEIGHTS_BLOCK_MATMUL_SHAPE_H

namespace nnc {

/// Product of a matrix of floats and a matrix of integers that represent
/// floats: x[m][k] * w[n][k] -> y[m][n], where the float of integer q[n][i] is
/// (q[n][i] - zero_points[n][i / block]) * scales[n][i / block]. Integers are
/// unsigned and have `bits` bits, 4 or 8. `block` is a multiple of 8, or k if
/// all weights of a column share a scale. With `shared_zero` there is a single
/// zero point for all weights.
struct block_matmul_shape {
  int m, n, k, bits, block, shared_zero;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("m", m);
    f("n", n);
    f("k", k);
    f("bits", bits);
    f("block", block);
    f("shared_zero", shared_zero);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_BLOCK_MATMUL_SHAPE_H
