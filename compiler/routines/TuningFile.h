//===- TuningFile.h - What nnc tune writes and nnc compile reads ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Text with a line a measurement, sorted, so that version control shows what
// changed:
//
//   nnc-tuning 1
//   nnc 0.1.0
//   chip znver4
//   isas avx512 avx2 sse4 portable
//   threads 1
//   max-error 3e-06
//   choice NAME : ROUTINE PARAMS...
//   measured LAYER : ROUTINE PARAMS... : NANOSECONDS
//
// LAYER is a text of describeLayer or describeAdapt. Where whole plans were
// run, the fastest one's choices follow in the order of the model's layers,
// with the --max-error that they keep to. What was measured with
// --precision=f16 has the line "precision f16". Empty lines and those that
// start with # say nothing.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_TUNINGFILE_H
#define NNC_COMPILER_ROUTINES_TUNINGFILE_H

#include "compiler/routines/Measurements.h"
#include "compiler/routines/Precision.h"
#include "dialects/target/Target.h"

#include "mlir/IR/Diagnostics.h"

namespace nnc {

struct TuningFile {
  std::string version; ///< of the nnc that measured
  std::string chip;    ///< LLVM's name
  std::vector<std::string> isas;
  int64_t threads = 1;
  Precision precision = Precision::f32;
  double maxError = 0;          ///< that the choices keep to
  std::vector<Subject> choices; ///< by the names of all layers, or none
  Measurements measurements;

  /// The choices, where they lose no more than `maxError`.
  llvm::ArrayRef<Subject> getChoices(double maxError) const;

  std::string print() const;
};

/// What is wrong with a line: without it the file is broken, or the line says
/// what this nnc does not know, and is left out.
struct TuningProblem {
  unsigned line;
  std::string message;
  bool isBroken;
};

/// The file in `text`. Where it is broken, the last of `problems` says why.
std::optional<TuningFile>
parseTuningFile(llvm::StringRef text,
                llvm::SmallVectorImpl<TuningProblem> &problems);

/// Reads `path` for a model that is compiled for `machine`. Reports lines that
/// are left out, and fails, reporting why, where the file cannot be read, is
/// broken, or was measured on another machine.
mlir::FailureOr<TuningFile> readTuningFile(llvm::StringRef path,
                                           target::MachineAttr machine);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_TUNINGFILE_H
