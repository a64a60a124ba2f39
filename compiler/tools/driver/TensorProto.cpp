//===- TensorProto.cpp - Reads tensors from ONNX's TensorProto ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/Files.h"
#include "compiler/tools/driver/TestData.h"

#include <cstring>
#include <fmt/format.h>
#include <onnx/onnx_pb.h>

namespace nnc::tools {

static std::optional<Dtype> dtypeOf(int type) {
  switch (type) {
  case onnx::TensorProto::FLOAT:
    return Dtype::f32;
  case onnx::TensorProto::DOUBLE:
    return Dtype::f64;
  case onnx::TensorProto::FLOAT16:
    return Dtype::f16;
  case onnx::TensorProto::INT8:
    return Dtype::i8;
  case onnx::TensorProto::UINT8:
    return Dtype::u8;
  case onnx::TensorProto::INT16:
    return Dtype::i16;
  case onnx::TensorProto::UINT16:
    return Dtype::u16;
  case onnx::TensorProto::INT32:
    return Dtype::i32;
  case onnx::TensorProto::UINT32:
    return Dtype::u32;
  case onnx::TensorProto::INT64:
    return Dtype::i64;
  case onnx::TensorProto::UINT64:
    return Dtype::u64;
  case onnx::TensorProto::BOOL:
    return Dtype::boolean;
  default:
    return std::nullopt;
  }
}

/// Appends the low `bytes` bytes of each value in little-endian order, the
/// order of ONNX's raw data.
template <class Values>
static void append(const Values &values, size_t bytes, std::vector<char> &to) {
  for (auto value : values) {
    const char *first = reinterpret_cast<const char *>(&value);
    to.insert(to.end(), first, first + bytes);
  }
}

/// Returns the elements from whichever field of the proto may hold those of
/// this type.
static std::vector<char> dataOf(const onnx::TensorProto &proto, Dtype dtype) {
  if (proto.has_raw_data())
    return {proto.raw_data().begin(), proto.raw_data().end()};
  std::vector<char> data;
  size_t bytes = dtypeBytes(dtype);
  switch (dtype) {
  case Dtype::f32:
    append(proto.float_data(), bytes, data);
    break;
  case Dtype::f64:
    append(proto.double_data(), bytes, data);
    break;
  case Dtype::i64:
    append(proto.int64_data(), bytes, data);
    break;
  case Dtype::u32:
  case Dtype::u64:
    append(proto.uint64_data(), bytes, data);
    break;
  default:
    append(proto.int32_data(), bytes, data);
    break;
  }
  return data;
}

llvm::Expected<Tensor> readTensorProto(const std::string &path) {
  llvm::Expected<std::string> bytes = readTextFile(path);
  if (!bytes)
    return bytes.takeError();
  onnx::TensorProto proto;
  if (!proto.ParseFromString(*bytes))
    return makeError(path + " does not hold a TensorProto");
  std::optional<Dtype> dtype = dtypeOf(proto.data_type());
  if (!dtype)
    return makeError(fmt::format("{} holds elements of ONNX's type {}, which "
                                 "nnc does not read",
                                 path, proto.data_type()));
  Tensor tensor{*dtype, {proto.dims().begin(), proto.dims().end()}, {}};
  tensor.data = dataOf(proto, *dtype);
  if (int64_t(tensor.data.size()) != tensor.elements() * dtypeBytes(*dtype))
    return makeError(fmt::format("{} holds {} bytes of data, its shape {} of "
                                 "{} takes {}",
                                 path, tensor.data.size(),
                                 shapeText(tensor.shape), dtypeName(*dtype),
                                 tensor.elements() * dtypeBytes(*dtype)));
  return tensor;
}

} // namespace nnc::tools
