//===- GpuCost.h - Estimated times of launches on a GPU -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_GPUCOST_H
#define NNC_COMPILER_ROUTINES_GPUCOST_H

#include "compiler/routines/DeviceCost.h"

namespace nnc {

/// The cost model of a GPU. Each call is a launch, which takes the time of a
/// small kernel, the latency of memory, and then the longer of computing and
/// moving bytes.
///
/// Routines for blocks of threads, whose header ends in .cuh, compute at the
/// share of the peak rate that their line in the catalogue states; that peak is
/// the one of tensor cores for sums of products of 16-bit floats and 8-bit
/// integers. Of all other routines, each thread of the GPU runs a unit of work
/// by itself, such as one element of the output. Such a thread is slow, and few
/// threads leave the GPU idle.
class GpuCost : public DeviceCost {
public:
  GpuCost(target::GpuAttr gpu, int64_t weightBytes);
  double estimate(const Routine &routine, llvm::ArrayRef<RoutineShape> calls,
                  llvm::ArrayRef<int64_t> params,
                  const LayerWork &work) const override;
  /// Returns 0: a GPU writes memory without fetching it.
  double getFetchSeconds(int64_t) const override { return 0; }

  /// Returns the seconds of a launch without what it computes and moves, as
  /// those of a memset of a few bytes.
  static double getLaunchSeconds(target::GpuAttr gpu);

  /// Returns the number of threads in which a call of a routine that is not for
  /// blocks has work.
  static double getThreads(const Routine &routine, const RoutineShape &call,
                           llvm::ArrayRef<int64_t> params);

private:
  /// Returns the limits of the multiprocessors for a routine for blocks.
  core_limits getLimits(const Routine &routine) const;
  double getLevel2Bandwidth() const;
  /// Returns the bytes per second of data of which `bytes` are used together:
  /// from the level-2 cache if it holds them until they are used again.
  double getBandwidth(int64_t bytes) const;
  /// Returns the seconds to move the bytes of a layer.
  double getMoveSeconds(const LayerWork &work) const;
  /// Returns the seconds of one of `count` equal parts of a layer's work, that
  /// `threads` threads do each by themselves.
  double getThreadsSeconds(const Routine &routine, double threads, double count,
                           const LayerWork &work) const;
  double getHertz() const { return 1e6 * double(gpu.getCore().getMhz()); }

  target::GpuAttr gpu;
  int64_t weightBytes;
};

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_GPUCOST_H
