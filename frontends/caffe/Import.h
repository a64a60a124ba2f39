//===- Import.h - From a network of Caffe to the nn dialect -----*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_CAFFE_IMPORT_H
#define NNC_FRONTENDS_CAFFE_IMPORT_H

#include "frontends/common/Import.h"

namespace nnc::caffe {

/// Reads a network and its weights (`Frontend::importModel`).
frontends::ImportResult importModel(llvm::StringRef path,
                                    const frontends::ImportOptions &options,
                                    mlir::MLIRContext &context);

} // namespace nnc::caffe

#endif // NNC_FRONTENDS_CAFFE_IMPORT_H
