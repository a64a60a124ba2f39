//===- Latency.cpp - A limit of the time that a run takes -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/PlanGraph.h"
#include "compiler/tools/driver/Driver.h"

#include <fmt/format.h>

namespace nnc::tools {

double ModelOptions::getClockFactor(target::MachineAttr machine) const {
  double own = double(machine.getHost().getCore().getMhz());
  return own / mhz.value_or(own);
}

std::string Driver::findLatencyProblem() const {
  if (choices.limitsPlan() &&
      (!choices.ranges.empty() || !choices.otherShapes.empty()))
    return "--max-latency takes one shape of each input; give --shape no "
           "bounds with '..', and one size for each dimension";
  return "";
}

ExitCode Driver::checkLatency() {
  if (finder) {
    mlir::emitError(mlir::UnknownLoc::get(&context))
        << "--max-latency takes a model whose sizes are known before it runs";
    return ExitCode::usage;
  }
  double seconds = getPlannedSeconds(*layeredOp);
  return seconds > getMaxSeconds() ? reportLatency(seconds) : ExitCode::done;
}

ExitCode Driver::reportLatency(double seconds) {
  mlir::emitError(mlir::FileLineColLoc::get(&context, choices.model, 0, 0))
      << fmt::format(
             "is estimated to take {:.3g} ms for a run at least, more than "
             "the {:.3g} ms of --max-latency; {}",
             1e3 * clockFactor * seconds, 1e3 * *choices.maxLatency,
             choices.batch ? "allow a smaller batch, or more"
                           : "allow more, or make the model smaller, for "
                             "instance with nnc quantize");
  return ExitCode::limit;
}

} // namespace nnc::tools
