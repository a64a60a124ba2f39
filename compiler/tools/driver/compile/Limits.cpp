//===- Limits.cpp - Messages about limits of memory and time --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/compile/Limits.h"

#include "codegen/Codegen.h"
#include "dialects/exec/Exec.h"

#include <fmt/format.h>

namespace nnc::tools {

static mlir::InFlightDiagnostic emitModelError(const ModelOptions &options,
                                               mlir::MLIRContext &context) {
  return mlir::emitError(
      mlir::FileLineColLoc::get(&context, options.model, 0, 0));
}

/// Returns a description of a memory that is too small for its contents.
static std::string describeTooSmall(exec::MemoryAttr memory) {
  return fmt::format("needs {} bytes in the memory '{}', beside what the "
                     "others hold, and --pool gives it {}",
                     memory.getBytes(), memory.getName().str(),
                     memory.getSize());
}

/// Returns the end of a message about too little RAM: advice on how to take
/// less, and what its figures do not include.
static std::string adviseOnRam(const ModelOptions &options) {
  return adviseOnPorts(options) + "; the stack comes on top";
}

ExitCode reportRam(const ModelOptions &options, mlir::MLIRContext &context,
                   const RamPlanner &planner) {
  const int64_t limit = options.maxRam.value_or(INT64_MAX);
  const RamDemand &least = planner.getLeast();
  std::string hint = adviseOnRam(options);
  if (least.bytes <= limit) {
    emitModelError(options, context)
        << describeTooSmall(least.tooSmall)
        << "; layers computed in strips do not fit either" << hint;
    return ExitCode::limit;
  }
  std::optional<int64_t> strips = planner.getLeastInStrips();
  emitModelError(options, context)
      << (strips
              ? fmt::format("needs {} bytes of RAM with layers computed in "
                            "strips, {} more than the {} of --max-ram",
                            *strips, *strips - limit, limit)
              : fmt::format("needs {} bytes of RAM, which layers computed in "
                            "strips cannot bring down to the {} of --max-ram",
                            least.bytes, limit))
      << hint;
  return ExitCode::limit;
}

ExitCode reportBatchRam(const ModelOptions &options, mlir::MLIRContext &context,
                        const RamDemand &least) {
  std::string names =
      options.maxLatency ? "--batch and --max-latency" : "--batch";
  mlir::InFlightDiagnostic diagnostic = emitModelError(options, context);
  if (least.bytes > options.maxRam.value_or(INT64_MAX))
    diagnostic << fmt::format(
        "needs {} bytes of RAM or more with {}, more than "
        "the {} of --max-ram",
        least.bytes, names, *options.maxRam);
  else
    diagnostic << describeTooSmall(least.tooSmall) << " with " << names;
  diagnostic << "; allow a smaller batch, or more" << adviseOnRam(options);
  return ExitCode::limit;
}

ExitCode reportLatency(const ModelOptions &options, mlir::MLIRContext &context,
                       double seconds) {
  emitModelError(options, context) << fmt::format(
      "is estimated to take {:.3g} ms for a run at least, more than "
      "the {:.3g} ms of --max-latency; {}",
      1e3 * seconds, 1e3 * *options.maxLatency,
      options.batch ? "allow a smaller batch, or more"
                    : "allow more, or make the model smaller, for instance "
                      "with nnc quantize");
  return ExitCode::limit;
}

ExitCode checkWeights(const ModelOptions &options, mlir::ModuleOp module,
                      bool checksMemories) {
  mlir::MLIRContext &context = *module.getContext();
  ExitCode code = ExitCode::done;
  for (auto program : module.getOps<exec::ProgramOp>())
    if (auto bytes = static_cast<int64_t>(codegen::getWeightsBytes(program));
        options.maxWeights && bytes > *options.maxWeights) {
      emitModelError(options, context)
          << fmt::format("has weights of {} bytes at least{}, {} more than the "
                         "{} of --max-weights; prune them or let them share "
                         "values (nnc compress), or quantize the model",
                         bytes,
                         options.weightsEncoding == "auto"
                             ? ""
                             : fmt::format(" with --weights-encoding={}",
                                           options.weightsEncoding),
                         bytes - *options.maxWeights, *options.maxWeights);
      code = ExitCode::limit;
    }
  if (!checksMemories)
    return code;
  for (auto program : module.getOps<exec::ProgramOp>())
    for (auto memory :
         program.getWeightMemories().getAsRange<exec::MemoryAttr>())
      if (memory.getBytes() > memory.getSize()) {
        emitModelError(options, context) << fmt::format(
            "needs {} bytes of weights in the memory '{}', "
            "beside what the others hold, and --pool gives it "
            "{}",
            memory.getBytes(), memory.getName().str(), memory.getSize());
        code = ExitCode::limit;
      }
  return code;
}

} // namespace nnc::tools
