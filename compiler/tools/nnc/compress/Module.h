//===- Module.h - nnc compress for models of any frontend -------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_NNC_COMPRESS_MODULE_H
#define NNC_TOOLS_NNC_COMPRESS_MODULE_H

#include "compiler/tools/nnc/compress/Session.h"

namespace nnc::tools {

/// Compresses the weights of a model on the dialect nn by their magnitudes,
/// writes it as a module that nnc reads as a model, and prints a report. Of the
/// settings those count that Compress::checkModule() lets pass.
ExitCode compressModule(const CompressSettings &settings, bool json);

} // namespace nnc::tools

#endif // NNC_TOOLS_NNC_COMPRESS_MODULE_H
