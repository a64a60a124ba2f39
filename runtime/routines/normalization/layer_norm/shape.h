//===- shape.h - The shape of layer_norm routines -------------------------===//
#ifndef NNC_ROUTINES_NORMALIZATION_LAYER_NORM_SHAPE_H
#define NNC_ROUTINES_NORMALIZATION_LAYER_NORM_SHAPE_H

namespace nnc {

/// Layer normalization of x[outer][size] with scale[size] and bias[size] to
/// y[outer][size]: each row minus its mean, divided by the square root of its
/// variance plus epsilon, times scale, plus bias.
struct layer_norm_shape {
  int outer, size;
  float epsilon;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("outer", outer);
    f("size", size);
    f("epsilon", epsilon);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_NORMALIZATION_LAYER_NORM_SHAPE_H
