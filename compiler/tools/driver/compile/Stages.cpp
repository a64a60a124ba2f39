//===- Stages.cpp - Reports on passes and their results -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/compile/Stages.h"

#include "compiler/tools/driver/console/Progress.h"
#include "compiler/tools/driver/console/Supervise.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/Files.h"

#include "dialects/exec/Exec.h"
#include "dialects/nn/Nn.h"

#include "mlir/Pass/Pass.h"
#include "llvm/Support/FileSystem.h"

#include <fmt/format.h>

namespace nnc::tools {

void WatchPasses::runBeforePass(mlir::Pass *pass, mlir::Operation *op) {
  llvm::StringRef name = pass->getArgument();
  if (name.empty())
    return;
  noteStep(name);
  name.consume_front("nnc-");
  noteDetail(name);
  starts[{pass, op}] = std::chrono::steady_clock::now();
}

void WatchPasses::runAfterPass(mlir::Pass *pass, mlir::Operation *op) {
  auto start = starts.find({pass, op});
  if (start == starts.end())
    return;
  resumeStep();
  llvm::StringRef name = pass->getArgument();
  name.consume_front("nnc-");
  tellTime(name, std::chrono::duration<double>(
                     std::chrono::steady_clock::now() - start->second)
                     .count());
  starts.erase(start);
}

void WatchPasses::runAfterPassFailed(mlir::Pass *pass, mlir::Operation *) {
  if (failed.empty())
    failed = pass->getArgument().str();
}

std::string describeImported(mlir::ModuleOp module) {
  int64_t ops = 0;
  double bytes = 0;
  module.walk([&](mlir::Operation *op) {
    if (auto constant = llvm::dyn_cast<nn::ConstantOp>(op))
      bytes += double(nn::getPhysicalBytes(
          llvm::cast<mlir::RankedTensorType>(constant.getType())));
    else
      ops += op->getNumResults() > 0;
  });
  return fmt::format("{} operators, {} of constants", ops, formatBytes(bytes));
}

std::string describeCompiled(mlir::ModuleOp module) {
  int64_t calls = 0;
  double arena = 0;
  module.walk([&](mlir::Operation *op) {
    calls += llvm::isa<exec::CallOp>(op);
    if (auto program = llvm::dyn_cast<exec::ProgramOp>(op))
      arena += double(program.getArena());
  });
  return fmt::format("{} calls of routines, {} of arena", calls,
                     formatBytes(arena));
}

std::string describeFolder(const std::string &folder) {
  double bytes = 0;
  std::vector<std::string> files = listFolder(folder);
  for (const std::string &file : files)
    if (uint64_t size = 0; !llvm::sys::fs::file_size(file, size))
      bytes += double(size);
  return fmt::format("{} files, {}", files.size(), formatBytes(bytes));
}

} // namespace nnc::tools
