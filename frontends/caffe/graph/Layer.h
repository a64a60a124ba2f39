//===- Layer.h - A layer of a network while it is imported ------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_CAFFE_GRAPH_LAYER_H
#define NNC_FRONTENDS_CAFFE_GRAPH_LAYER_H

#include "frontends/caffe/file/Weights.h"
#include "frontends/caffe/graph/LayerWeights.h"
#include "frontends/common/LayerBuilder.h"

namespace nnc::caffe {

/// A layer whose ops a converter builds. All tensors are f32.
class Layer : public LayerBuilder {
public:
  Layer(mlir::OpBuilder &builder, Problems &problems, mlir::Location loc,
        const schema::LayerParameter &param,
        llvm::ArrayRef<mlir::Value> bottoms, LayerWeights &weights)
      : LayerBuilder(builder, problems, loc, param.type()), param(param),
        bottoms(bottoms), weights(weights), problems(problems),
        tops(std::max(param.top_size(), 1)) {}

  const schema::LayerParameter &getParam() const { return param; }

  // Bottoms, which are not null.
  size_t getNumBottoms() const { return bottoms.size(); }
  mlir::Value getBottom(size_t i) const { return bottoms[i]; }
  llvm::ArrayRef<mlir::Value> getBottoms() const { return bottoms; }

  // Tops. A converter returns the first one and sets the others.
  size_t getNumTops() const { return tops.size(); }
  void setTop(size_t i, mlir::Value value) { tops[i] = value; }
  mlir::Value getTop(size_t i) const { return tops[i]; }

  // Weights.

  /// Returns the number of the layer's blobs in the file of weights, 0 if there
  /// are none.
  size_t getNumBlobs() const;
  /// Returns blob `i`, of which there are more than `i`, with the shape that
  /// the file states.
  mlir::Value getBlob(size_t i);
  /// Returns blob `i`, of shape `shape`, as a constant. If it is missing or has
  /// another shape, reports that and returns zeros, with which the rest of the
  /// network is checked. `what` is what the blob holds, for messages. Returns
  /// null after an error if nnc does not handle tensors of that size.
  mlir::Value getBlob(size_t i, llvm::ArrayRef<int64_t> shape,
                      llvm::StringRef what);
  /// Returns the elements of blob `i`, a vector of `count`, as getBlob() does.
  std::vector<float> readBlob(size_t i, int64_t count, llvm::StringRef what);

  // Parts that several converters share.

  /// Returns a constant of the given elements.
  mlir::Value constantOf(llvm::ArrayRef<float> values,
                         llvm::ArrayRef<int64_t> shape);
  /// Returns the elementwise op `op` of x and a number.
  mlir::Value withNumber(llvm::StringRef op, mlir::Value x, double number);
  /// Returns the slice of `x` that begins at `starts` and has the sizes
  /// `sizes`.
  mlir::Value slice(mlir::Value x, llvm::ArrayRef<int64_t> starts,
                    llvm::ArrayRef<int64_t> sizes);
  /// Returns `x` without an axis, at the index `i` of it.
  mlir::Value take(mlir::Value x, int64_t axis, int64_t i);

private:
  const Blob *findBlob(size_t i, llvm::ArrayRef<int64_t> shape,
                       llvm::StringRef what);

  const schema::LayerParameter &param;
  llvm::ArrayRef<mlir::Value> bottoms;
  LayerWeights &weights;
  Problems &problems;
  llvm::SmallVector<mlir::Value> tops;
};

} // namespace nnc::caffe

#endif // NNC_FRONTENDS_CAFFE_GRAPH_LAYER_H
