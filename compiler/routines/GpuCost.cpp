//===- GpuCost.cpp - Estimated times of launches on a GPU -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/GpuCost.h"

#include "compiler/routines/CallCosts.h"

#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace nnc;

//===----------------------------------------------------------------------===//
// Families and elements
//===----------------------------------------------------------------------===//

namespace {
/// The kind of arithmetic that takes most of the time of a family.
enum class GpuWork { products, others };
} // namespace

static GpuWork getGpuWork(const Family &family) {
#define NNC_GPU_FAMILY(NAME, KIND, THREADS)                                    \
  if (family.name == #NAME)                                                    \
    return GpuWork::KIND;
#include "compiler/routines/gpu_families.inc"
  return GpuWork::others;
}

/// Returns the number of elements of a tensor with these sizes.
static double count_elements(const int *dims, int rank) {
  double count = 1;
  for (int i = 0; i < rank; ++i)
    count *= dims[i];
  return count;
}

double GpuCost::getThreads(const Routine &routine, const RoutineShape &call,
                           ArrayRef<int64_t> params) {
  // The arena has scratch memory for one thread.
  if (routine.getScratchBytes(call, params, /*threads=*/1) > 0)
    return 1;
  [[maybe_unused]] const bool is_nhwc = routine.getLayout(0) == "NHWC";
  double count = 1;
#define NNC_GPU_FAMILY(NAME, KIND, THREADS)                                    \
  if (routine.family->name == #NAME) {                                         \
    [[maybe_unused]] const auto &s =                                           \
        *static_cast<const NAME##_shape *>(call.get());                        \
    count = THREADS;                                                           \
  }
#include "compiler/routines/gpu_families.inc"
  return std::max(count, 1.0);
}

/// Returns the bytes of an element that the routine multiplies, or else those
/// of an element of its first input. A routine whose inputs differ converts the
/// first one to the type of the others.
static int getElementBytes(const Routine &routine) {
  return llvm::StringSwitch<int>(routine.otherElements)
      .Cases("f16", "bf16", "i16", "u16", 2)
      .Cases("i8", "u8", "byte", "narrow", "integer", 1)
      .Cases("f64", "i64", 8)
      .Default(4);
}

//===----------------------------------------------------------------------===//
// The GPU
//===----------------------------------------------------------------------===//

GpuCost::GpuCost(target::GpuAttr gpu, int64_t weightBytes)
    : gpu(gpu), weightBytes(weightBytes) {}

core_limits GpuCost::getLimits(const Routine &routine) const {
  target::CoreAttr core = gpu.getCore();
  const int elementBytes = getElementBytes(routine);
  core_limits limits{};
  limits.multiprocessors = double(gpu.getMultiprocessors());
  limits.shared_bytes = 1024 * double(gpu.getSharedKb());
  limits.resident_threads = double(gpu.getResidentThreads());
  limits.element_bytes = elementBytes;
  limits.block_rate = double(core.getMultiplyAdds()) / limits.multiprocessors;
  if (getGpuWork(*routine.family) == GpuWork::products && elementBytes <= 2)
    limits.block_rate =
        double(elementBytes == 1 ? gpu.getTensorI8() : gpu.getTensorF16());
  else if (routine.elements == "tf32") // as many bytes of factors as of halves
    limits.block_rate = double(gpu.getTensorF16()) / 2;
  limits.vector_rate = 1;
  limits.rate = limits.block_rate * limits.multiprocessors;
  limits.level2_bytes = double(core.getSecondBytes());
  limits.level2_rate = getLevel2Bandwidth() / getHertz();
  limits.last_bytes = limits.level2_bytes;
  // A float from the level-2 cache, and one of a weight from where it is.
  limits.last_cost = limits.rate * sizeof(float) / limits.level2_rate;
  limits.weight_cost =
      limits.rate * getHertz() * sizeof(float) / getBandwidth(weightBytes);
  limits.crowding = 1;
  return limits;
}

double GpuCost::getLaunchSeconds(target::GpuAttr gpu) {
  return 1e-9 * double(gpu.getLaunchNs()) + costs::kGpuStartSeconds;
}

double GpuCost::getLevel2Bandwidth() const {
  return costs::kGpuLevel2Share * gpu.getCore().getLastBandwidth();
}

double GpuCost::getBandwidth(int64_t bytes) const {
  target::CoreAttr core = gpu.getCore();
  if (double(bytes) <= costs::kGpuCachedShare * double(core.getLastBytes()))
    return getLevel2Bandwidth();
  return costs::kGpuMemoryShare * 1e6 * double(core.getMemoryMbS());
}

double GpuCost::getMoveSeconds(const LayerWork &work) const {
  // Between two uses of a weight, all others are read.
  return double(work.weightBytes) / getBandwidth(weightBytes) +
         double(work.activationBytes) / getBandwidth(work.activationBytes);
}

/// Returns the operations of a layer beside its multiply-adds, in multiply-adds
/// of f32.
static double getFurtherOperations(const LayerWork &work) {
  return work.epilogueOperations + work.lookups +
         work.exponentials * costs::kGpuExponentialOperations +
         work.gates * costs::kGpuGateOperations;
}

double GpuCost::getThreadsSeconds(const Routine &routine, double threads,
                                  double count, const LayerWork &work) const {
  const double resident =
      double(gpu.getMultiprocessors() * gpu.getResidentThreads());
  const double operations =
      (work.operations + getFurtherOperations(work)) / count;
  const double together =
      operations / (costs::kGpuThreadsShare * gpu.getPeak());
  // A thread does one operation after the other.
  const double alone = std::ceil(threads / resident) * operations / threads *
                       costs::kGpuThreadCycles / getHertz();
  double moving = getMoveSeconds(work) / count;
  if (getGpuWork(*routine.family) == GpuWork::products)
    moving =
        std::max(moving, work.operations / count * costs::kGpuUnsharedBytes /
                             getLevel2Bandwidth());
  // Few threads wait for the latency of memory most of the time.
  const double bytes = double(work.activationBytes + work.weightBytes) / count;
  moving = std::max(moving,
                    bytes * costs::kGpuLoadSeconds /
                        (std::min(threads, resident) * costs::kGpuThreadBytes));
  return std::max({together, alone, moving});
}

double GpuCost::estimate(const Routine &routine, ArrayRef<RoutineShape> calls,
                         ArrayRef<int64_t> params,
                         const LayerWork &work) const {
  const core_limits limits = getLimits(routine);
  const double count = double(calls.size());
  double efficiency = 0, seconds = 0;
  for (const RoutineShape &call : calls) {
    efficiency += routine.getEfficiency(call, params, limits) / count;
    if (!routine.isOnBlocks())
      seconds += getThreadsSeconds(routine, getThreads(routine, call, params),
                                   count, work);
  }
  if (efficiency <= 0)
    return std::numeric_limits<double>::infinity();
  if (routine.isOnBlocks())
    seconds =
        std::max(work.operations / (efficiency * limits.rate * getHertz()) +
                     getFurtherOperations(work) / gpu.getPeak(),
                 getMoveSeconds(work));
  return count * getLaunchSeconds(gpu) + seconds;
}
