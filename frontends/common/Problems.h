//===- Problems.h - Reports of errors in a model --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_PROBLEMS_H
#define NNC_FRONTENDS_COMMON_PROBLEMS_H

#include "frontends/common/Import.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace nnc::frontends {

/// Attaches to a problem what was expected and what was found, as notes at
/// locations with the names "expected" and "found". The message of the problem
/// says both in a sentence; `--json` prints them as separate fields.
void addExpectation(mlir::InFlightDiagnostic &problem,
                    const llvm::Twine &expected, const llvm::Twine &found);
inline constexpr llvm::StringLiteral kExpectedNote = "expected",
                                     kFoundNote = "found";

/// A reporter of errors of a model, which keeps the import status that follows
/// from them.
class Problems {
public:
  /// `trial` and `limits` are the fields of ImportOptions.
  Problems(mlir::MLIRContext &context, llvm::StringRef file,
           llvm::StringRef trial = "", const Limits &limits = {});

  /// Returns the limits on the size of the model.
  const Limits &getLimits() const { return limits; }

  /// Returns the location of the file as a whole, or of the node or value
  /// `name` in it.
  mlir::Location getLoc() const { return file; }
  mlir::Location getLoc(llvm::StringRef name) const;

  /// Returns a new error, whose text is streamed in: `report(...) << "has no
  /// nodes"`. `op` is the operator of the node at `loc`.
  mlir::InFlightDiagnostic report(ImportStatus status, mlir::Location loc,
                                  llvm::StringRef op = "");
  mlir::InFlightDiagnostic report(ImportStatus status) {
    return report(status, file);
  }

  /// Reports a problem of the file itself, such as a constant with missing
  /// data. It is reported only once, not for every reader of the constant, and
  /// therefore remains an error even if an Attempt that found it is abandoned.
  mlir::InFlightDiagnostic reportLasting(ImportStatus status,
                                         mlir::Location loc);

  ImportStatus getStatus() const { return worst; }
  bool none() const { return worst == ImportStatus::ok; }
  bool isReported(mlir::Location loc) const { return places.contains(loc); }

  /// Returns all problems so far, and forgets them.
  Problems take();
  /// Adds the problems of `other`, which have been reported.
  void add(const Problems &other);
  /// Adds the problems of `other` that reportLasting() reported.
  void addLasting(const Problems &other);
  bool hasLasting() const { return !lasting.empty(); }
  bool isLasting(mlir::Location loc) const { return lasting.contains(loc); }

private:
  mlir::Location file;
  std::string trial;
  Limits limits;
  llvm::DenseSet<mlir::Location> places;
  llvm::DenseMap<mlir::Location, ImportStatus> lasting;
  ImportStatus worst = ImportStatus::ok;
};

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_PROBLEMS_H
