/*===- nnc_custom.h - Interface of functions for custom operators ---------===
 *
 * A C header for functions that compute operators which nnc does not support.
 * --custom=OPERATOR:FILE.h names the function's file, which declares the
 * function or defines it as a static one. It has this form:
 *
 *   void NAME(const struct nnc_operator *op, const void *const *inputs,
 *             void *const *outputs, void *scratch);
 *
 * inputs[i] points to the elements of operand i, which op->inputs[i] describes,
 * and outputs[i] to the memory for the elements of result i, which
 * op->outputs[i] describes. Elements are in row-major order, with the last axis
 * innermost. The function writes every element of the results. It may also
 * write to the op->scratch_bytes bytes at `scratch`, which are aligned like the
 * model's arena and have undefined contents at first, but to no other memory.
 * It computes the same results from the same operands each time. All memory
 * that op points to is constant.
 *
 * A module for a GPU calls the function in a kernel of one thread, with
 * pointers to memory of the GPU. For this, the header defines the function, and
 * each function that it calls, behind NNC_CUSTOM_FUNCTION, in the language that
 * C and C++ have in common.
 *
 *===----------------------------------------------------------------------===*/
#ifndef NNC_CUSTOM_H
#define NNC_CUSTOM_H

#include <stddef.h>
#include <stdint.h>

/** Stands before the definition of a function that modules for GPUs may call.
 */
#if defined(__CUDACC__)
#define NNC_CUSTOM_FUNCTION __host__ __device__
#else
#define NNC_CUSTOM_FUNCTION
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Type of an element. A bool is a byte that is 0 or 1. An f16 or bf16 is a
 * uint16_t with the bits of the float. */
enum nnc_type {
  NNC_TYPE_NONE = 0, /**< an optional operand that the model leaves out */
  NNC_TYPE_BOOL = 1,
  NNC_TYPE_I8 = 2,
  NNC_TYPE_U8 = 3,
  NNC_TYPE_I16 = 4,
  NNC_TYPE_U16 = 5,
  NNC_TYPE_I32 = 6,
  NNC_TYPE_U32 = 7,
  NNC_TYPE_I64 = 8,
  NNC_TYPE_U64 = 9,
  NNC_TYPE_F16 = 10,
  NNC_TYPE_BF16 = 11,
  NNC_TYPE_F32 = 12,
  NNC_TYPE_F64 = 13
};

/** Description of an operand or a result. If it is quantized, its integers x
 * represent the real numbers (x - zero_points[i]) * scales[i], where i is the
 * element's index along `axis`, or 0 if `axis` is -1. */
struct nnc_tensor_info {
  enum nnc_type type;
  int rank;
  const int32_t *dims;        /**< the `rank` dimensions, outermost first */
  int32_t elements;           /**< number of elements */
  int num_scales;             /**< 0 if not quantized, 1, or dims[axis] */
  const float *scales;        /**< null if not quantized */
  const int32_t *zero_points; /**< one for each scale */
  int axis;                   /**< -1 unless each index has a scale */
};

/** An attribute or a named argument of an operator: integers, reals or a text.
 * Two of the three pointers `ints`, `floats` and `text` are null. */
struct nnc_attribute {
  const char *name;
  int count; /**< number of integers or reals, or length of the text in bytes */
  const int64_t *ints;
  const float *floats;
  const char *text; /**< with a zero byte behind it */
};

/** Description of one operator of the model. */
struct nnc_operator {
  int num_inputs;
  const struct nnc_tensor_info *inputs;
  int num_outputs;
  const struct nnc_tensor_info *outputs;
  /** The options of a TFLite custom operator, as the model stores them; null
   * for other operators. */
  const unsigned char *options;
  size_t options_bytes;
  int num_attributes; /**< 0 for operators of TFLite */
  const struct nnc_attribute *attributes;
  size_t scratch_bytes;
};

/** The type of such functions. A header can declare a function by it:
 * `nnc_function my_operator;` */
typedef void nnc_function(const struct nnc_operator *op,
                          const void *const *inputs, void *const *outputs,
                          void *scratch);

#ifdef __cplusplus
}
#endif

#endif /* NNC_CUSTOM_H */
