//===- Stages.h - Tells how a model becomes code ----------------*- C++ -*-===//
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

/// Tells the supervisor and the progress line which pass runs, and the driver
/// which one failed first. With --verbose it tells the time of each pass.
class WatchPasses : public mlir::PassInstrumentation {
public:
  explicit WatchPasses(std::string &failed) : failed(failed) {}
  void runBeforePass(mlir::Pass *pass, mlir::Operation *op) override;
  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override;
  void runAfterPassFailed(mlir::Pass *pass, mlir::Operation *op) override;

private:
  std::string &failed;
  /// When the passes began that are running.
  llvm::DenseMap<std::pair<mlir::Pass *, mlir::Operation *>,
                 std::chrono::steady_clock::time_point>
      starts;
};

/// What --verbose tells of a model that was read, of one that was compiled, and
/// of a folder that was written.
std::string describeImported(mlir::ModuleOp module);
std::string describeCompiled(mlir::ModuleOp module);
std::string describeFolder(const std::string &folder);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_COMPILE_STAGES_H
