//===- Measuring.cpp - Times and errors of a built model ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/prepare/Measuring.h"

#include "compiler/patterns/Accuracy.h"
#include "compiler/tools/driver/console/JsonDocument.h"
#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/driver/toolchain/Runner.h"
#include "compiler/tools/driver/toolchain/Toolchain.h"
#include "compiler/tools/nnc/prepare/Prepared.h"
#include "dialects/qnn/Qnn.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace json = llvm::json;

namespace nnc::tools {

double median(std::vector<double> values) {
  auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<Tensor> makeRandomInputs(const Manifest &manifest) {
  std::vector<Tensor> inputs;
  for (auto [i, port] : llvm::enumerate(manifest.inputs))
    inputs.push_back(randomTensor(port.dtype, port.shape, i));
  return inputs;
}

ExitCode timeRuns(const Prepared &prepared, RunRequest &request,
                  RunResult &result) {
  const Manifest &manifest = prepared.manifest;
  request.inputs = makeRandomInputs(manifest);
  llvm::Expected<RunResult> found = prepared.module->run(request);
  if (!found)
    return fail(found.takeError(), ExitCode::ownFault);
  result = std::move(*found);
  if (result.runCosts.empty() ||
      result.layerCosts.size() > manifest.layers.size())
    return fail(makeError("the program that runs the model printed no times"),
                ExitCode::ownFault);
  result.layerCosts.resize(manifest.layers.size());
  return ExitCode::done;
}

std::string describeMachine(const Toolchain &toolchain,
                            const RunResult &result) {
  if (!result.gpu.name.empty())
    return result.gpu.name;
  if (toolchain.isBare())
    return fmt::format("{}", fmt::join(toolchain.emulator, " "));
  if (!toolchain.emulator.empty())
    return toolchain.emulator.front();
  return llvm::sys::getHostCPUName().str();
}

/// Returns the largest relative difference of two 16-bit float outputs that are
/// rounded from almost equal values: a unit in the last place of the largest
/// element.
static double getRounding(const Manifest &manifest) {
  double rounding = 0;
  for (const Port &port : manifest.outputs)
    rounding = std::max(rounding, port.dtype == Dtype::f16    ? 0x1p-10
                                  : port.dtype == Dtype::bf16 ? 0x1p-7
                                                              : 0);
  return rounding;
}

/// Returns the bits of the shortest integers to which the model rounds inexact
/// floats such as sums of products, or 0 if there are none. nnc may compute
/// another float there, or an integer sum, that rounds to a neighbouring
/// integer.
static unsigned getRoundedBits(mlir::ModuleOp imported) {
  unsigned bits = 0;
  imported.walk([&](qnn::QuantizeOp quantize) {
    if (!isInexact(quantize.getX()))
      return;
    unsigned own =
        qnn::getQuantizedType(quantize.getType()).getStorageTypeIntegralWidth();
    bits = bits ? std::min(bits, own) : own;
  });
  return bits;
}

Tolerance chooseTolerance(const Manifest &manifest, mlir::ModuleOp imported,
                          Precision precision, std::optional<double> given) {
  unsigned bits = getRoundedBits(imported);
  double largest = precision == Precision::bf16   ? 1e-1
                   : precision == Precision::f16  ? 2e-2
                   : precision == Precision::tf32 ? 1e-2
                                                  : 1e-4;
  if (qnn::hasQuantizedOps(imported))
    largest = std::max(largest, bits > 8 ? 1e-3 : 5e-2);
  Tolerance tolerance{given.value_or(std::max(largest, getRounding(manifest)))};
  if (bits == 0)
    return tolerance;
  // Only few elements round to another integer, so the root mean square error
  // is far smaller than the largest error.
  tolerance.rootMeanSquare = tolerance.largest / 5;
  tolerance.ofIntegers = true;
  return tolerance;
}

json::Object toJson(const Port &port, const Difference &found) {
  return json::Object{{"name", port.name},
                      {"within", found.within},
                      {"elements", found.elements},
                      {"differing", found.differing},
                      {"largest_error", orNull(found.largest)},
                      {"rms_error", orNull(std::sqrt(found.meanSquare))},
                      {"largest_expected", found.scale},
                      {"at", found.at}};
}

} // namespace nnc::tools
