//===- Registry.h - All frontends -----------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The interface through which tools read models of any format. The content of a
// model's file selects its frontend.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_REGISTRY_H
#define NNC_FRONTENDS_REGISTRY_H

#include "frontends/common/Frontend.h"

#include "llvm/ADT/ArrayRef.h"

namespace nnc::frontends {

/// Returns all frontends, in the order of frontends.inc.
llvm::ArrayRef<const Frontend *> getFrontends();

/// Returns the formats that nnc reads as a text for --help: "ONNX (.onnx,
/// .onnxtxt)".
std::string describeFormats();

/// Returns the frontend that recognises a file, or null if none does.
const Frontend *findFrontend(const FileStart &start);

/// Returns true if the model at `path` is a folder of some format, such as a
/// SavedModel of TensorFlow.
bool isModelFolder(llvm::StringRef path);

/// Reads the model at `path` with the frontend that recognises it. If none
/// does, reports what the file looks like and what to do. `command` is the nnc
/// command that messages suggest for giving sizes to open dimensions; if it is
/// empty, they suggest nnc check, or nnc compile for upper bounds.
ImportResult importModel(llvm::StringRef path, const ImportOptions &options,
                         mlir::MLIRContext &context,
                         llvm::StringRef command = "");

/// Returns the extensions of files that hold a tensor of test data.
llvm::SmallVector<llvm::StringRef> getTensorExtensions();

/// Reads a file with one of the extensions of getTensorExtensions().
llvm::Expected<RawTensor> readTensorFile(llvm::StringRef path);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_REGISTRY_H
