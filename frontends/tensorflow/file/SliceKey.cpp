//===- SliceKey.cpp - Keys of slices in checkpoints -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A checkpoint of a variable in parts (a partitioned variable) has an entry for
// each slice. Its key has the order of its parts (name, number of axes, start
// and length along each axis) in TensorFlow's ordered code: numbers and strings
// whose bytes sort as they do.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/file/SliceKey.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

/// Appends a number of 0 or more: how many bytes it has, then these, the
/// highest first.
static void appendUnsigned(std::string &key, uint64_t value) {
  unsigned bytes = value == 0 ? 0 : Log2_64(value) / 8 + 1;
  key.push_back(static_cast<char>(bytes));
  for (unsigned i = bytes; i-- > 0;)
    key.push_back(static_cast<char>(value >> (8 * i)));
}

/// Appends a string, its end marked by the bytes 0 and 1.
static void appendText(std::string &key, StringRef text) {
  for (char c : text) {
    key.push_back(c);
    if (c == '\0')
      key.push_back('\xff');
    else if (c == '\xff')
      key.push_back('\0');
  }
  key.push_back('\0');
  key.push_back('\1');
}

/// Appends a signed number as L bytes of two's complement, whose first L bits
/// are inverted to L bits of 1, and a 0 for numbers of 0 or more.
static void appendSigned(std::string &key, int64_t value) {
  uint64_t size = value < 0 ? ~uint64_t(value) : uint64_t(value);
  unsigned bits = size == 0 ? 0 : Log2_64(size) + 1, bytes = bits / 7 + 1;
  std::string text;
  for (unsigned i = bytes; i-- > 0;)
    text.push_back(i >= 8 ? (value < 0 ? '\xff' : '\0')
                          : static_cast<char>(value >> (8 * i)));
  for (unsigned bit = 0; bit < bytes; ++bit)
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (0x80 >> (bit % 8)));
  key += text;
}

std::optional<std::string> nnc::tensorflow::makeSliceKey(StringRef name,
                                                         StringRef part) {
  auto [sizes, slice] = part.rsplit(' ');
  SmallVector<StringRef> dims, extents;
  sizes.split(dims, ' ');
  slice.split(extents, ':');
  if (dims.size() != extents.size())
    return std::nullopt;
  std::string key;
  appendUnsigned(key, 0);
  appendText(key, name);
  appendUnsigned(key, extents.size());
  bool isWhole = true;
  for (auto [dim, extent] : zip_equal(dims, extents)) {
    int64_t size = 0, start = 0, length = -1;
    auto [first, second] = extent.split(',');
    if (dim.getAsInteger(10, size) ||
        (extent != "-" &&
         (first.getAsInteger(10, start) || second.getAsInteger(10, length))))
      return std::nullopt;
    isWhole &= start == 0 && (length == -1 || length == size);
    appendSigned(key, start);
    appendSigned(key, length);
  }
  return isWhole ? name.str() : key;
}
