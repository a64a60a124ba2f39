//===- TensorFile.h - Test data in ONNX's format --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_FILE_TENSORFILE_H
#define NNC_FRONTENDS_ONNX_FILE_TENSORFILE_H

#include "frontends/common/Frontend.h"
#include "frontends/onnx/Import.h"

namespace nnc::onnx {

/// Reads a file that holds a TensorProto, such as input_0.pb of ONNX's test
/// data. The data may have another size than the shape says.
llvm::Expected<RawTensor> readTensor(llvm::StringRef path);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_FILE_TENSORFILE_H
