//===- Wire.h - The fields of a protobuf message, in place ------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
//
// protobuf copies all bytes that it parses, which for files of weights are
// hundreds of megabytes. This reader returns fields as parts of the mapped file
// instead.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_CAFFE_FILE_WIRE_H
#define NNC_FRONTENDS_CAFFE_FILE_WIRE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace nnc::caffe {

/// A field of a protobuf message in its binary encoding.
struct WireField {
  /// The encodings of protobuf. Groups, which it has given up, are no part.
  enum Encoding { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  uint32_t number = 0;
  Encoding encoding = varint;
  uint64_t value = 0;    ///< of a varint
  llvm::StringRef data;  ///< of all other encodings, without a length
  llvm::StringRef whole; ///< the field with its tag
};

/// Reads the fields of a message one after the other.
class WireReader {
public:
  explicit WireReader(llvm::StringRef message) : rest(message) {}

  /// Reads the next field. Returns false at the end of the message and at a
  /// field that is not valid or reaches beyond the end.
  bool next(WireField &field);
  /// Returns true if all fields were read.
  bool isAtEnd() const { return rest.empty(); }

private:
  llvm::StringRef rest;
};

/// Removes a varint from the front of `bytes`. Returns false if there is none.
bool takeVarint(llvm::StringRef &bytes, uint64_t &value);

} // namespace nnc::caffe

#endif // NNC_FRONTENDS_CAFFE_FILE_WIRE_H
