//===- values.h - What fields of shapes hold ------------------------------===//
//
// The sizes of lists, and the numbers that stand for names. No emitted module
// needs them: a module's shapes are constants.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_SHAPES_VALUES_H
#define NNC_ROUTINES_SHAPES_VALUES_H

namespace nnc {

/// The most axes of a tensor, and the most inputs of an elementwise routine.
constexpr int max_axes = 8, max_elementwise_inputs = 8;

/// The field `activation` of layers of two parts: what is computed between
/// them, by activate() of convolution/inner_activation.h. `clip` is to [low,
/// high].
enum class inner_activation { none, relu, clip, hard_swish, silu };

} // namespace nnc

#endif // NNC_ROUTINES_SHAPES_VALUES_H
