//===- MeasuredFile.h - Text files of measurements ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The parts that tuning files and probe files share: a first line with a word
// and the format's number, one line for each fact, comments after #, and the
// instruction sets and the chip of the machine that was measured.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_MEASUREDFILE_H
#define NNC_COMPILER_ROUTINES_MEASUREDFILE_H

#include "dialects/target/Target.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/MemoryBuffer.h"

#include <string>
#include <vector>

namespace nnc {

/// The words by which a kind of file is recognized and named.
struct MeasuredFileKind {
  llvm::StringLiteral magic; ///< first word of the file
  int format; ///< number after the first word: version of the format
  llvm::StringLiteral name;  ///< name in messages: "a tuning file"
  llvm::StringLiteral maker; ///< command that writes such files: "nnc tune"

  /// Returns what is wrong with the first line, or an empty string.
  std::string findHeadProblem(llvm::StringRef line) const;
  /// Returns why measurements on `chip` with the instruction sets `isas` do not
  /// hold for `machine`, or an empty string if they do.
  std::string findMismatch(llvm::ArrayRef<std::string> isas,
                           llvm::StringRef chip,
                           target::MachineAttr machine) const;
};

/// Visits the lines of `text` that are neither empty nor begin with #, with
/// their numbers from 1, until `visit` returns false. Returns the number of the
/// line at which it stopped, or of the last line.
unsigned forEachLine(
    llvm::StringRef text,
    llvm::function_ref<bool(llvm::StringRef line, unsigned number)> visit);

/// Returns the location of a line of a file; line 0 means the whole file.
mlir::Location getLineLoc(mlir::MLIRContext *context, llvm::StringRef path,
                          unsigned line);

/// Reads the file at `path`. Emits a diagnostic at its location on failure.
mlir::FailureOr<std::unique_ptr<llvm::MemoryBuffer>>
readWithDiagnostic(llvm::StringRef path, mlir::MLIRContext *context);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_MEASUREDFILE_H
