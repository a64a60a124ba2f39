//===- QuantizeModule.h - nnc quantize for models of any frontend ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_QUANTIZE_QUANTIZEMODULE_H
#define NNC_COMPILER_TOOLS_NNC_QUANTIZE_QUANTIZEMODULE_H

#include "compiler/tools/driver/quantization/QuantizeSettings.h"

namespace nnc::tools {

/// Quantizes a model in the dialects nn and qnn, writes it as a module that nnc
/// reads as a model, compares it with the float model on the samples, and
/// prints a report. Only settings that Quantize::checkModule() accepts have an
/// effect.
ExitCode quantizeModule(const QuantizeSettings &settings, bool json);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_QUANTIZE_QUANTIZEMODULE_H
