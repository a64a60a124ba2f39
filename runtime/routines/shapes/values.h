//===- values.h - Limits and codes in shape structs -----------------------===//
//
// The sizes of lists in shape structs, and the enumerations of their fields. No
// emitted module needs them, because a module's shapes are constants.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_SHAPES_VALUES_H
#define NNC_ROUTINES_SHAPES_VALUES_H

namespace nnc {

/// The largest number of axes of a tensor, and of inputs of an elementwise
/// routine.
constexpr int max_axes = 8, max_elementwise_inputs = 8;

/// The values of the field `activation` of fused layers: the activation between
/// their two parts, which activate() of convolution/inner_activation.h
/// computes. `clip` clips to [low, high].
enum class inner_activation { none, relu, clip, hard_swish, silu };

} // namespace nnc

#endif // NNC_ROUTINES_SHAPES_VALUES_H
