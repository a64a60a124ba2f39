//===- Weights.h - Constants that layers multiply by ------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_COMPRESSION_WEIGHTS_H
#define NNC_COMPILER_COMPRESSION_WEIGHTS_H

#include "compiler/compression/Compressor.h"
#include "compiler/compression/MatrixForm.h"
#include "compiler/compression/WeightScales.h"
#include "dialects/nn/Nn.h"

#include "llvm/ADT/StringSet.h"

namespace nnc::compression {

/// An operand of a layer that is a constant, or what ops make of the integers
/// of one: a qnn.reinterpret and a qnn.dequantize, in the order of `ops`.
struct WeightUse {
  mlir::OpOperand *operand;
  llvm::SmallVector<mlir::Operation *, 2> ops;

  mlir::Operation *getLayer() const { return operand->getOwner(); }
};

/// A constant that layers multiply by: convolutions and matrix products of nn
/// and qnn, and recurrent layers. It has 32-bit floats or integers of 8 bits.
struct Weights {
  nn::ConstantOp constant;
  std::vector<WeightUse> uses;
  compression::MatrixForm form;
  /// Whether all uses have this form.
  bool isUniform = true;
  /// Scales and zero points of integers; nullopt where the constant is of
  /// floats.
  std::optional<WeightScales> scales = std::nullopt;

  int getElementBytes() const { return scales ? 1 : 4; }
  /// Returns the elements as a matrix: floats, or integers minus their zero
  /// point.
  std::vector<float> getMatrix() const;
  /// Returns the scale of each element of the matrix; none for floats.
  std::vector<float> getScaleMatrix() const;
  /// Returns such a matrix as elements of the constant.
  mlir::ElementsAttr makeElements(llvm::ArrayRef<float> matrix) const;
  /// Returns the shape of the matrix; `block` rows share a table of values.
  stored::MatrixShape getShape(int64_t block) const;
};

/// A constant that a layer multiplies by but that is not compressed, with the
/// reason.
struct LeftWeights {
  nn::ConstantOp constant;
  mlir::Operation *reader;
  std::string reason;
  bool isFinite = true;
};

/// Returns the weights of a module's functions, of which main calls the others
/// as bodies, that can be compressed, in the order of the layers that read them
/// first, but for those of ops whose names in the model are in `exclude`. The
/// others get into `left`, and so do tables that an nn.gather reads.
std::vector<Weights> findWeights(mlir::ModuleOp module,
                                 const llvm::StringSet<> &exclude,
                                 std::vector<LeftWeights> &left);

/// Returns the value that weights of a layer are multiplied by, and which
/// vectors of it. If nothing is known of them, returns nullopt and the reason.
std::optional<std::pair<mlir::Value, LayerInputs>>
findInputs(const Weights &weights, const WeightUse &use, std::string &reason);

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_WEIGHTS_H
