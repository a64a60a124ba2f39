//===- Import.h - From an ONNX model to the nn dialect --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_IMPORT_H
#define NNC_FRONTENDS_ONNX_IMPORT_H

#include "frontends/common/Import.h"

namespace nnc::onnx {
using namespace frontends;

/// Reads a model: binary (`.onnx`) or in ONNX's text syntax (`.onnxtxt`). All
/// problems in it, not just the first, are reported as diagnostics of the
/// context, each with the file, the node and what to do.
ImportResult importModel(llvm::StringRef path, const ImportOptions &options,
                         mlir::MLIRContext &context);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_IMPORT_H
