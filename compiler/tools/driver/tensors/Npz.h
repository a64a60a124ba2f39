//===- Npz.h - Reads NumPy's .npz files -----------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_TENSORS_NPZ_H
#define NNC_COMPILER_TOOLS_DRIVER_TENSORS_NPZ_H

#include "compiler/tools/driver/tensors/Tensor.h"

#include <utility>

namespace nnc::tools {

/// Reads all arrays of a file that numpy.savez or numpy.savez_compressed has
/// written, with their names.
llvm::Expected<std::vector<std::pair<std::string, Tensor>>>
readNpz(const std::string &path);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_TENSORS_NPZ_H
