//===- Builtin.h - C functions of nnc for operators -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_OPTIONS_BUILTIN_H
#define NNC_COMPILER_TOOLS_DRIVER_OPTIONS_BUILTIN_H

#include "dialects/nn/Nn.h"
#include "dialects/nn/tensors/TensorData.h"

namespace nnc::tools {

/// Returns true if the header with this name declares C functions that nnc
/// provides.
bool isBuiltinHeader(llvm::StringRef name);

/// Returns true if a C function that nnc provides computes the operator, rather
/// than a custom function.
bool isBuiltin(nn::CustomOp custom);

/// Computes such an operator in this process, with the C function that nnc
/// provides.
TensorData evaluateBuiltin(nn::CustomOp custom,
                           llvm::ArrayRef<TensorData> operands);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_OPTIONS_BUILTIN_H
