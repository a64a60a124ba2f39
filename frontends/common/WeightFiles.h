//===- WeightFiles.h - Weights in files beside the model ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_WEIGHTFILES_H
#define NNC_FRONTENDS_COMMON_WEIGHTFILES_H

#include "frontends/common/Problems.h"

#include "mlir/IR/AsmState.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <optional>

namespace nnc::frontends {

/// The files beside a model that hold its weights, mapped into memory. Each
/// file is opened once.
class WeightFiles {
public:
  /// Files of the model at the path `model` are searched in its folder, then in
  /// `folder` unless that is empty.
  WeightFiles(Problems &problems, llvm::StringRef model,
              llvm::StringRef folder);

  /// Returns `length` bytes at `offset` of the file at `location`, aligned to
  /// `align`, without copying them where they are aligned in the file. Returns
  /// nullopt, and reports why at `loc`, if that cannot be read.
  std::optional<mlir::AsmResourceBlob> map(llvm::StringRef location,
                                           uint64_t offset, uint64_t length,
                                           size_t align, mlir::Location loc);

  /// Returns the paths of the files that were read, in the order of their first
  /// use.
  const std::vector<std::string> &getPaths() const { return paths; }

private:
  std::shared_ptr<llvm::MemoryBuffer> open(llvm::StringRef location,
                                           mlir::Location loc);

  Problems &problems;
  /// The folders to search for files, in this order.
  llvm::SmallVector<std::string, 2> folders;
  /// The folders below which files must lie after symbolic links are resolved:
  /// `folders`, and the folder of the model itself if `model` is a link.
  llvm::SmallVector<std::string, 3> roots;
  llvm::StringMap<std::shared_ptr<llvm::MemoryBuffer>> files;
  std::vector<std::string> paths;
};

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_WEIGHTFILES_H
