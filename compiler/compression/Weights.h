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

/// A use of a constant as weights: an operand of a layer that is the constant,
/// or that a qnn.reinterpret and a qnn.dequantize compute from its integers.
/// `ops` holds these ops in order.
struct WeightUse {
  mlir::OpOperand *operand;
  llvm::SmallVector<mlir::Operation *, 2> ops;

  mlir::Operation *getLayer() const { return operand->getOwner(); }
};

/// A constant of 32-bit floats or 8-bit integers by which layers multiply:
/// convolutions and matrix products of nn and qnn, and recurrent layers.
struct Weights {
  nn::ConstantOp constant;
  std::vector<WeightUse> uses;
  compression::MatrixForm form;
  /// Whether all uses have the matrix form `form`.
  bool isUniform = true;
  /// The scales and the zero point of integers; nullopt for floats.
  std::optional<WeightScales> scales = std::nullopt;

  int getElementBytes() const { return scales ? 1 : 4; }
  /// Returns the elements as a matrix: floats, or integers minus their zero
  /// point.
  std::vector<float> getMatrix() const;
  /// Returns the scale of each element of the matrix; an empty list for floats.
  std::vector<float> getScaleMatrix() const;
  /// Returns a matrix like that of getMatrix() as elements of the constant.
  mlir::ElementsAttr makeElements(llvm::ArrayRef<float> matrix) const;
  /// Returns the shape of the matrix, in which `block` rows share a table of
  /// values.
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

/// Returns the weights that can be compressed of main and the bodies that it
/// runs, in the order of the first layers that read them. Weights of ops whose
/// model names are in `exclude` are left out. Other constants that layers
/// multiply by are added to `left`, and so are tables that an nn.gather reads.
std::vector<Weights> findWeights(mlir::ModuleOp module,
                                 const llvm::StringSet<> &exclude,
                                 std::vector<LeftWeights> &left);

/// Returns the value that the weights of a layer multiply, and the vectors of
/// it that they multiply. Returns nullopt and sets `reason` if these are not
/// known.
std::optional<std::pair<mlir::Value, LayerInputs>>
findInputs(const Weights &weights, const WeightUse &use, std::string &reason);

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_WEIGHTS_H
