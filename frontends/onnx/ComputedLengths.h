//===- ComputedLengths.h - Numbers from lengths that data decide -*- C++
//-*-===//
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
  /// `bases` are the lengths that an earlier import has read in the same
  /// places; null for the first import, which finds them.
  LengthReader(const GraphImporter &importer, frontends::LayerBuilder &builder,
               const Scope &scope, const std::vector<unsigned> *bases)
      : importer(importer), builder(builder), scope(scope), given(bases) {}

  /// Returns what a value of the graph is, a single known number; nullopt where
  /// that cannot be told.
  std::optional<ComputedLength> read(llvm::StringRef name);
  /// Returns what the node's first result is.
  std::optional<ComputedLength> readNode(const ::onnx::NodeProto &node);

  /// The lengths that were read, in order.
  std::vector<unsigned> bases;

private:
  std::optional<ComputedLength> readBase(int64_t number, uint64_t sources);
  ComputedLength readSize(unsigned size);
  ComputedLength makeConstant(int64_t number);
  /// Returns what an element of the result of a Shape is, if the ops that
  /// compute the tensor show it.
  std::optional<ComputedLength> readDim(const ::onnx::NodeProto &shape,
                                        int64_t index);
  /// Returns what an element of a list is, a value of the graph.
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
