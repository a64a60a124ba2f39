//===- Import.h - From an ONNX model to the nn dialect --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_IMPORT_H
#define NNC_FRONTENDS_ONNX_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace nnc::onnx {

struct ImportOptions {
  /// Sizes of the inputs whose dimensions the model leaves open, by name.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Name of the emitted module; empty: from the file's name.
  std::string name;
  /// A folder, beside the model's own, that may hold its external data; or
  /// empty.
  std::string externalData;
};

/// How an import ended. Of several problems the first in this order counts:
/// broken, unsupported, limit, unbound.
enum class ImportStatus {
  ok,
  broken,      ///< not a sound ONNX model
  unsupported, ///< sound, but it needs what nnc lacks
  unbound,     ///< open dimensions, or shapes given that do not fit the model
  limit,       ///< larger than nnc handles
  fault,       ///< nnc's own mistake
};

struct ImportResult {
  /// One `func.func @main` of nn ops on static shapes; null unless ok. The
  /// context owns the bytes of the weights: the file is not needed any more.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ImportStatus status = ImportStatus::ok;
  /// The model's own metadata entries.
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// Reads a model: binary (`.onnx`) or in ONNX's text syntax (`.onnxtxt`). Every
/// problem in it is reported through the context's diagnostics, not just the
/// first, each with the file, the node and what to do.
ImportResult importModel(llvm::StringRef path, const ImportOptions &options,
                         mlir::MLIRContext &context);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_IMPORT_H
