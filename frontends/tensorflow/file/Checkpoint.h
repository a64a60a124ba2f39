//===- Checkpoint.h - The values of a SavedModel's variables ----*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_FILE_CHECKPOINT_H
#define NNC_FRONTENDS_TENSORFLOW_FILE_CHECKPOINT_H

#include "frontends/common/WeightFiles.h"
#include "frontends/tensorflow/file/Load.h"

#include "llvm/ADT/StringMap.h"

namespace nnc::tensorflow {

/// The checkpoint in the folder `variables` of a SavedModel: an index, and
/// files (shards) with the bytes of all tensors.
class Checkpoint {
public:
  Checkpoint(std::shared_ptr<const LoadedModel> model, WeightFiles &files,
             Problems &problems);

  /// Returns the value of the variable `name`, or null after an error at `loc`.
  mlir::ElementsAttr getValue(llvm::StringRef name, mlir::Location loc);

private:
  void readIndex();
  void findKeys();
  void addAliases();
  mlir::ElementsAttr read(llvm::StringRef key, llvm::StringRef name,
                          mlir::Location loc);

  std::shared_ptr<const LoadedModel> model;
  WeightFiles &files;
  Problems &problems;
  bool isRead = false, isSound = false;
  int32_t shards = 0;
  /// The entries of the index by their keys.
  llvm::StringMap<pb::BundleEntryProto> entries;
  /// The keys of variables that the graph restores, by the variables' names.
  llvm::StringMap<std::string> keys;
  llvm::StringMap<mlir::ElementsAttr> values;
};

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_FILE_CHECKPOINT_H
