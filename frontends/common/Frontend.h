//===- Frontend.h - What nnc asks of a frontend ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_FRONTEND_H
#define NNC_FRONTENDS_COMMON_FRONTEND_H

#include "frontends/common/Import.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/ErrorOr.h"

namespace nnc::frontends {

/// The first bytes of a model's file, by which a frontend recognises its
/// format. A folder has no bytes.
struct FileStart {
  std::string path;
  std::string bytes; ///< first 4096 bytes, or the whole file
  uint64_t size = 0; ///< size of the whole file in bytes
  bool isFolder = false;

  /// Returns true if the bytes are UTF-8 without control characters.
  bool isText() const;
};

/// Reads the start of a regular file, or that of a folder.
llvm::ErrorOr<FileStart> readFileStart(llvm::StringRef path);

/// An operator that a frontend supports, as a row of the tables for users.
struct OpRow {
  std::string name;
  /// The first and the last supported version of the framework's operator set,
  /// or of the operator itself if the framework counts those versions. 0 means
  /// that all versions are supported.
  int first, last;
  std::string limits; ///< unsupported parts of its definition, or empty
};

/// A tensor of test data.
struct RawTensor {
  std::string dtype; ///< as in manifest.json: "f32"
  std::vector<int64_t> shape;
  std::vector<char> data; ///< row-major, little-endian
};

/// The interface between nnc and the frontend of one framework.
struct Frontend {
  llvm::StringLiteral name; ///< framework's name as users write it: "ONNX"
  llvm::StringLiteral extensions; ///< for --help: ".onnx, .onnxtxt"
  /// Returns true if a file has the framework's format or looks like a damaged
  /// file of that format.
  bool (*recognizes)(const FileStart &start);
  /// True if `recognizes` tests a magic number that no other format has.
  bool hasMagic;
  /// Reads a model. All problems in it, not just the first, are reported as
  /// diagnostics of the context, each with the file, the place in the model and
  /// what to do.
  ImportResult (*importModel)(llvm::StringRef path,
                              const ImportOptions &options,
                              mlir::MLIRContext &context);
  /// Returns all supported operators, sorted by name.
  std::vector<OpRow> (*getOps)();
  llvm::StringLiteral opsNote; ///< text below the table of operators
  /// The extension of files that hold one tensor of test data, and the function
  /// that reads them; "" and null if the framework has no such files.
  llvm::StringLiteral tensorExtension;
  llvm::Expected<RawTensor> (*readTensor)(llvm::StringRef path);
  /// The extensions, as `extensions`, of files that hold the weights of models
  /// apart, which --weights names; "" if the format has none.
  llvm::StringLiteral weightExtensions = "";
  /// True if models can have several signatures, of which --signature names
  /// one.
  bool hasSignatures = false;
};

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_FRONTEND_H
