//===- Import.h - From a TFLite model to the nn dialect -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TFLITE_IMPORT_H
#define NNC_FRONTENDS_TFLITE_IMPORT_H

#include "frontends/common/Import.h"

#include "llvm/ADT/StringRef.h"

namespace nnc::tflite {

/// Reads a .tflite file. Tensors keep their own order of axes, such as NHWC.
frontends::ImportResult importModel(llvm::StringRef path,
                                    const frontends::ImportOptions &options,
                                    mlir::MLIRContext &context);

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_IMPORT_H
