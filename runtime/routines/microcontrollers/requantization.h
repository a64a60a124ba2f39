//===- requantization.h - Arguments of a shared requantization ------------===//
#ifndef NNC_ROUTINES_MICROCONTROLLERS_REQUANTIZATION_H
#define NNC_ROUTINES_MICROCONTROLLERS_REQUANTIZATION_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"

namespace nnc {

/// The operands and constants of a layer's requantization: the bias, multiplier
/// and shift of each channel, and the constants of all channels.
struct requantization {
  const int32_t *bias, *multiplier, *shift;
  int zero, low, high;
};

/// Returns the requantization of an epilogue for which requantizes<Epi> holds.
template <class Epi>
NNC_INLINE requantization make_requantization(const Epi &epi) {
  using form = typename requantizes<Epi>::form;
  const auto &operands = epi.operands;
  const requantization r = {operands.head.data,
                            operands.tail.head.data,
                            operands.tail.tail.head.data,
                            form::zero,
                            form::low,
                            form::high};
  return r;
}

} // namespace nnc

#endif // NNC_ROUTINES_MICROCONTROLLERS_REQUANTIZATION_H
