//===- WeightFiles.cpp - Weights in files beside the model ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A model may name any file. Only files in certain folders are opened, after
// symbolic links are resolved: below the model's own folder, below the folder
// of the link's target if the model's file is a link, or below a folder that
// the user names.
//
// The caches of model hubs need the second rule: there the model and its data
// are links in one folder to files in another.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/WeightFiles.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace nnc::frontends;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

WeightFiles::WeightFiles(Problems &problems, StringRef model, StringRef folder)
    : problems(problems) {
  StringRef parent = path::parent_path(model);
  folders.push_back(parent.empty() ? "." : parent.str());
  if (!folder.empty())
    folders.push_back(folder.str());
  auto addRoot = [&](StringRef root) {
    // No file lies below a folder that does not exist.
    SmallString<256> real;
    if (!root.empty() && !fs::real_path(root, real))
      roots.push_back(real.str().str());
  };
  for (const std::string &each : folders)
    addRoot(each);
  SmallString<256> real;
  if (!fs::real_path(model, real))
    addRoot(path::parent_path(real));
}

/// Returns true if the file at `real`, a path without links, lies below `root`.
static bool isBelow(StringRef real, StringRef root) {
  if (root == path::root_directory(root))
    return true;
  return real.consume_front(root) && real.starts_with(path::get_separator());
}

std::shared_ptr<llvm::MemoryBuffer> WeightFiles::open(StringRef location,
                                                      Location loc) {
  auto [entry, isNew] = files.try_emplace(location);
  if (!isNew)
    return entry->second;
  auto fail = [&](const Twine &why) {
    problems.reportLasting(ImportStatus::broken, loc)
        << "has external data in '" << location << "', " << why;
    return nullptr;
  };
  bool climbs = llvm::is_contained(
      llvm::make_range(path::begin(location), path::end(location)), "..");
  if (location.empty() || path::is_absolute(location) || climbs)
    return fail("which is not a place inside the model's folder");
  SmallString<256> file;
  fs::file_status info;
  std::error_code error;
  for (const std::string &folder : folders) {
    file = folder;
    path::append(file, location);
    error = fs::status(file, info);
    if (!error)
      break;
  }
  if (error)
    return fail("which cannot be read: " + error.message() +
                "; --external-data names a folder to look in");
  // Opening a pipe could wait forever.
  if (!fs::is_regular_file(info))
    return fail("which is not a file");
  // The check is on the opened file, in case a link changes in the meantime.
  SmallString<256> real;
  auto opened = fs::openNativeFileForRead(file, fs::OF_None, &real);
  if (!opened)
    return fail("which cannot be read: " + llvm::toString(opened.takeError()));
  auto close = llvm::make_scope_exit([&] { fs::closeFile(*opened); });
  if (llvm::none_of(roots, [&](StringRef root) { return isBelow(real, root); }))
    return fail("which leads out of the model's folder to '" + real +
                "'; if the file is meant, name its folder with "
                "--external-data");
  if ((error = fs::status(*opened, info)))
    return fail("which cannot be read: " + error.message());
  auto buffer = llvm::MemoryBuffer::getOpenFile(
      *opened, real, info.getSize(), /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail("which cannot be read: " + buffer.getError().message());
  entry->second = std::move(*buffer);
  paths.push_back(file.str().str());
  return entry->second;
}

std::optional<AsmResourceBlob> WeightFiles::map(StringRef location,
                                                uint64_t offset,
                                                uint64_t length, size_t align,
                                                Location loc) {
  auto file = open(location, loc);
  if (!file)
    return std::nullopt;
  uint64_t size = file->getBufferSize();
  if (offset > size || length > size - offset) {
    problems.reportLasting(ImportStatus::broken, loc)
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
