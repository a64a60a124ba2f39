//===- OwnGpu.h - The GPU of this machine -----------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_TARGET_OWNGPU_H
#define NNC_DIALECTS_TARGET_OWNGPU_H

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>

namespace nnc::target {

/// Asks the driver of CUDA for the number of the first GPU's architecture, for
/// instance 80 for sm_80. Returns nullopt if there is no driver or no GPU.
std::optional<unsigned> findOwnGpu();

/// Returns the name of that GPU, such as "NVIDIA H200", or an empty string.
std::string findOwnGpuName();

/// Returns true if machine code for the architecture `code` runs on a GPU of
/// the architecture `gpu`: on later ones with the same first digits, too.
inline bool runsOn(unsigned code, unsigned gpu) {
  return code <= gpu && code / 10 == gpu / 10;
}

/// Returns a sentence that says why this machine cannot run a module for GPUs
/// of these architectures, such as "sm_80", or an empty string if it can.
std::string findGpuObstacle(llvm::ArrayRef<std::string> architectures);

} // namespace nnc::target

#endif // NNC_DIALECTS_TARGET_OWNGPU_H
