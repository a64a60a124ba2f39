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

/// A dense layer that multiplies rows by a constant matrix of floats, or rows
/// of bytes by one of signed bytes: nn.stored_matmul could compute it.
struct DenseLayer {
  nn::LayerOp layer;
  int64_t m = 0, n = 0, k = 0;
  bool transposed = false; ///< the weight is n x k, not k x n
  bool isFloat = false;

  /// The layer of `use`, if that is the matrix of one.
  static std::optional<DenseLayer> get(mlir::OpOperand &use);
  bool hasWeightsOf(const DenseLayer &other) const {
    return n == other.n && k == other.k && transposed == other.transposed &&
           isFloat == other.isFloat;
  }
};

/// A weight in fewer bytes, and how its layers read it.
struct StoredMatrix {
  stored::StoredForm form;
  nn::ShapeAttr shape; ///< of decoding it
  int64_t order = 0;   ///< a stored_order, or of filters a stored_filters
  int64_t strip = 0;   ///< filters that are decoded at a time
};

/// The type of the bytes of a form.
mlir::RankedTensorType getStoredType(const stored::StoredForm &form,
                                     mlir::MLIRContext *context);

/// Returns the forms of a kind for the weight of `dense`, whose row-major
/// elements are `weight`, with the blocks and the order that routines need.
std::vector<StoredMatrix> storeMatrix(const DenseLayer &dense,
                                      const TensorData &weight,
                                      stored::StoredKind kind);

/// The routine that computes a dense layer from a stored matrix.
struct StoredProduct {
  const Routine *routine = nullptr; ///< null if there is none
  double seconds = 0;               ///< of the layer, estimated
  /// The least seconds that the layer takes more than with decoded weights.
  double leastExtra = -std::numeric_limits<double>::infinity();

  /// Returns the seconds more than those of a routine that reads decoded
  /// weights; less than 0 if the layer takes fewer.
  double getExtra(double decoded) const {
    return std::max(seconds - decoded, leastExtra);
  }
};
StoredProduct findStoredProduct(const DenseLayer &dense,
                                const StoredMatrix &matrix,
                                const CostModel &cost);

/// Lets the layer read `stored`, the bytes of `matrix`, by `routine`.
void readStored(const DenseLayer &dense, const StoredMatrix &matrix,
                const Routine &routine, mlir::Value stored);

/// The attribute of the shape by which a stored form is decoded.
nn::ShapeAttr toAttribute(const decode_shape &shape,
                          mlir::MLIRContext *context);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_STOREDPRODUCTS_H
