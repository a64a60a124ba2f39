//===- Import.h - From a TensorFlow model to the nn dialect -----*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_IMPORT_H
#define NNC_FRONTENDS_TENSORFLOW_IMPORT_H

#include "frontends/common/Import.h"

namespace nnc::tensorflow {

frontends::ImportResult importModel(llvm::StringRef path,
                                    const frontends::ImportOptions &options,
                                    mlir::MLIRContext &context);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_IMPORT_H
