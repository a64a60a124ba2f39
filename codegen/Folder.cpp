//===- Folder.cpp - A folder that appears whole or not at all -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// Returns true if a folder is empty or holds an earlier output of nnc.
static bool isOurs(const std::string &folder) {
  if (fs::exists(folder + "/manifest.json"))
    return true;
  std::error_code error;
  return fs::directory_iterator(folder, error) == fs::directory_iterator();
}

FailureOr<OutputFolder> OutputFolder::create(Location location,
                                             StringRef target,
                                             std::error_code &systemError) {
  SmallString<128> whole(target);
  if (std::error_code error = fs::make_absolute(whole))
    return emitError(location) << "cannot find the folder of '" << target
                               << "': " << error.message();
  path::remove_dots(whole, /*remove_dot_dot=*/true);
  if (fs::exists(whole) &&
      !(fs::is_directory(whole) && isOurs(whole.str().str())))
    return emitError(location)
           << "'" << target << "' exists and nnc did not write it; choose "
           << "another folder with -o, or remove it";
  if ((systemError = fs::create_directories(path::parent_path(whole))))
    return emitError(location) << "cannot make the folder of '" << target
                               << "': " << systemError.message();
  SmallString<128> temporary;
  // The temporary folder is beside the target, so that both are on one file
  // system.
  if ((systemError = fs::createUniqueDirectory(whole, temporary)))
    return emitError(location) << "cannot write beside '" << target
                               << "': " << systemError.message();
  return OutputFolder(location, systemError, whole.str().str(),
                      temporary.str().str());
}

OutputFolder::OutputFolder(OutputFolder &&other)
    : location(other.location), systemError(other.systemError),
      target(std::move(other.target)),
      temporary(std::exchange(other.temporary, {})) {}

OutputFolder::~OutputFolder() {
  if (!temporary.empty())
    fs::remove_directories(temporary);
}

LogicalResult OutputFolder::fail(StringRef what, std::error_code error) {
  systemError = error;
  return emitError(location)
         << "cannot write '" << what << "': " << error.message();
}

LogicalResult OutputFolder::add(
    StringRef name,
    function_ref<LogicalResult(llvm::raw_pwrite_stream &)> write) {
  std::string file = temporary + "/" + name.str();
  if (std::error_code error = fs::create_directories(path::parent_path(file)))
    return fail(target + "/" + name.str(), error);
  std::error_code error;
  llvm::raw_fd_ostream stream(file, error);
  if (error)
    return fail(target + "/" + name.str(), error);
  LogicalResult written = write(stream);
  stream.close();
  error = stream.error();
  // A stream whose error has not been cleared ends the process when it is
  // destroyed.
  stream.clear_error();
  if (!error || mlir::failed(written))
    return written;
  return fail(target + "/" + name.str(), error);
}

LogicalResult OutputFolder::add(StringRef name, StringRef text) {
  return add(name, [&](llvm::raw_pwrite_stream &stream) {
    stream << text;
    return success();
  });
}

LogicalResult OutputFolder::commit() {
  fs::setPermissions(temporary, fs::perms(0755));
  // rename() can replace only an empty folder, so the old one is renamed first.
  std::string old = temporary + ".old";
  bool exists = fs::exists(target);
  if (exists)
    if (std::error_code error = fs::rename(target, old))
      return fail(target, error);
  if (std::error_code error = fs::rename(temporary, target)) {
    if (exists)
      fs::rename(old, target);
    return fail(target, error);
  }
  temporary.clear();
  if (exists)
    fs::remove_directories(old);
  return success();
}
