//===- StoredProducts.h - Dense layers that read weights as stored --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_STOREDPRODUCTS_H
#define NNC_COMPILER_ROUTINES_STOREDPRODUCTS_H

#include "compiler/routines/Cost.h"
#include "dialects/nn/stored_weights/forms/StoredForm.h"
#include "dialects/nn/tensors/TensorData.h"

namespace nnc {

/// A dense layer that nn.stored_matmul can compute: it multiplies rows of
/// floats by a constant matrix of floats, or rows of bytes by a constant matrix
/// of signed bytes.
struct DenseLayer {
  nn::LayerOp layer;
  int64_t m = 0, n = 0, k = 0;
  bool transposed = false; ///< the weight is n x k, not k x n
  bool isFloat = false;

  /// Returns the dense layer whose matrix `use` is, or nothing if there is
  /// none.
  static std::optional<DenseLayer> get(mlir::OpOperand &use);
  bool hasWeightsOf(const DenseLayer &other) const {
    return n == other.n && k == other.k && transposed == other.transposed &&
           isFloat == other.isFloat;
  }
};

/// A weight stored in fewer bytes, and how its layers read it.
struct StoredMatrix {
  stored::StoredForm form;
  nn::ShapeAttr shape; ///< parameters of the decoder
  /// A value of stored_order, or for filters of stored_filters.
  int64_t order = 0;
  int64_t strip = 0; ///< number of filters that are decoded at a time
};

/// Returns the type of the stored bytes of a form.
mlir::RankedTensorType getStoredType(const stored::StoredForm &form,
                                     mlir::MLIRContext *context);

/// Returns the weight of `dense` in the forms of the given kind, with the block
/// sizes and orders of elements that routines need. `weight` holds its
/// row-major elements.
std::vector<StoredMatrix> storeMatrix(const DenseLayer &dense,
                                      const TensorData &weight,
                                      stored::StoredKind kind);

/// The routine that computes a dense layer from a stored matrix.
struct StoredProduct {
  const Routine *routine = nullptr; ///< null if there is none
  double seconds = 0;               ///< estimated time of the layer
  /// A lower bound of getExtra(), in seconds.
  double leastExtra = -std::numeric_limits<double>::infinity();

  /// Returns the estimated seconds of the layer minus `decoded`, those of a
  /// routine that reads decoded weights, but at least `leastExtra`. The result
  /// is negative if the layer gets faster.
  double getExtra(double decoded) const {
    return std::max(seconds - decoded, leastExtra);
  }
};
StoredProduct findStoredProduct(const DenseLayer &dense,
                                const StoredMatrix &matrix,
                                const CostModel &cost);

/// Makes the layer read `stored`, the bytes of `matrix`, with `routine`.
void readStored(const DenseLayer &dense, const StoredMatrix &matrix,
                const Routine &routine, mlir::Value stored);

/// Returns the attribute of `shape`, which says how a stored form is decoded.
nn::ShapeAttr toAttribute(const decode_shape &shape,
                          mlir::MLIRContext *context);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_STOREDPRODUCTS_H
