//===- Frontend.cpp - What nnc asks of a frontend -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Frontend.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace nnc::frontends;

bool FileStart::isText() const {
  for (char c : bytes)
    if (static_cast<unsigned char>(c) < 0x20 && !llvm::isSpace(c))
      return false;
  // The last character may be cut off.
  for (size_t cut = 0; cut < std::min<size_t>(4, bytes.size()); ++cut)
    if (llvm::json::isUTF8(llvm::StringRef(bytes).drop_back(cut)))
      return true;
  return false;
}

llvm::ErrorOr<FileStart> nnc::frontends::readFileStart(llvm::StringRef path) {
  FileStart start;
  start.path = path.str();
  if (llvm::sys::fs::is_directory(path)) {
    start.isFolder = true;
    return start;
  }
  if (std::error_code error = llvm::sys::fs::file_size(path, start.size))
    return error;
  auto buffer = llvm::MemoryBuffer::getFileSlice(
      path, std::min<uint64_t>(start.size, 4096), /*Offset=*/0);
  if (!buffer)
    return buffer.getError();
  start.bytes = (*buffer)->getBuffer().str();
  return start;
}
