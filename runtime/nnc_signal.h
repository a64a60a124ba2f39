/*===- nnc_signal.h - Common functions of the signal operators ------------===
 *
 * TFLite Micro has custom operators that compute features of sound. Their names
 * begin with Signal. The functions in the headers nnc_signal_*.h compute them,
 * bit for bit as TFLite Micro does, and have the form that nnc_custom.h
 * describes. An operator's options are the integers of its first attribute, in
 * the order that the comment of each function states. A value that an operator
 * keeps between runs is an operand, and its value for the next run a result.
 *
 *===----------------------------------------------------------------------===*/
#ifndef NNC_SIGNAL_H
#define NNC_SIGNAL_H

#include "nnc_custom.h"

#include <stdint.h>

/** The storage class of a function that a module may not use. */
#if defined(__GNUC__)
#define NNC_SIGNAL_FUNCTION NNC_CUSTOM_FUNCTION __attribute__((unused)) static
#else
#define NNC_SIGNAL_FUNCTION NNC_CUSTOM_FUNCTION static
#endif

/** Returns option number `i`, from 0 on. */
NNC_SIGNAL_FUNCTION int32_t nnc_signal_option(const struct nnc_operator *op,
                                              int i) {
  return (int32_t)op->attributes[0].ints[i];
}

/** Returns the size of a tensor's last axis. */
NNC_SIGNAL_FUNCTION int32_t
nnc_signal_inner(const struct nnc_tensor_info *tensor) {
  return tensor->dims[tensor->rank - 1];
}

/** Returns the number of bits of x up to its highest set bit, or 32 if x is 0,
 * as in TFLite Micro. */
NNC_SIGNAL_FUNCTION int32_t nnc_signal_bits(uint32_t x) {
  int32_t bits = 0;
  if (x == 0)
    return 32;
#if defined(__GNUC__) && !defined(__CUDACC__)
  if (sizeof(unsigned) == 4)
    return 32 - __builtin_clz((unsigned)x);
#endif
  for (; x; x >>= 1)
    ++bits;
  return bits;
}

#endif /* NNC_SIGNAL_H */
