//===- TensorFile.cpp - Tensors in a framework's own files ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/samples/TestData.h"
#include "compiler/tools/driver/system/Files.h"

#include "frontends/Registry.h"

#include <fmt/format.h>

namespace nnc::tools {

llvm::Expected<Tensor> readTensorFile(const std::string &path) {
  llvm::Expected<frontends::RawTensor> raw = frontends::readTensorFile(path);
  if (!raw)
    return raw.takeError();
  std::optional<Dtype> dtype = parseDtype(raw->dtype);
  if (!dtype)
    return makeError(
        fmt::format("{} holds elements of type {}, which nnc does not read",
                    path, raw->dtype));
  Tensor tensor{*dtype, std::move(raw->shape), std::move(raw->data)};
  int64_t bytes = tensor.elements() * dtypeBytes(*dtype);
  if (int64_t(tensor.data.size()) != bytes)
    return makeError(fmt::format("{} holds {} bytes of data, its shape {} of "
                                 "{} takes {}",
                                 path, tensor.data.size(),
                                 shapeText(tensor.shape), dtypeName(*dtype),
                                 bytes));
  return tensor;
}

} // namespace nnc::tools
