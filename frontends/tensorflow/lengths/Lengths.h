//===- Lengths.h - Data-dependent sizes in TensorFlow -----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_LENGTHS_LENGTHS_H
#define NNC_FRONTENDS_TENSORFLOW_LENGTHS_LENGTHS_H

#include "frontends/tensorflow/graph/Layer.h"

namespace nnc::tensorflow {

/// Returns the shape of `x`, a vector of elements of type `element` that is
/// computed at run time; null after an error. Returns nullopt if no size of x
/// depends on data.
std::optional<mlir::Value> getRunTimeShape(Layer &layer, mlir::Value x,
                                           mlir::Type element);

/// Returns the positions in the flat `x` of elements that are not zero. The
/// name of their number is that of the node with `suffix`.
mlir::Value findPositions(Layer &layer, mlir::Value x,
                          const llvm::Twine &suffix = "");

/// The shape of a matrix that CTCGreedyDecoder gives, of which the number of
/// columns depends on data.
struct DecodedShape {
  int64_t rows, mostColumns;
  mlir::Value columns; ///< their number, a tensor of one integer
};
/// Returns the shape that the vector `shape` is if it is one of
/// CTCGreedyDecoder.
std::optional<DecodedShape> getDecodedShape(mlir::Value shape);
/// Returns the first columns of the matrix `x`, as many as `shape` has.
mlir::Value cutColumns(Layer &layer, mlir::Value x, const DecodedShape &shape);

/// Pads after which an axis whose size depends on data has a fixed size, as
/// models pad the boxes that they find to a number of boxes.
struct FixedPad {
  int64_t axis = -1, size = 0; ///< the axis and its size in the result
  Sizes before, after; ///< pads of each axis; behind `axis` they are not known
};
/// Returns the pads that `pads` has for x, two for each axis, if they are such
/// ones.
std::optional<FixedPad> readFixedPad(Layer &layer, mlir::Value x,
                                     mlir::Value pads);
mlir::Value padToFixed(Layer &layer, mlir::Value x, const FixedPad &pad,
                       double value);

/// Returns a constant whose sizes, the elements of `sizes`, follow from lengths
/// that the data decide, in the shape that it has in this import. Returns null
/// if the sizes do not depend on lengths or are not known expressions of them.
mlir::Value fillByLengths(Layer &layer, mlir::Value sizes, double value,
                          mlir::Type element);
/// Returns the parts joined along `axis` if the last one is such a constant,
/// which fills up the others to a fixed size; otherwise null.
mlir::Value fillUp(Layer &layer, llvm::ArrayRef<mlir::Value> parts,
                   int64_t axis);

/// Returns the first of `most` indices of boxes that nn.suppress gives in
/// `found`, as many as there are. Sets result `scoreResult`, if given, to as
/// many scores.
mlir::Value cutSuppressed(Layer &layer, mlir::Value found, mlir::Value indices,
                          mlir::Value scores, int64_t most,
                          std::optional<size_t> scoreResult);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_LENGTHS_LENGTHS_H
