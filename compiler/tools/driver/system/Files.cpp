//===- Files.cpp - Files and folders, written atomically ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/system/Files.h"

#include "compiler/tools/driver/console/Terminal.h"

#include "frontends/common/ParseJson.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <unistd.h>

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace nnc::tools {

static constexpr llvm::StringLiteral manifestName = "manifest.json";

llvm::Error makeError(std::string message, std::error_code code) {
  return llvm::make_error<llvm::StringError>(std::move(message), code);
}

ExitCode codeOfFailure(std::error_code failure, ExitCode otherwise) {
  for (int fault : {ENOSPC, EDQUOT, EFBIG, EIO, EPIPE, EMFILE, ENFILE, ENOMEM})
    if (failure == std::error_code(fault, std::generic_category()))
      return ExitCode::environment;
  if (failure == std::error_code(ENODEV, std::generic_category()))
    return ExitCode::noGpu;
  return otherwise;
}

ExitCode fail(llvm::Error error, ExitCode code) {
  std::string message;
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    message += (message.empty() ? "" : "\n") + info.message();
    code = codeOfFailure(info.convertToErrorCode(), code);
  });
  // A compiler that nnc started reports this only as text, without an error
  // code.
  if (llvm::StringRef(message).contains("No space left on device"))
    code = ExitCode::environment;
  printError(message);
  return code;
}

static llvm::Error fileError(llvm::StringRef what, llvm::StringRef where,
                             std::error_code code) {
  return makeError(
      fmt::format("cannot {} {}: {}", what.str(), where.str(), code.message()),
      code);
}

llvm::Expected<std::unique_ptr<Scratch>> makeTemporaryFolder() {
  llvm::SmallString<128> folder;
  if (std::error_code code = fs::createUniqueDirectory("nnc", folder))
    return fileError("make", folder, code);
  return std::make_unique<Scratch>(folder.str().str());
}

llvm::Expected<std::unique_ptr<Scratch>>
makeStagingFolder(llvm::StringRef folder) {
  // The staging folder is created in the nearest existing folder. It is then on
  // the same disk, and no other folder must be created before the output is
  // complete.
  llvm::SmallString<128> staging(folder);
  while (!staging.empty() && !fs::is_directory(staging))
    path::remove_filename(staging);
  path::append(staging, fmt::format(".nnc-{}", ::getpid()));
  if (std::error_code code =
          fs::create_directory(staging, /*IgnoreExisting=*/false))
    return fileError("make", staging, code);
  return std::make_unique<Scratch>(staging.str().str());
}

std::vector<std::string> listFolder(const std::string &folder) {
  std::vector<std::string> paths;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end;
       it.increment(code))
    paths.push_back(it->path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Returns true if a relative path leads to a file inside the folder to which
/// it is relative.
static bool isInside(llvm::StringRef file) {
  return !path::is_absolute(file) &&
         std::none_of(path::begin(file), path::end(file),
                      [](llvm::StringRef part) { return part == ".."; });
}

/// Returns the paths of all files below `folder`, relative to it.
static std::vector<std::string> listTree(const std::string &folder) {
  std::vector<std::string> files;
  std::error_code code;
  for (fs::recursive_directory_iterator it(folder, code), end;
       !code && it != end; it.increment(code))
    if (!fs::is_directory(it->path()))
      files.push_back(it->path().substr(folder.size() + 1));
  std::sort(files.begin(), files.end());
  return files;
}

/// Returns the names of the files of nnc's output in `folder`. The list is
/// empty if there is no such output.
static std::vector<std::string> outputFiles(const std::string &folder) {
  llvm::Expected<std::string> text =
      readTextFile(folder + "/" + manifestName.str());
  if (!text) {
    llvm::consumeError(text.takeError());
    return {};
  }
  llvm::Expected<llvm::json::Value> json = frontends::parseJson(*text);
  if (!json) {
    llvm::consumeError(json.takeError());
    return {};
  }
  std::vector<std::string> names;
  auto add = [&](std::optional<llvm::StringRef> name) {
    if (name && isInside(*name))
      names.push_back(name->str());
  };
  if (llvm::json::Object *manifest = json->getAsObject()) {
    if (llvm::json::Array *files = manifest->getArray("files"))
      for (const llvm::json::Value &file : *files)
        add(file.getAsString());
    add(manifest->getString("library"));
  }
  return names;
}

llvm::Error checkOutputFolder(const std::string &folder,
                              llvm::StringRef option) {
  if (!fs::exists(folder))
    return llvm::Error::success();
  if (!fs::is_directory(folder))
    return makeError(
        fmt::format("{} is a file; give a folder to {}", folder, option.str()));
  if (!listFolder(folder).empty() && outputFiles(folder).empty())
    return makeError(fmt::format("{} holds files that are not nnc's; give an "
                                 "empty or a new folder to {}",
                                 folder, option.str()));
  return llvm::Error::success();
}

llvm::Error publish(const std::string &staging, const std::string &folder) {
  if (!fs::exists(folder)) {
    fs::create_directories(
        path::parent_path(llvm::StringRef(folder).rtrim('/')));
    if (std::error_code code = fs::rename(staging, folder))
      return fileError("write", folder, code);
    return llvm::Error::success();
  }
  std::vector<std::string> old = outputFiles(folder);
  llvm::StringSet<> written;
  for (const std::string &name : listTree(staging)) {
    std::string to = folder + "/" + name;
    std::error_code code = fs::create_directories(path::parent_path(to));
    if (!code)
      code = fs::rename(staging + "/" + name, to);
    if (code)
      return fileError("write", to, code);
    written.insert(name);
  }
  for (const std::string &name : old) {
    if (written.contains(name))
      continue;
    fs::remove(folder + "/" + name);
    // A folder of the earlier output is removed only if it is empty.
    if (llvm::StringRef part = path::parent_path(name); !part.empty())
      fs::remove(folder + "/" + part.str());
  }
  return llvm::Error::success();
}

llvm::Expected<std::string> readTextFile(const std::string &file) {
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    return fileError("read", file, buffer.getError());
  return (*buffer)->getBuffer().str();
}

/// Writes a file without reporting errors.
static std::error_code write(const std::string &file, llvm::StringRef text) {
  std::error_code code;
  llvm::raw_fd_ostream stream(file, code);
  if (!code) {
    stream << text;
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  return code;
}

llvm::Error writeTextFile(const std::string &file, llvm::StringRef text) {
  if (std::error_code code = write(file, text))
    return fileError("write", file, code);
  return llvm::Error::success();
}

llvm::Error replaceTextFile(const std::string &file, llvm::StringRef text) {
  if (file == "-") {
    writeOut(text);
    return llvm::Error::success();
  }
  // A device or a pipe is written to rather than replaced.
  if (fs::exists(file) && !fs::is_regular_file(file))
    return writeTextFile(file, text);
  Scratch staging(fmt::format("{}.{}", file, ::getpid()));
  std::error_code code = write(staging.path(), text);
  if (!code)
    code = fs::rename(staging.path(), file);
  // The message names the file that the user gave.
  if (code)
    return fileError("write", file, code);
  staging.keep();
  return llvm::Error::success();
}

} // namespace nnc::tools
