//===- Costs.h - Cost model constants of all machines ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_TARGET_COSTS_H
#define NNC_DIALECTS_TARGET_COSTS_H

#include <cstdint>

/// The constants of costs.inc, which says what they mean.
namespace nnc::target::costs {

#define NNC_TARGET_COST(name, value, unit, meaning)                            \
  inline constexpr auto name = value;
#include "dialects/target/costs.inc"

} // namespace nnc::target::costs

#endif // NNC_DIALECTS_TARGET_COSTS_H
