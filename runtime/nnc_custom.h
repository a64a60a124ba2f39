/*===- nnc_custom.h - What the function of a custom operator is given -----===
 *
 * A C header for functions that compute operators which nnc lacks, given by
 * --custom=OPERATOR:FILE.h. The function has this form; FILE.h declares it, or
 * holds it as a static function:
 *
 *   void NAME(const struct nnc_operator *op, const void *const *inputs,
 *             void *const *outputs, void *scratch);
 *
 * inputs[i] points to the elements of operand i, which op->inputs[i] describes,
 * outputs[i] to where those of result i go. They are row-major, with the last
 * axis innermost. The function writes every element of the results, and nothing
 * else but op->scratch_bytes bytes of scratch memory, which are aligned like
 * the model's arena and hold nothing useful at first. It computes the same from
 * the same operands each time. All that op points to is constant.
 *
 *===----------------------------------------------------------------------===*/
#ifndef NNC_CUSTOM_H
#define NNC_CUSTOM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Type of an element. A bool is a byte that is 0 or 1; f16 and bf16 are
 * floats of 16 bits, as uint16_t. */
enum nnc_type {
  NNC_TYPE_NONE = 0, /**< the model leaves out this optional operand */
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

/** An operand or a result. Where integers stand for real numbers, these are
 * (x - zero_points[i]) * scales[i], with i = 0 for all elements, or with the
 * element's index on `axis`. */
struct nnc_tensor_info {
  enum nnc_type type;
  int rank;
  const int32_t *dims;        /**< `rank` of them, the outermost first */
  int32_t elements;           /**< their number */
  int num_scales;             /**< 0 for plain numbers; 1; or dims[axis] */
  const float *scales;        /**< null without scales */
  const int32_t *zero_points; /**< as many as scales */
  int axis;                   /**< -1 unless there is a scale for each index */
};

/** An attribute of an ONNX operator. One of the pointers is not null. */
struct nnc_attribute {
  const char *name;
  int count; /**< of integers or reals; the length of a text */
  const int64_t *ints;
  const float *floats;
  const char *text; /**< ends with a zero byte */
};

/** What the model says of one operator. */
struct nnc_operator {
  int num_inputs;
  const struct nnc_tensor_info *inputs;
  int num_outputs;
  const struct nnc_tensor_info *outputs;
  const unsigned char *options; /**< of a TFLite custom operator, or null */
  size_t options_bytes;
  int num_attributes; /**< of an ONNX operator */
  const struct nnc_attribute *attributes;
  size_t scratch_bytes;
};

/** The function's type, by which a header can declare it:
 * `nnc_function my_operator;` */
typedef void nnc_function(const struct nnc_operator *op,
                          const void *const *inputs, void *const *outputs,
                          void *scratch);

#ifdef __cplusplus
}
#endif

#endif /* NNC_CUSTOM_H */
