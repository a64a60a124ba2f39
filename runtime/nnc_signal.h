/*===- nnc_signal.h - What the signal operators share ---------------------===
 *
 * TFLite Micro has custom operators for features of sound, whose names begin
 * with Signal. The headers nnc_signal_*.h compute them in the form that
 * nnc_custom.h describes, bit for bit as TFLite Micro does. Options are the
 * integers of the first attribute, in the order that each function states. What
 * an operator keeps between runs is an operand, and its next value a result.
 *
 *===----------------------------------------------------------------------===*/
#ifndef NNC_SIGNAL_H
#define NNC_SIGNAL_H

#include "nnc_custom.h"

#include <stdint.h>

/** A function of which a module may have no need. */
#if defined(__GNUC__)
#define NNC_SIGNAL_FUNCTION __attribute__((unused)) static
#else
#define NNC_SIGNAL_FUNCTION static
#endif

/** Returns option `i`. */
NNC_SIGNAL_FUNCTION int32_t nnc_signal_option(const struct nnc_operator *op,
                                              int i) {
  return (int32_t)op->attributes[0].ints[i];
}

/** Returns the size of a tensor's last axis. */
NNC_SIGNAL_FUNCTION int32_t
nnc_signal_inner(const struct nnc_tensor_info *tensor) {
  return tensor->dims[tensor->rank - 1];
}

/** Returns the number of bits from the lowest to the highest one that is set;
 * 32 of 0, as TFLite Micro has it. */
NNC_SIGNAL_FUNCTION int32_t nnc_signal_bits(uint32_t x) {
  int32_t bits = 0;
  if (x == 0)
    return 32;
#if defined(__GNUC__)
  if (sizeof(unsigned) == 4)
    return 32 - __builtin_clz((unsigned)x);
#endif
  for (; x; x >>= 1)
    ++bits;
  return bits;
}

#endif /* NNC_SIGNAL_H */
