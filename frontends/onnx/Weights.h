//===- Weights.h - The model's tensors as attributes ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_WEIGHTS_H
#define NNC_FRONTENDS_ONNX_WEIGHTS_H

#include "frontends/onnx/Problems.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace nnc::onnx {

/// Tensors of up to so many elements are DenseElementsAttr, larger ones blobs.
inline constexpr int64_t kMaxInlineElements = 16;

/// Turns tensors of the model into attributes without copying their bytes:
/// large ones become blobs that take over the memory of the parsed model, or
/// map the file with the external data.
class Weights {
public:
  /// The external data of the model at `model` lies beside it, or else in
  /// `folder` where that is not empty.
  Weights(Problems &problems, llvm::StringRef model, llvm::StringRef folder);

  /// The elements of `tensor`, which loses them; null, and a report at `loc`,
  /// where it is not sound. The same tensor gives the same attribute again.
  mlir::ElementsAttr get(::onnx::TensorProto &tensor, mlir::Location loc);

private:
  mlir::ElementsAttr convert(::onnx::TensorProto &tensor, mlir::Location loc);
  std::optional<mlir::AsmResourceBlob>
  mapExternal(const ::onnx::TensorProto &tensor, int64_t bytes, size_t align,
              mlir::Location loc);
  std::shared_ptr<llvm::MemoryBuffer> openExternal(llvm::StringRef location,
                                                   mlir::Location loc);

  Problems &problems;
  /// Where to look for files, in this order.
  llvm::SmallVector<std::string, 2> folders;
  /// Below which they may lie, once links are followed: these folders, and that
  /// of the model itself where `model` is a link.
  llvm::SmallVector<std::string, 3> roots;
  llvm::DenseMap<const ::onnx::TensorProto *, mlir::ElementsAttr> known;
  llvm::StringMap<std::shared_ptr<llvm::MemoryBuffer>> files;
};

/// An attribute over the row-major bytes of `type` in `blob`.
mlir::ElementsAttr makeElements(mlir::RankedTensorType type,
                                llvm::StringRef name,
                                mlir::AsmResourceBlob blob);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_WEIGHTS_H
