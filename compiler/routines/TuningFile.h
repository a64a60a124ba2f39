//===- TuningFile.h - The tuning files of nnc tune and nnc compile --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A tuning file is a text with one line per measurement. The lines are sorted,
// so that version control shows what changed:
//
//   nnc-tuning 1
//   nnc 0.2.0
//   chip znver4
//   isas avx512 avx2 sse4 portable
//   threads 1
//   max-error 3e-06
//   choice NAME : ROUTINE PARAMS...
//   measured LAYER : ROUTINE PARAMS... : NANOSECONDS
//
// LAYER is a text of describeLayer or describeAdapt. ROUTINE runs on the host;
// on another device it is DEVICE:ROUTINE, with the device's name. chip and isas
// are the host's. If whole plans were run, the choices of the fastest one are
// listed in the order of the model's layers, and max-error is the --max-error
// that they comply with. A file measured with
// --precision=f16 has the line "precision f16". Empty lines and lines that
// start with # are ignored.
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
  std::string version; ///< version of nnc that measured
  std::string chip;    ///< LLVM's name of the CPU
  std::vector<std::string> isas;
  int64_t threads = 1;
  Precision precision = Precision::f32;
  double maxError = 0;          ///< --max-error of the choices
  std::vector<Subject> choices; ///< one for each layer, by name, or none
  Measurements measurements;

  /// Returns the choices if their rounding error is at most `maxError`, or else
  /// an empty list.
  llvm::ArrayRef<Subject> getChoices(double maxError) const;

  std::string print() const;
};

/// A problem with a line of a tuning file. Either the whole file is broken, or
/// the line holds something that this version of nnc does not know, and is
/// ignored.
struct TuningProblem {
  unsigned line;
  std::string message;
  bool isBroken;
};

/// Parses the tuning file in `text`. Returns nullopt if it is broken; the last
/// of `problems` then says why.
std::optional<TuningFile>
parseTuningFile(llvm::StringRef text,
                llvm::SmallVectorImpl<TuningProblem> &problems);

/// Reads the tuning file at `path` for a model that is compiled for `machine`.
/// Warns of lines that are ignored. Fails with a diagnostic if the file cannot
/// be read, is broken, or was measured on another machine.
mlir::FailureOr<TuningFile> readTuningFile(llvm::StringRef path,
                                           target::MachineAttr machine);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_TUNINGFILE_H
