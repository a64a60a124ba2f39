//===- Compressor.h - An ONNX model becomes one with fewer weights --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_COMPRESS_COMPRESSOR_H
#define NNC_FRONTENDS_ONNX_COMPRESS_COMPRESSOR_H

#include "compiler/compression/Compressor.h"
#include "compiler/quantize/AffineFolds.h"
#include "frontends/common/Import.h"

#include <memory>

namespace nnc::onnx {

/// Reads the ONNX model at `path` to compress its weights, and writes `folds`,
/// those that its import found: whoever folds batch norms later would scale the
/// channels of weights that share values. The metadata of what it writes say
/// how each weight was compressed. Returns null, and reports why, if that
/// fails.
std::unique_ptr<compression::Compressor>
openCompressor(llvm::StringRef path, llvm::StringRef externalData,
               const compression::Options &options,
               const std::vector<quantize::AffineFold> &folds,
               mlir::MLIRContext &context, frontends::ImportStatus &status);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_COMPRESS_COMPRESSOR_H
