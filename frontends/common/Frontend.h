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

/// The first bytes of a file, by which a frontend recognises its format.
struct FileStart {
  std::string bytes; ///< 4096, or the whole file
  uint64_t size = 0; ///< of the whole file

  /// Whether the bytes are UTF-8 without control characters.
  bool isText() const;
};

/// Reads the start of a regular file.
llvm::ErrorOr<FileStart> readFileStart(llvm::StringRef path);

/// An operator that a frontend supports, for users.
struct OpRow {
  std::string name;
  /// The first and the last version of the framework's operator set (or of the
  /// operator, where versions are counted so) that is supported; 0 where all
  /// are.
  int first, last;
  std::string limits; ///< what of its definition is not supported, or empty
};

/// A tensor of test data.
struct RawTensor {
  std::string dtype; ///< as in manifest.json: "f32"
  std::vector<int64_t> shape;
  std::vector<char> data; ///< row-major, little-endian
};

/// What the rest of nnc knows of a framework.
struct Frontend {
  llvm::StringLiteral name;       ///< as users write it: "ONNX"
  llvm::StringLiteral extensions; ///< of its files, for help: ".onnx, .onnxtxt"
  /// Whether a file is of the framework's format, or looks as if it were a
  /// damaged one.
  bool (*recognizes)(const FileStart &start);
  /// Whether `recognizes` tests a magic number that no other format has.
  bool hasMagic;
  /// Reads a model. Every problem in it is reported through the context's
  /// diagnostics, not just the first, each with the file, the place in the
  /// model and what to do.
  ImportResult (*importModel)(llvm::StringRef path,
                              const ImportOptions &options,
                              mlir::MLIRContext &context);
  /// Returns all supported operators, sorted by name.
  std::vector<OpRow> (*getOps)();
  llvm::StringLiteral opsNote; ///< what to say below their table
  /// Extension of files that hold one tensor of test data, and the function
  /// that reads them; "" and null if the framework has none.
  llvm::StringLiteral tensorExtension;
  llvm::Expected<RawTensor> (*readTensor)(llvm::StringRef path);
};

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_FRONTEND_H
