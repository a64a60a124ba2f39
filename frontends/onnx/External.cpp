//===- External.cpp - Weights in files beside the model -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A model may name any file; only those below its own folder are opened.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Weights.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace nnc::onnx;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// Whether `file` lies below `folder` once links are followed; `real` is where.
static bool isInside(StringRef folder, StringRef file,
                     SmallVectorImpl<char> &real) {
  SmallString<256> root;
  if (fs::real_path(folder, root) || fs::real_path(file, real))
    return false;
  root += path::get_separator();
  return StringRef(real.data(), real.size()).starts_with(root);
}

std::shared_ptr<llvm::MemoryBuffer> Weights::openExternal(StringRef location,
                                                          Location loc) {
  auto [entry, isNew] = files.try_emplace(location);
  if (!isNew)
    return entry->second;
  auto fail = [&](const Twine &why) {
    problems.report(ImportStatus::broken, loc)
        << "has external data in '" << location << "', " << why;
    return nullptr;
  };
  bool climbs = llvm::is_contained(
      llvm::make_range(path::begin(location), path::end(location)), "..");
  if (location.empty() || path::is_absolute(location) || climbs)
    return fail("which is not a place inside the model's folder");
  SmallString<256> file(folder.empty() ? StringRef(".") : StringRef(folder));
  path::append(file, location);
  fs::file_status info;
  if (std::error_code error = fs::status(file, info))
    return fail("which cannot be read: " + error.message());
  SmallString<256> real;
  if (!isInside(folder.empty() ? StringRef(".") : StringRef(folder), file,
                real))
    return fail("which leads out of the model's folder");
  if (!fs::is_regular_file(info))
    return fail("which is not a file");
  auto buffer = llvm::MemoryBuffer::getFile(real, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail("which cannot be read: " + buffer.getError().message());
  entry->second = std::move(*buffer);
  return entry->second;
}

std::optional<AsmResourceBlob>
Weights::mapExternal(const ::onnx::TensorProto &tensor, int64_t bytes,
                     size_t align, Location loc) {
  std::string location;
  uint64_t offset = 0, length = bytes;
  for (const auto &entry : tensor.external_data()) {
    StringRef key = entry.key(), value = entry.value();
    bool isNumber = true;
    if (key == "location")
      location = value.str();
    else if (key == "offset")
      isNumber = llvm::to_integer(value, offset, 10);
    else if (key == "length")
      isNumber = llvm::to_integer(value, length, 10);
    if (!isNumber) {
      problems.report(ImportStatus::broken, loc)
          << "has external data whose " << key << " is '" << value
          << "', not a number";
      return std::nullopt;
    }
  }
  auto file = openExternal(location, loc);
  if (!file)
    return std::nullopt;
  uint64_t size = file->getBufferSize();
  if (offset > size || length > size - offset) {
    problems.report(ImportStatus::broken, loc)
        << "has external data of " << length << " bytes at offset " << offset
        << " of '" << location << "', which is only " << size << " bytes long";
    return std::nullopt;
  }
  ArrayRef<char> data(file->getBufferStart() + offset, length);
  if (reinterpret_cast<uintptr_t>(data.data()) % align)
    return HeapAsmResourceBlob::allocateAndCopyWithAlign(data, align);
  return AsmResourceBlob(
      data, align, [file](void *, size_t, size_t) {},
      /*dataIsMutable=*/false);
}
