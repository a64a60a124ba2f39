//===- GpuRun.cpp - What a run on a GPU reached ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/prepare/GpuRun.h"

#include "dialects/target/Target.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <algorithm>
#include <fmt/format.h>

namespace nnc::tools {

GpuPeaks GpuPeaks::find(const GpuFigures &gpu, const std::string &target) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  // A GPU that has no target of its own is taken for one of the module's.
  mlir::ScopedDiagnosticHandler silence(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  const mlir::Location location = mlir::UnknownLoc::get(&context);
  auto machine =
      target::getMachine(fmt::format("cuda-sm{}", gpu.architecture), location);
  if (mlir::failed(machine))
    machine = target::getMachine(target, location);
  if (mlir::failed(machine))
    return {};
  auto row = llvm::dyn_cast<target::GpuAttr>(machine->getHost().getCost());
  if (!row)
    return {};
  double scale = double(gpu.multiprocessors) /
                 double(row.getMultiprocessors()) * gpu.clock /
                 (1e6 * double(row.getCore().getMhz()));
  return {scale * row.getPeak(), scale * row.getTensorPeakF16(),
          scale * row.getTensorPeakI8()};
}

double GpuPeaks::get(llvm::StringRef dtype) const {
  if (dtype == "f16" || dtype == "bf16")
    return tensorF16;
  return dtype == "i8" || dtype == "u8" ? tensorI8 : f32;
}

double GpuPeaks::getHighest(const std::vector<LayerInfo> &layers) const {
  double highest = f32;
  for (const LayerInfo &layer : layers)
    if (layer.multiplyAdds > 0)
      highest = std::max(highest, get(layer.dtype));
  return highest;
}

double getPeak(const Manifest &manifest, const RunResult &result) {
  if (result.gpu.name.empty())
    return result.peak;
  return GpuPeaks::find(result.gpu, manifest.target)
      .getHighest(manifest.layers);
}

/// Returns a version of CUDA as people write it, such as 12.4 for 12040.
static std::string versionText(int64_t version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

llvm::json::Object toJson(const GpuFigures &gpu, const GpuPeaks &peaks) {
  llvm::json::Object object{
      {"architecture", fmt::format("sm_{}", gpu.architecture)},
      {"multiprocessors", gpu.multiprocessors},
      {"clock_hz", gpu.clock},
      {"driver", versionText(gpu.driver)},
      {"memory_bytes", gpu.bytes},
      {"captured", gpu.launches.has_value()},
      {"peak_f32", peaks.f32},
      {"peak_tensor_f16", peaks.tensorF16},
      {"peak_tensor_i8", peaks.tensorI8}};
  if (gpu.launches) {
    object["launches"] = *gpu.launches;
    object["copies"] = *gpu.copies;
  }
  return object;
}

std::string describe(const GpuFigures &gpu) {
  std::string how = "plain runs, as the CPU takes decisions in each";
  if (gpu.launches)
    how = fmt::format("replays of a CUDA graph of {} launches{}", *gpu.launches,
                      *gpu.copies ? fmt::format(" and {} copies", *gpu.copies)
                                  : "");
  return fmt::format("{}; {:.1f} MB of the GPU's memory; sm_{}, {} "
                     "multiprocessors, {:.0f} MHz, CUDA {} in the driver",
                     how, 1e-6 * double(gpu.bytes), gpu.architecture,
                     gpu.multiprocessors, 1e-6 * gpu.clock,
                     versionText(gpu.driver));
}

} // namespace nnc::tools
