//===- Npy.cpp - Reads and writes NumPy's .npy files ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The format:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/driver/tensors/Tensor.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nnc::tools {

static constexpr llvm::StringLiteral magic = "\x93NUMPY";

/// NumPy's codes of the element types (little-endian), in the order of Dtype.
/// NumPy has no bfloat16: it saves arrays of the package ml_dtypes as two bytes
/// without a type.
static const char *const descriptors[] = {"<f4", "<f8", "<f2", "<V2", "|i1",
                                          "|u1", "<i2", "<u2", "<i4", "<u4",
                                          "<i8", "<u8", "|b1"};

namespace {
/// The three entries of a file's header, which is a literal of a Python
/// dictionary.
struct Header {
  llvm::StringRef descriptor, fortran, shape;
};
} // namespace

/// Returns the text of the value of `key` in a dictionary like {'descr': '<f4',
/// 'shape': (1, 3), }.
static llvm::StringRef entry(llvm::StringRef text, llvm::StringRef key) {
  size_t at = text.find(("'" + key + "':").str());
  if (at == llvm::StringRef::npos)
    return {};
  llvm::StringRef value = text.drop_front(at + key.size() + 3).ltrim();
  if (value.starts_with("("))
    return value.take_front(value.find(')') + 1);
  return value.take_until([](char c) { return c == ',' || c == '}'; }).trim();
}

llvm::Expected<Tensor> parseNpy(llvm::StringRef bytes) {
  if (!bytes.consume_front(magic) || bytes.size() < 4)
    return makeError("is not a .npy file; write it with numpy.save");
  unsigned version = static_cast<unsigned char>(bytes[0]);
  size_t lengthBytes = version == 1 ? 2 : 4;
  if (version < 1 || version > 3 || bytes.size() < 2 + lengthBytes)
    return makeError(fmt::format(
        "has version {} of the .npy format; nnc reads 1 to 3", version));
  size_t length = 0;
  for (size_t i = 0; i < lengthBytes; ++i)
    length |= size_t(static_cast<unsigned char>(bytes[2 + i])) << (8 * i);
  bytes = bytes.drop_front(2 + lengthBytes);
  if (bytes.size() < length)
    return makeError("ends within its header");
  llvm::StringRef text = bytes.take_front(length);
  bytes = bytes.drop_front(length);
  Header header{entry(text, "descr").trim("'\""), entry(text, "fortran_order"),
                entry(text, "shape")};

  if (header.descriptor == "|V2")
    header.descriptor = "<V2";
  const auto *found = llvm::find(descriptors, header.descriptor);
  if (found == std::end(descriptors))
    return makeError(fmt::format(
        "has elements of NumPy's type {}; nnc reads {}; convert it with "
        "astype()",
        header.descriptor.empty() ? "?" : header.descriptor.str(),
        fmt::join(descriptors, ", ")));
  if (header.fortran != "False")
    return makeError("is in Fortran order; write it with "
                     "numpy.save(file, numpy.ascontiguousarray(array))");
  Tensor tensor;
  tensor.dtype = Dtype(found - std::begin(descriptors));
  llvm::SmallVector<llvm::StringRef> dims;
  if (!header.shape.consume_front("(") || !header.shape.consume_back(")"))
    return makeError("has a header without a shape");
  header.shape.split(dims, ',', -1, /*KeepEmpty=*/false);
  int64_t size = dtypeBytes(tensor.dtype);
  for (llvm::StringRef dim : dims) {
    int64_t value;
    if (dim.trim().empty())
      continue;
    if (dim.trim().getAsInteger(10, value) || value < 0 ||
        llvm::MulOverflow(size, value, size))
      return makeError(fmt::format("has the shape ({})", header.shape.str()));
    tensor.shape.push_back(value);
  }
  if (int64_t(bytes.size()) != size)
    return makeError(fmt::format("holds {} bytes of data, its shape {} of {} "
                                 "takes {}",
                                 bytes.size(), shapeText(tensor.shape),
                                 dtypeName(tensor.dtype), size));
  tensor.data.assign(bytes.begin(), bytes.end());
  return tensor;
}

llvm::Expected<Tensor> readNpy(const std::string &path) {
  llvm::Expected<std::string> bytes = readTextFile(path);
  if (!bytes)
    return bytes.takeError();
  llvm::Expected<Tensor> tensor = parseNpy(*bytes);
  if (!tensor)
    return makeError(path + " " + llvm::toString(tensor.takeError()));
  return tensor;
}

llvm::Error writeNpy(const std::string &path, const Tensor &tensor) {
  std::string header = fmt::format(
      "{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
      descriptors[int(tensor.dtype)], fmt::join(tensor.shape, ", "),
      tensor.shape.size() == 1 ? "," : "");
  // The data starts at a multiple of 64 bytes, and the header ends with a
  // newline.
  size_t before = magic.size() + 4;
  size_t padded = llvm::alignTo(before + header.size() + 1, 64);
  header.resize(padded - before - 1, ' ');
  header += '\n';
  std::string bytes = magic.str();
  bytes += {'\1', '\0', char(header.size() & 255), char(header.size() >> 8)};
  bytes += header;
  bytes.append(tensor.data.begin(), tensor.data.end());
  return writeTextFile(path, bytes);
}

} // namespace nnc::tools
