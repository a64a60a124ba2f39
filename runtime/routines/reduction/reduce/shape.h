//===- shape.h - The shape of reduce routines -----------------------------===//
#ifndef NNC_ROUTINES_REDUCTION_REDUCE_SHAPE_H
#define NNC_ROUTINES_REDUCTION_REDUCE_SHAPE_H

namespace nnc {

/// Reduction over the middle axis: x[outer][size][inner] -> y[outer][inner].
struct reduce_shape {
  int outer, size, inner;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("outer", outer);
    f("size", size);
    f("inner", inner);
  }
};
using reduce_sum_shape = reduce_shape;
using reduce_mean_shape = reduce_shape;
using reduce_max_shape = reduce_shape;
using reduce_min_shape = reduce_shape;
using reduce_prod_shape = reduce_shape;
using reduce_l1_shape = reduce_shape;
using reduce_l2_shape = reduce_shape;
using reduce_sum_square_shape = reduce_shape;
using reduce_log_sum_exp_shape = reduce_shape;
using reduce_log_sum_shape = reduce_shape;

} // namespace nnc

#endif // NNC_ROUTINES_REDUCTION_REDUCE_SHAPE_H
