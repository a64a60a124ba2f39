//===- Weights.h - The model's tensors as attributes ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_GRAPH_WEIGHTS_H
#define NNC_FRONTENDS_ONNX_GRAPH_WEIGHTS_H

#include "frontends/common/Elements.h"
#include "frontends/common/WeightFiles.h"
#include "frontends/onnx/Import.h"

#include "onnx/onnx_pb.h"
#include "llvm/ADT/DenseMap.h"

namespace nnc::onnx {

/// The place of a tensor's external data.
struct ExternalPlace {
  std::string location;
  uint64_t offset = 0, length = 0;
};

/// Returns the place of a tensor's external data. Its length is `bytes` unless
/// the tensor states another. Returns nullopt after an error at `loc` if the
/// place is not valid.
std::optional<ExternalPlace> findExternal(const ::onnx::TensorProto &tensor,
                                          uint64_t bytes, Problems &problems,
                                          mlir::Location loc);

/// A converter of the model's tensors to attributes that does not copy their
/// bytes: large tensors become blobs that take over the memory of the parsed
/// model or map the file with the external data.
class Weights {
public:
  Weights(Problems &problems, WeightFiles &files)
      : problems(problems), files(files) {}

  /// Returns the elements of `tensor` and removes them from it; null after an
  /// error at `loc` if the tensor is not valid. Later calls with the same
  /// tensor return the same attribute.
  mlir::ElementsAttr get(::onnx::TensorProto &tensor, mlir::Location loc);

private:
  mlir::ElementsAttr convert(::onnx::TensorProto &tensor, mlir::Location loc);
  std::optional<mlir::AsmResourceBlob>
  mapExternal(const ::onnx::TensorProto &tensor, int64_t bytes, size_t align,
              mlir::Location loc);

  Problems &problems;
  WeightFiles &files;
  llvm::DenseMap<const ::onnx::TensorProto *, mlir::ElementsAttr> known;
};

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_GRAPH_WEIGHTS_H
