//===- Tensors.h - Constants of a graph -------------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_GRAPH_TENSORS_H
#define NNC_FRONTENDS_TENSORFLOW_GRAPH_TENSORS_H

#include "frontends/tensorflow/file/Load.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace nnc::tensorflow {

/// Returns the elements of a constant called `name`, or null after an error at
/// `loc`. Large ones stay in the memory of `model`, which holds the constant.
mlir::ElementsAttr readTensor(std::shared_ptr<const LoadedModel> model,
                              const pb::TensorProto &tensor,
                              llvm::StringRef name, Problems &problems,
                              mlir::Location loc);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_GRAPH_TENSORS_H
