//===- Custom.h - Custom functions for missing operators ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_OPTIONS_CUSTOM_H
#define NNC_COMPILER_TOOLS_DRIVER_OPTIONS_CUSTOM_H

#include "frontends/common/Import.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nnc::tools {

/// The functions that all --custom options of a command line name.
struct CustomFunctions {
  std::vector<frontends::CustomFunction> functions;
  /// The texts and the paths of the functions' headers and of the files beside
  /// them that they include. Both are keyed by file name.
  std::map<std::string, std::string> files, paths;

  /// Adds the function that an argument
  /// OPERATOR:FILE.h[:function=NAME][:scratch=BYTES] describes. Returns all
  /// problems of the argument.
  std::vector<std::string> add(llvm::StringRef argument);
  /// Returns a message for each of the files that cannot be in one folder with
  /// the files of a module called `name`.
  std::vector<std::string> findClashes(llvm::StringRef name) const;
  /// Stores the texts in the module, from which codegen writes the files.
  void storeIn(mlir::ModuleOp module) const;

private:
  void addFile(llvm::StringRef path, std::vector<std::string> &problems);
};

/// Parses a number of bytes such as 65536, 64K or 1M. Returns nothing if the
/// text is none.
std::optional<int64_t> parseBytes(llvm::StringRef text);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_OPTIONS_CUSTOM_H
