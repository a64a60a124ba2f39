//===- ComputedLengths.h - Numbers computed from lengths --------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A model may compute with the number of things that its data hold: how many
// rows it keeps at most, or by how many it pads them. An import knows these
// numbers, as it is for one value of each length, and folds the computation.
// Sums and products of lengths are found again by comparing several imports
// (compiler/sizes). Every other result, such as a minimum or a quotient,
// becomes a length of its own, which a run computes from the others.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_COMPUTEDLENGTHS_H
#define NNC_FRONTENDS_ONNX_COMPUTEDLENGTHS_H

#include "frontends/common/Lengths.h"

#include "onnx/onnx_pb.h"

namespace nnc::onnx {
class GraphImporter;
struct Scope;

/// A node whose results are known numbers that follow from lengths which data
/// decide.
struct LengthMaker {
  ::onnx::NodeProto node;
  /// The number of the length that the first result has become.
  std::optional<unsigned> size;
};

/// A whole number that a run computes from lengths which data decide.
struct ComputedLength {
  mlir::Value value;   ///< a scalar of i64
  int64_t low, high;   ///< its bounds at all lengths
  int64_t divisor = 1; ///< divides it at all lengths; 0 for the constant 0
  /// The number of a length that is never smaller.
  std::optional<unsigned> within = std::nullopt;
  /// Whether it is a sum or a product of lengths and constants.
  bool isSum = true;
  std::optional<unsigned> size = std::nullopt; ///< the length that it is
};

/// Reads what nodes compute from lengths.
class LengthReader {
public:
  /// A model is imported several times, with other values of its lengths.
  /// `bases` lists the numbers of the lengths that the first import read, in
  /// order, so that a later import reads the same ones; null in the first
  /// import, which recognises a length by its value.
  LengthReader(const GraphImporter &importer, frontends::LayerBuilder &builder,
               const Scope &scope, const std::vector<unsigned> *bases)
      : importer(importer), builder(builder), scope(scope), given(bases) {}

  /// Returns how a run computes a value of the graph, whose only element is a
  /// known whole number, from lengths; nullopt if an operator on the way is not
  /// understood, or the value has several elements.
  std::optional<ComputedLength> read(llvm::StringRef name);
  /// Returns the same for the first result of a node.
  std::optional<ComputedLength> readNode(const ::onnx::NodeProto &node);

  /// The lengths that were read, in order.
  std::vector<unsigned> bases;

private:
  std::optional<ComputedLength> readBase(int64_t number, uint64_t sources);
  ComputedLength readSize(unsigned size);
  ComputedLength makeConstant(int64_t number);
  /// Returns the same for a dimension, an element of the result of a Shape
  /// node; nullopt if the ops that compute the tensor do not tell whether the
  /// dimension is a length or fixed.
  std::optional<ComputedLength> readDim(const ::onnx::NodeProto &shape,
                                        int64_t index);
  /// Returns the same for one element of a value that is a list of numbers.
  std::optional<ComputedLength> readElement(llvm::StringRef list,
                                            int64_t index);
  std::optional<ComputedLength> readChoice(const ::onnx::NodeProto &node);
  mlir::Value create(llvm::StringRef op, llvm::ArrayRef<mlir::Value> operands);

  ComputedLength add(const ComputedLength &a, const ComputedLength &b);
  ComputedLength subtract(const ComputedLength &a, const ComputedLength &b);
  ComputedLength multiply(const ComputedLength &a, const ComputedLength &b);
  std::optional<ComputedLength> divide(const ComputedLength &a,
                                       const ComputedLength &b);
  std::optional<ComputedLength> takeRest(const ComputedLength &a,
                                         const ComputedLength &b);
  ComputedLength takeLeast(const ComputedLength &a, const ComputedLength &b);
  ComputedLength takeMost(const ComputedLength &a, const ComputedLength &b);

  const GraphImporter &importer;
  frontends::LayerBuilder &builder;
  const Scope &scope;
  const std::vector<unsigned> *given;
};

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_COMPUTEDLENGTHS_H
