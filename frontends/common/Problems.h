//===- Problems.h - What is wrong with a model ----------------------------===//
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

/// Adds to a problem what was expected and what was found, which its message
/// says in a sentence, as notes at places of these names. `--json` has them in
/// fields of their own.
void addExpectation(mlir::InFlightDiagnostic &problem,
                    const llvm::Twine &expected, const llvm::Twine &found);
inline constexpr llvm::StringLiteral kExpectedNote = "expected",
                                     kFoundNote = "found";

/// Reports errors of a model, and keeps the status of the import that follows
/// from them.
class Problems {
public:
  /// `trial` and `limits` are those of ImportOptions.
  Problems(mlir::MLIRContext &context, llvm::StringRef file,
           llvm::StringRef trial = "", const Limits &limits = {});

  /// How large the model may be.
  const Limits &getLimits() const { return limits; }

  /// Where the file as a whole, or the node or value `name` in it, is.
  mlir::Location getLoc() const { return file; }
  mlir::Location getLoc(llvm::StringRef name) const;

  /// An error whose text is streamed in: `report(...) << "has no nodes"`.
  /// `op` is the operator of the node at `loc`.
  mlir::InFlightDiagnostic report(ImportStatus status, mlir::Location loc,
                                  llvm::StringRef op = "");
  mlir::InFlightDiagnostic report(ImportStatus status) {
    return report(status, file);
  }

  /// Reports a problem of the file itself, such as a constant whose data are
  /// not there. Whatever reads the constant next is not told again, so that the
  /// problem counts even where it shows in an attempt that is given up.
  mlir::InFlightDiagnostic reportLasting(ImportStatus status,
                                         mlir::Location loc);

  ImportStatus getStatus() const { return worst; }
  bool none() const { return worst == ImportStatus::ok; }
  bool isReported(mlir::Location loc) const { return places.contains(loc); }

  /// Returns all problems so far, and forgets them.
  Problems take();
  /// Adds those of `other`, which have been reported.
  void add(const Problems &other);
  /// Adds those of `other` that last.
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
