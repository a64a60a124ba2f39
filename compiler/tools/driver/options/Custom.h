//===- Custom.h - Functions of the user's for operators that nnc lacks ----===//
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
  /// The texts of their headers, and of the files beside these that they
  /// include, by name; and the paths of the same.
  std::map<std::string, std::string> files, paths;

  /// Adds what an argument OPERATOR:FILE.h[:function=NAME][:scratch=BYTES]
  /// says. Returns all that is wrong with it.
  std::vector<std::string> add(llvm::StringRef argument);
  /// Returns which of the files cannot lie beside those of a module that is
  /// called `name`, and why.
  std::vector<std::string> findClashes(llvm::StringRef name) const;
  /// Stores the texts in the module, from which codegen writes them.
  void storeIn(mlir::ModuleOp module) const;

private:
  void addFile(llvm::StringRef path, std::vector<std::string> &problems);
};

/// Returns a number of bytes such as 65536, 64K or 1M, or nothing.
std::optional<int64_t> parseBytes(llvm::StringRef text);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_OPTIONS_CUSTOM_H
