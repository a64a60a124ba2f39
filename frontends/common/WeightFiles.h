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

/// Maps files that a model names as the places of its weights. Each file is
/// opened once.
class WeightFiles {
public:
  /// The files of the model at `model` lie beside it, or else in `folder` where
  /// that is not empty.
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
  /// Where to look for files, in this order.
  llvm::SmallVector<std::string, 2> folders;
  /// Folders below which files may lie, once links are followed: those of
  /// `folders`, and that of the model itself where `model` is a link.
  llvm::SmallVector<std::string, 3> roots;
  llvm::StringMap<std::shared_ptr<llvm::MemoryBuffer>> files;
  std::vector<std::string> paths;
};

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_WEIGHTFILES_H
