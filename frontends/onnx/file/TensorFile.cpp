//===- TensorFile.cpp - Test data in ONNX's format ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/file/TensorFile.h"

#include "frontends/onnx/graph/CarrierTypes.h"

#include "onnx/onnx_pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace nnc::onnx;
using ::onnx::TensorProto;

namespace {
struct DataKind {
  int type;
  llvm::StringLiteral dtype;
  size_t bytes;      ///< of an element
  unsigned bits = 0; ///< of an element, where several share a byte
};
} // namespace

static constexpr DataKind kDataKinds[] = {
    {TensorProto::FLOAT, "f32", 4},
    {TensorProto::DOUBLE, "f64", 8},
    {TensorProto::FLOAT16, "f16", 2},
    {TensorProto::BFLOAT16, "bf16", 2},
    {TensorProto::INT2, "i8", 1, 2},
    {TensorProto::INT4, "i8", 1, 4},
    {TensorProto::UINT2, "u8", 1, 2},
    {TensorProto::UINT4, "u8", 1, 4},
    {TensorProto::INT8, "i8", 1},
    {TensorProto::UINT8, "u8", 1},
    {TensorProto::INT16, "i16", 2},
    {TensorProto::UINT16, "u16", 2},
    {TensorProto::INT32, "i32", 4},
    {TensorProto::UINT32, "u32", 4},
    {TensorProto::INT64, "i64", 8},
    {TensorProto::UINT64, "u64", 8},
    {TensorProto::BOOL, "bool", 1},
    {TensorProto::FLOAT4E2M1, "u8", 1, 4},
    {TensorProto::FLOAT6E2M3, "u8", 1, 6},
    {TensorProto::FLOAT6E3M2, "u8", 1, 6},
    {TensorProto::FLOAT8E4M3FN, "u8", 1},
    {TensorProto::FLOAT8E4M3FNUZ, "u8", 1},
    {TensorProto::FLOAT8E5M2, "u8", 1},
    {TensorProto::FLOAT8E5M2FNUZ, "u8", 1},
    {TensorProto::FLOAT8E8M0, "u8", 1},
};

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
static std::vector<char> getData(const TensorProto &proto, size_t bytes) {
  if (proto.has_raw_data())
    return {proto.raw_data().begin(), proto.raw_data().end()};
  std::vector<char> data;
  switch (proto.data_type()) {
  case TensorProto::FLOAT:
    append(proto.float_data(), bytes, data);
    break;
  case TensorProto::DOUBLE:
    append(proto.double_data(), bytes, data);
    break;
  case TensorProto::INT64:
    append(proto.int64_data(), bytes, data);
    break;
  case TensorProto::UINT32:
  case TensorProto::UINT64:
    append(proto.uint64_data(), bytes, data);
    break;
  default:
    append(proto.int32_data(), bytes, data);
    break;
  }
  return data;
}

llvm::Expected<RawTensor> nnc::onnx::readTensor(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return llvm::createStringError(buffer.getError(),
                                   "cannot read " + path + ": " +
                                       buffer.getError().message());
  TensorProto proto;
  llvm::StringRef bytes = (*buffer)->getBuffer();
  if (bytes.size() > INT32_MAX ||
      !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return llvm::createStringError(path + " does not hold a TensorProto");
  const auto *kind = llvm::find_if(kDataKinds, [&](const DataKind &each) {
    return each.type == proto.data_type();
  });
  if (kind == std::end(kDataKinds))
    return llvm::createStringError(path + " holds elements of ONNX's type " +
                                   llvm::Twine(proto.data_type()) +
                                   ", which nnc does not read");
  std::vector<char> data = getData(proto, kind->bytes);
  // Elements of 6 bits are packed in raw data only.
  if (kind->bits != 0 && (kind->bits != 6 || proto.has_raw_data())) {
    int64_t count = 1;
    bool overflows = false;
    for (int64_t dim : proto.dims())
      overflows |= dim < 0 || llvm::MulOverflow(count, dim, count);
    if (!overflows && count <= Limits().tensor &&
        data.size() == llvm::divideCeil(uint64_t(count) * kind->bits, 8))
      data = unpackIntegers(kind->bits, kind->dtype == "u8", data, count);
  }
  return RawTensor{kind->dtype.str(),
                   {proto.dims().begin(), proto.dims().end()},
                   std::move(data)};
}
