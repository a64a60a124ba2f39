//===- Stages.h - Reports on passes and their results --------- -*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_COMPILE_STAGES_H
#define NNC_COMPILER_TOOLS_DRIVER_COMPILE_STAGES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/ADT/DenseMap.h"

#include <chrono>
#include <string>

namespace nnc::tools {

/// Reports the pass that runs to the supervisor and the progress line, and the
/// pass that failed first to the driver. With --verbose it also prints the time
/// of each pass.
class WatchPasses : public mlir::PassInstrumentation {
public:
  explicit WatchPasses(std::string &failed) : failed(failed) {}
  void runBeforePass(mlir::Pass *pass, mlir::Operation *op) override;
  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override;
  void runAfterPassFailed(mlir::Pass *pass, mlir::Operation *op) override;

private:
  std::string &failed;
  /// The start times of the passes that are running.
  llvm::DenseMap<std::pair<mlir::Pass *, mlir::Operation *>,
                 std::chrono::steady_clock::time_point>
      starts;
};

/// Return the text that --verbose prints about a model that was read, about a
/// compiled module, and about a folder that was written.
std::string describeImported(mlir::ModuleOp module);
std::string describeCompiled(mlir::ModuleOp module);
std::string describeFolder(const std::string &folder);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_COMPILE_STAGES_H
