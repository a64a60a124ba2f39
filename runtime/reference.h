//===- reference.h - Every family's portable routine, by name -------------===//
//
// Not shipped. The compiler folds constants and checks results with it, so an
// operator's arithmetic is written only once. Shapes are run-time values here.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_REFERENCE_H
#define NNC_REFERENCE_H

/// The type of an element. A bool is one byte, 0 or 1.
enum nnc_dtype {
  NNC_F32,
  NNC_F64,
  NNC_BOOL,
  NNC_I8,
  NNC_I16,
  NNC_I32,
  NNC_I64,
  NNC_U8,
  NNC_U16,
  NNC_U32,
  NNC_U64,
  NNC_F16, ///< computed with floats; results are rounded to halves
  NNC_BF16 ///< computed with floats; results are rounded to bf16
};

/// A row-major tensor in the caller's memory.
struct nnc_tensor {
  void *data;
  int dtype;          ///< nnc_dtype
  long long elements; ///< number of elements
};

/// Result of nnc_reference_call.
enum nnc_reference_status {
  NNC_REFERENCE_OK = 0,
  NNC_REFERENCE_NO_FAMILY = 1, ///< no family, or no function, has that name
  NNC_REFERENCE_BAD_COUNT = 2, ///< the function takes more or fewer operands
  NNC_REFERENCE_NO_TYPE = 3,   ///< no routine of the family takes these types
};

/// Runs the portable routine of `family`. `shape` is the family's struct
/// <family>_shape (runtime/routines/<family>/shape.h). `function`, `scalars`
/// and `scalar_count` are for the elementwise family: a name of
/// routines/elementwise/functions.inc (or "cast") and the function's
/// attributes; null and 0 for any other family. The caller has to pass buffers
/// of the right sizes.
int nnc_reference_call(const char *family, const void *shape,
                       const nnc_tensor *in, int inputs, nnc_tensor *out,
                       int outputs, const char *function, const double *scalars,
                       int scalar_count);

namespace nnc {
struct elementwise_shape;

/// nnc_reference_call for the elementwise family.
int reference_elementwise(const char *function, const elementwise_shape &s,
                          const nnc_tensor *in, int inputs, nnc_tensor &out,
                          const double *scalars, int scalar_count);
} // namespace nnc

#endif // NNC_REFERENCE_H
