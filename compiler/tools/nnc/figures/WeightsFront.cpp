//===- WeightsFront.cpp - Bytes of weights against time -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/figures/WeightsFront.h"

#include "codegen/Codegen.h"
#include "compiler/routines/WeightError.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/nnc/figures/Explanation.h"

#include <cmath>

namespace json = llvm::json;

namespace nnc::tools {

/// The largest number of plans that are compiled and shown.
static constexpr size_t kMostPoints = 12;

/// Returns indices of `bytes`, which is in descending order. The indices
/// include both ends, and those whose sizes are closest to a geometric sequence
/// between them.
static std::vector<size_t> pickPoints(const std::vector<double> &bytes) {
  std::vector<size_t> picked;
  for (size_t step = 0; step < kMostPoints; ++step) {
    double share = double(step) / double(kMostPoints - 1);
    double wanted = std::exp(std::log(bytes.front()) * (1 - share) +
                             std::log(std::max(bytes.back(), 1.)) * share);
    size_t best = 0;
    for (size_t i = 0; i < bytes.size(); ++i)
      if (std::abs(bytes[i] - wanted) < std::abs(bytes[best] - wanted))
        best = i;
    if (picked.empty() || picked.back() < best)
      picked.push_back(best);
  }
  return picked;
}

std::vector<double> listFront(mlir::ModuleOp layered) {
  std::vector<double> bytes;
  auto found = layered->getAttrOfType<mlir::ArrayAttr>(nn::kWeightsFrontAttr);
  for (auto point : found.getAsRange<mlir::DenseF64ArrayAttr>())
    bytes.push_back(point[0]);
  return bytes;
}

/// Imports and compiles the driver's model.
static ExitCode compile(Driver &driver) {
  for (ExitCode (Driver::*step)() : {&Driver::import, &Driver::compile})
    if (ExitCode code = (driver.*step)(); code != ExitCode::done)
      return code;
  return ExitCode::done;
}

ExitCode WeightsFront::find(Driver &driver) {
  std::vector<double> bytes = listFront(driver.layered());
  DriverOptions kept;
  kept.keepStages = kept.exceedsRam = true;
  for (size_t i : pickPoints(bytes)) {
    ModelOptions options = driver.options();
    options.maxWeights = static_cast<int64_t>(bytes[i]);
    Driver one(options, kept);
    if (ExitCode code = compile(one); code != ExitCode::done)
      return code;
    Point point;
    point.seconds = getPlannedSeconds(one.layered());
    if (auto machine = target::getTarget(one.formed());
        mlir::succeeded(machine))
      point.seconds *= findClock(*machine, options).factor;
    point.ramBytes = countRam(one.module()).bytes;
    for (auto program : one.module().getOps<exec::ProgramOp>())
      point.weightBytes +=
          static_cast<int64_t>(codegen::getWeightsBytes(program));
    if (point.ramBytes > options.maxRam.value_or(point.ramBytes) ||
        (!points.empty() && point.weightBytes >= points.back().weightBytes))
      continue;
    while (!points.empty() && points.back().seconds >= point.seconds)
      points.pop_back();
    points.push_back(point);
  }
  return ExitCode::done;
}

void WeightsFront::print() const {
  Table table({"--max-weights", "weights", "RAM", "time, estimated"});
  for (const Point &point : points)
    table.add({std::to_string(point.weightBytes),
               formatBytes(point.weightBytes), formatBytes(point.ramBytes),
               formatSeconds(point.seconds)});
  table.print();
}

json::Value WeightsFront::toJson() const {
  json::Array array;
  for (const Point &point : points)
    array.push_back(json::Object{{"weight_bytes", point.weightBytes},
                                 {"ram_bytes", point.ramBytes},
                                 {"estimate_seconds", point.seconds}});
  return array;
}

} // namespace nnc::tools
