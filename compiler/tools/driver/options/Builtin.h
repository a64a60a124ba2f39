//===- Builtin.h - C functions of nnc's own for operators -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_OPTIONS_BUILTIN_H
#define NNC_COMPILER_TOOLS_DRIVER_OPTIONS_BUILTIN_H

#include "dialects/nn/Nn.h"
#include "dialects/nn/tensors/TensorData.h"

namespace nnc::tools {

/// Whether a header of this name holds C functions of nnc's own.
bool isBuiltinHeader(llvm::StringRef name);

/// Whether a C function of nnc's own computes the operator, rather than one of
/// the user's.
bool isBuiltin(nn::CustomOp custom);

/// Computes such an operator here.
TensorData evaluateBuiltin(nn::CustomOp custom,
                           llvm::ArrayRef<TensorData> operands);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_OPTIONS_BUILTIN_H
