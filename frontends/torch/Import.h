//===- Import.h - From an exported program to the nn dialect --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TORCH_IMPORT_H
#define NNC_FRONTENDS_TORCH_IMPORT_H

#include "frontends/common/Import.h"

#include "llvm/ADT/StringRef.h"

namespace nnc::torch {

/// Reads a .pt2 file, as torch.export.save writes it.
frontends::ImportResult importModel(llvm::StringRef path,
                                    const frontends::ImportOptions &options,
                                    mlir::MLIRContext &context);

} // namespace nnc::torch

#endif // NNC_FRONTENDS_TORCH_IMPORT_H
