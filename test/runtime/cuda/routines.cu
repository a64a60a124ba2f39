//===- routines.cu - Every portable routine in a kernel -------------------===//
//
// Compiles a kernel for each line of the catalogue with portable vectors, with
// shapes whose fields are run-time values and with shapes of constants, as
// modules have them. kernels_test.py writes the two headers without a folder.
//
//===----------------------------------------------------------------------===//
#include "runtime/epilogue.h"
#include "runtime/routines/catalogue/shapes.h"
#include "runtime/simd/elementwise.h"
#include "runtime/simd/half.h"
#include "test/runtime/cuda/units_kernel.h"

#include "constant_shapes.h"
#include "portable_headers.h"

namespace kernels {
using namespace nnc;

using f32 = element_types<float>;
using f64 = element_types<double>;
using floats = element_types<float, double>;
using i8 = element_types<int8_t>;
using i16 = element_types<int16_t>;
using bytes = element_types<int8_t, uint8_t>;
using narrow_integers = element_types<int8_t, uint8_t, int16_t>;
using numbers =
    element_types<int8_t, uint8_t, int32_t, uint64_t, float, double>;
using sizes = element_types<uint8_t, uint16_t, uint32_t, uint64_t>;

/// The candidate of the one routine that has parameters.
template <class S, class Epi>
using matmul_f32_nk4n_codebook16_portable =
    nnc::matmul_f32_nk4n_codebook16_portable<S, 1, 2, Epi>;

#define NNC_ARGUMENTS(NAME, FAMILY, TYPES, ...)                                \
  template <class S> struct compile_##NAME {                                   \
    template <class T> static void compile() {                                 \
      compile_units<NAME<S, none>, S, __VA_ARGS__>(none{});                    \
    }                                                                          \
  };
#include "test/runtime/cuda/arguments.inc"

/// Fails to compile if a line of the catalogue has no line in arguments.inc.
/// Elementwise routines are in elementwise.cu.
template <class S> struct compile_elementwise_portable {};
#define FOR_portable(NAME) template struct compile_##NAME<none>;
#define NNC_ROUTINE(FAMILY, NAME, HEADER, ISA, ...) FOR_##ISA(NAME)
#define FOR_amxbf16(NAME)
#define FOR_amxint8(NAME)
#define FOR_armdsp(NAME)
#define FOR_avx2(NAME)
#define FOR_avx512(NAME)
#define FOR_avx512vnni(NAME)
#define FOR_avxvnni(NAME)
#define FOR_fpu(NAME)
#define FOR_helium(NAME)
#define FOR_neon(NAME)
#define FOR_neon64(NAME)
#define FOR_neondot(NAME)
#define FOR_neonfp16(NAME)
#define FOR_neoni8mm(NAME)
#define FOR_rvv(NAME)
#define FOR_sm75(NAME)
#define FOR_sm80(NAME)
#define FOR_sse4(NAME)
#include "runtime/routines/catalogue/routines.inc"

/// Work on floats before they are stored, with operands of two kinds.
struct scale_and_add {
  template <class V> NNC_FN V operator()(V x, V scale, V residual) const {
    return relu(add(mul(x, scale), residual));
  }
};
using on_floats = fused<scale_and_add, channel_of<float>, full_of<float>>;
/// The requantization of a sum of integers.
struct requantize {
  NNC_FN int8_t operator()(int32_t v, int32_t bias, float scale) const {
    return cast<int8_t>(round(mul(cast<float>(add(v, bias)), scale)));
  }
};
using on_halves = fused<scale_and_add, channel_of<float>, full_of<f16>>;
using on_sums = fused<requantize, channel_of<int32_t>, scalar_of<float>>;

/// Compiles routines with epilogues that have operands.
void compile_fused() {
  const float *f = nullptr;
  const int32_t *i = nullptr;
  const on_floats floats{f, f};
  const on_sums sums{i, f};
  compile_units<conv2d_f32_portable<conv2d_shape, on_floats>, conv2d_shape,
                const float *, const float *, float *>(floats);
  const on_halves halves{f, nullptr};
  compile_units<conv2d_f16_units_sm75<conv2d_shape, on_halves>, conv2d_shape,
                const f16 *, const f16 *, f16 *>(halves);
  compile_units<
      conv_transpose2d_f16_units_sm75<conv_transpose2d_shape, on_halves>,
      conv_transpose2d_shape, const f16 *, const f16 *, f16 *>(halves);
  compile_units<matmul_f16_units_sm75<matmul_shape, on_halves>, matmul_shape,
                const f16 *, const f16 *, f16 *>(halves);
  compile_units<conv2d_i32_nhwc_portable<conv2d_shape, on_sums>, conv2d_shape,
                const int8_t *, const int8_t *, int8_t *>(sums);
  compile_units<matmul_portable<matmul_shape, on_floats>, matmul_shape,
                const float *, const float *, float *>(floats);
  compile_units<matmul_i32_portable<matmul_shape, on_sums>, matmul_shape,
                const int8_t *, const int8_t *, int8_t *>(sums);
  compile_units<avg_pool2d_f32_portable<avg_pool2d_shape, on_floats>,
                avg_pool2d_shape, const float *, float *>(floats);
  compile_units<softmax_portable<softmax_shape, on_floats>, softmax_shape,
                const float *, float *>(floats);
  compile_units<layer_norm_portable<layer_norm_shape, on_floats>,
                layer_norm_shape, const float *, const float *, const float *,
                float *>(floats);
  compile_units<reduce_sum_portable<reduce_shape, on_floats>, reduce_shape,
                const float *, float *>(floats);
}
} // namespace kernels

/// Calls what compiles all kernels.
void compile_all() {
  using namespace kernels;
#define NNC_ARGUMENTS(NAME, FAMILY, TYPES, ...)                                \
  kernels::TYPES::compile<compile_##NAME<FAMILY##_shape>>();                   \
  kernels::TYPES::compile<compile_##NAME<constant_shapes::NAME##_shape>>();
#include "test/runtime/cuda/arguments.inc"
  compile_fused();
}
