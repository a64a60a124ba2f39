//===- Quantization.h - Models with --precision=i8 --------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_QUANTIZATION_QUANTIZATION_H
#define NNC_COMPILER_TOOLS_DRIVER_QUANTIZATION_QUANTIZATION_H

#include "compiler/tools/driver/import/Importer.h"

namespace nnc::tools {

/// Quantizes an imported module with the ranges that it has on the samples of
/// --calibrate, and keeps layers float to comply with --max-drop. This is the
/// implementation of QuantizeChoice::quantize.
ExitCode quantizeImported(const ModelOptions &choices, ImportedModel &model);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_QUANTIZATION_QUANTIZATION_H
