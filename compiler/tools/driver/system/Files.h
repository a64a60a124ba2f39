//===- Files.h - Files and folders, written atomically --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_SYSTEM_FILES_H
#define NNC_COMPILER_TOOLS_DRIVER_SYSTEM_FILES_H

#include "compiler/tools/driver/console/Supervise.h"

#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace nnc::tools {

/// Returns an error with the text `message`. `code` is the error code of the
/// system, if there is one.
llvm::Error makeError(std::string message,
                      std::error_code code = llvm::inconvertibleErrorCode());

/// Returns ExitCode::environment if the cause of `failure` is the environment
/// rather than the user's arguments, such as a full disk or an error of a
/// device. Returns `otherwise` in all other cases.
ExitCode codeOfFailure(std::error_code failure, ExitCode otherwise);

/// Prints the error. Returns ExitCode::environment if codeOfFailure() does for
/// the error, and otherwise `code`.
ExitCode fail(llvm::Error error, ExitCode code);

/// Creates a new temporary folder below $TMPDIR.
llvm::Expected<std::unique_ptr<Scratch>> makeTemporaryFolder();

/// Creates a new folder on the same disk as `folder`, which need not exist.
llvm::Expected<std::unique_ptr<Scratch>>
makeStagingFolder(llvm::StringRef folder);

/// Succeeds if nnc may write its output to `folder`: it does not exist, is
/// empty, or holds an earlier output of nnc. `option` is the command-line
/// option that names the folder.
llvm::Error checkOutputFolder(const std::string &folder,
                              llvm::StringRef option = "-o");

/// Moves the contents of the folder `staging` to `folder`. If `folder` exists,
/// the user's own files in it stay, and files of an earlier output are removed.
llvm::Error publish(const std::string &staging, const std::string &folder);

llvm::Expected<std::string> readTextFile(const std::string &path);
llvm::Error writeTextFile(const std::string &path, llvm::StringRef text);
/// Atomically replaces a file by one that holds `text`; "-" is stdout.
llvm::Error replaceTextFile(const std::string &path, llvm::StringRef text);

/// Returns the paths of the files in `folder`, sorted.
std::vector<std::string> listFolder(const std::string &folder);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_SYSTEM_FILES_H
