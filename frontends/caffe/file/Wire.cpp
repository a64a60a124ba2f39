//===- Wire.cpp - The fields of a protobuf message, in place --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/caffe/file/Wire.h"

using namespace llvm;
using namespace nnc::caffe;

bool nnc::caffe::takeVarint(StringRef &bytes, uint64_t &value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    auto byte = static_cast<unsigned char>(bytes.front());
    bytes = bytes.drop_front();
    value |= uint64_t(byte & 0x7f) << shift;
    if (byte < 0x80)
      return true;
  }
  return false;
}

bool WireReader::next(WireField &field) {
  StringRef from = rest;
  uint64_t tag, length = 0;
  if (!takeVarint(from, tag) || tag >> 3 == 0 || tag > UINT32_MAX)
    return false;
  field.number = static_cast<uint32_t>(tag >> 3);
  field.encoding = static_cast<WireField::Encoding>(tag & 7);
  switch (field.encoding) {
  case WireField::varint:
    if (!takeVarint(from, field.value))
      return false;
    break;
  case WireField::fixed64:
    length = 8;
    break;
  case WireField::fixed32:
    length = 4;
    break;
  case WireField::bytes:
    if (!takeVarint(from, length))
      return false;
    break;
  default:
    return false;
  }
  if (length > from.size())
    return false;
  field.data = from.take_front(length);
  from = from.drop_front(length);
  field.whole = rest.drop_back(from.size());
  rest = from;
  return true;
}
