//===- shape.h - The shape of matmul routines -----------------------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_SHAPE_H
#define NNC_ROUTINES_MATRIX_MATMUL_SHAPE_H

namespace nnc {

/// Matrix product for each of `batch` pairs: a[m][k] * b[k][n] -> y[m][n].
/// Batch strides are elements from one matrix to the next, 0 where one matrix
/// serves the whole batch; y's stride is m*n. transpose_a: a is stored [k][m];
/// transpose_b: b is stored [n][k].
struct matmul_shape {
  int batch, m, n, k, a_batch_stride, b_batch_stride, transpose_a, transpose_b;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("batch", batch);
    f("m", m);
    f("n", n);
    f("k", k);
    f("a_batch_stride", a_batch_stride);
    f("b_batch_stride", b_batch_stride);
    f("transpose_a", transpose_a);
    f("transpose_b", transpose_b);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_SHAPE_H
