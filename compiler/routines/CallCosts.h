//===- CallCosts.h - Costs of a call besides its arithmetic ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_CALLCOSTS_H
#define NNC_COMPILER_ROUTINES_CALLCOSTS_H

/// The constants of costs.inc, where each one has its unit and meaning.
namespace nnc::costs {

#define NNC_CALL_COST(name, value, unit, meaning)                              \
  inline constexpr double name = value;
#include "compiler/routines/costs.inc"

} // namespace nnc::costs

#endif // NNC_COMPILER_ROUTINES_CALLCOSTS_H
