//===- Files.h - Folders that appear whole or not at all ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_DRIVER_FILES_H
#define NNC_TOOLS_DRIVER_FILES_H

#include "compiler/tools/driver/Supervise.h"

#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace nnc::tools {

/// An error whose text is `message`; `code` says what the system said.
llvm::Error makeError(std::string message,
                      std::error_code code = llvm::inconvertibleErrorCode());

/// ExitCode::environment where the system's `failure` is none of the user's
/// arguments (a full disk, a device's error), else `otherwise`.
ExitCode codeOfFailure(std::error_code failure, ExitCode otherwise);

/// Prints the error and returns the code, or that of the environment.
ExitCode fail(llvm::Error error, ExitCode code);

/// A new, empty folder for passing use, below $TMPDIR.
llvm::Expected<std::unique_ptr<Scratch>> makeTemporaryFolder();

/// A new, empty folder on the disk where `folder` is or will be.
llvm::Expected<std::unique_ptr<Scratch>>
makeStagingFolder(llvm::StringRef folder);

/// Whether nnc may write its output to `folder`: it is not there, is empty, or
/// holds an output of nnc's. `option` names the folder on the command line.
llvm::Error checkOutputFolder(const std::string &folder,
                              llvm::StringRef option = "-o");

/// Makes the folder `staging` the contents of `folder`. Where `folder` is there
/// already, the user's own files in it stay, and those of an earlier output go.
llvm::Error publish(const std::string &staging, const std::string &folder);

llvm::Expected<std::string> readTextFile(const std::string &path);
llvm::Error writeTextFile(const std::string &path, llvm::StringRef text);
/// Puts a file with this text in the place of an old one, whole or not at all;
/// "-" is stdout.
llvm::Error replaceTextFile(const std::string &path, llvm::StringRef text);

/// Paths of the files in `folder`, sorted.
std::vector<std::string> listFolder(const std::string &folder);

} // namespace nnc::tools

#endif // NNC_TOOLS_DRIVER_FILES_H
