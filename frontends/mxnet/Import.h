//===- Import.h - From an MXNet symbol to the nn dialect --------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_MXNET_IMPORT_H
#define NNC_FRONTENDS_MXNET_IMPORT_H

#include "frontends/common/Import.h"

#include "llvm/ADT/StringRef.h"

namespace nnc::mxnet {

/// Reads a symbol (PREFIX-symbol.json) and its file of parameters, which
/// ImportOptions::weights names.
frontends::ImportResult importModel(llvm::StringRef path,
                                    const frontends::ImportOptions &options,
                                    mlir::MLIRContext &context);

} // namespace nnc::mxnet

#endif // NNC_FRONTENDS_MXNET_IMPORT_H
