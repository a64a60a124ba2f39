//===- Module.h - nnc quantize for models of any frontend -------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_QUANTIZE_QUANTIZEMODULE_H
#define NNC_COMPILER_TOOLS_NNC_QUANTIZE_QUANTIZEMODULE_H

#include "compiler/tools/nnc/quantize/Settings.h"

namespace nnc::tools {

/// Quantizes a model on the dialects nn and qnn, writes it as a module that nnc
/// reads as a model, compares it with the float model on the samples, and
/// prints a report. Of the settings those count that Quantize::checkModule()
/// lets pass.
ExitCode quantizeModule(const QuantizeSettings &settings, bool json);

/// Chooses the layers that stay float of a module that `quantizer` has
/// quantized, as --mixed does, by the target and --max-drop of `options`
/// (QuantizeChoice::search).
ExitCode searchModule(ModuleQuantizer &quantizer, const ModelOptions &options,
                      std::string &found);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_QUANTIZE_QUANTIZEMODULE_H
