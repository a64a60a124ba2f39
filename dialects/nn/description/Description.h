//===- Description.h - What a layer computes, in words ----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The report, `nnc explain` and the comments of the emitted code describe a
// layer in the same words, which are all made here: "3 x 3 depthwise
// convolution, stride 2, ReLU6, 8 bits".
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_DESCRIPTION_DESCRIPTION_H
#define NNC_DIALECTS_NN_DESCRIPTION_DESCRIPTION_H

#include "dialects/nn/Nn.h"

namespace nnc::nn {

/// The kinds of layers that readers tell apart at a glance.
enum class LayerKind {
  convolution,
  product,
  pooling,
  normalization,
  elementwise,
  move,
  other
};

/// A description of what a layer computes, in parts that readers compare.
struct Description {
  LayerKind kind = LayerKind::other;
  /// The steps of a fused layer before its main operation.
  llvm::SmallVector<std::string> before = {};
  std::string operation = {}; ///< without its window: "depthwise convolution"
  /// The window of the operation, one entry for each spatial axis; empty for
  /// operations without a window. `pads` has two entries per axis: first the
  /// padding in front of every axis, then the padding behind every axis.
  llvm::SmallVector<int64_t> kernel = {}, strides = {}, dilations = {},
                             pads = {};
  int64_t groups = 1; ///< groups of channels; 1 for a depthwise convolution
  /// The steps on the result of the operation: "addition", "ReLU6".
  llvm::SmallVector<std::string> after = {};
  std::string numbers = {}; ///< "8 bits", "32-bit floats"

  /// Returns the description as one phrase.
  std::string getText() const;

  /// Returns the description as an attribute, which fromAttr() reads.
  mlir::DictionaryAttr toAttr(mlir::MLIRContext *context) const;
  static Description fromAttr(mlir::DictionaryAttr attribute);
};

/// Returns the name of a kind in documents: "convolution", "move", ...
llvm::StringRef getName(LayerKind kind);

/// Returns true for layers and other ops that routines compute.
bool canBeDescribed(mlir::Operation *op);

/// Returns the description of an op for which canBeDescribed() holds.
Description describe(mlir::Operation *op);

/// Returns the role of operand number `operand` of an op that can be described:
/// "weights", "bias", "multiplier". Returns an empty string for values that are
/// not known at compile time, which have names of their own, unless the op
/// itself names the role.
std::string getOperandRole(mlir::Operation *op, unsigned operand);

/// Returns the role that the argument of an epilogue has in the op that reads
/// it, or an empty string if the argument is not a weight.
std::string getRoleInEpilogue(mlir::BlockArgument argument);

/// Returns the words for limiting values to [low, high]: "ReLU6", "clip from -1
/// to 1".
std::string describeClip(double low, double high);

/// Returns the dimensions of a type in the order in which the name of its
/// layout lists them, blocks included. For a weight with an encoding they are
/// those of the layout without it.
llvm::SmallVector<int64_t> getNamedShape(mlir::RankedTensorType type);

/// Returns `sizes` joined in the form "3 x 3".
std::string joinSizes(llvm::ArrayRef<int64_t> sizes);

/// Returns entry `index` of a comma-separated list, or an empty string if the
/// list has no such entry.
llvm::StringRef getListEntry(llvm::StringRef list, unsigned index);

/// Returns the words for a function of runtime/simd, such as "leaky ReLU", or
/// for any other function its name split into words.
std::string getFunctionWords(llvm::StringRef function);

/// Returns the activations and other functions that a model names among
/// elementwise ops, in order: "sigmoid, multiplication".
std::string listFunctions(llvm::ArrayRef<mlir::Operation *> ops);

/// Marks the op that computes `value` with an activation (kActivationAttr),
/// unless that is empty.
void markActivation(mlir::Value value, llvm::StringRef activation);

/// Attaches the description interface to the ops of the nn dialect, which have
/// to be registered before.
void attachDescriptions(mlir::MLIRContext &context);

} // namespace nnc::nn

#include "dialects/nn/NnDescription.h.inc"

#endif // NNC_DIALECTS_NN_DESCRIPTION_DESCRIPTION_H
