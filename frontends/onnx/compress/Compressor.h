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

/// Opens the ONNX model at `path` to compress its weights, and applies `folds`,
/// the folds of batch normalizations that its import found. Folding later would
/// scale channels whose weights share values. The metadata of the compressed
/// model record how each weight was compressed. Returns null after an error.
std::unique_ptr<compression::Compressor>
openCompressor(llvm::StringRef path, llvm::StringRef externalData,
               const compression::Options &options,
               const std::vector<quantize::AffineFold> &folds,
               mlir::MLIRContext &context, frontends::ImportStatus &status);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_COMPRESS_COMPRESSOR_H
