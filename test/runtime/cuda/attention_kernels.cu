// The instances of attention_kernels.inc, for the gate on machine code
// (attention_machine_code.py).
#include "runtime/cuda/device_block.h"
#include "runtime/epilogue.h"
#include "runtime/routines/attention/flash.cuh"
#include "runtime/routines/attention/flash_floats.cuh"
#include "runtime/routines/attention/shape.h"

using namespace nnc;

namespace {

constexpr int arch = __CUDA_ARCH_LIST__ / 10;

/// Shapes by their names in attention_kernels.inc.
using shape_any = attention_shape;
struct shape_vit { // ViT-B, q, k and v in the rows of one tensor
  static constexpr int n = 1, heads = 12, queries = 197, keys = 197, dim = 64,
                       value_dim = 64, q_start = 0, k_start = 768,
                       v_start = 1536;
  static constexpr float scale = 0.125f;
  int q_strides[3] = {453888, 64, 2304}, k_strides[3] = {453888, 64, 2304},
      v_strides[3] = {453888, 64, 2304}, mask_strides[3] = {0, 0, 0};
};

template <class> struct only_kernel;
template <class K> struct only_kernel<kernel_list<K>> {
  using type = K;
};
/// The kernels of routines for elements of type T.
template <class T, class S, int DIM, int QUERIES> struct routine_of {
  using type = flash_attention_from<75, T, S, DIM, QUERIES, none>;
};
template <class S, int DIM, int QUERIES>
struct routine_of<float, S, DIM, QUERIES> {
  using type = attention_f32_sm75<S, DIM, QUERIES, none>;
};
template <class T, class S, int DIM, int QUERIES>
using kernel_of = typename only_kernel<
    typename routine_of<T, S, DIM, QUERIES>::type::kernels>::type;

/// Elements, by the names of their types.
using of_bf16 = bf16;
using of_f16 = f16;
using of_f32 = float;

/// Masks by their names.
struct mask_none {};
using mask_f32 = float;
using mask_f16 = f16;

template <int DIM, int QUERIES, class S, class T, class M>
__device__ __forceinline__ void run(const S &s, const T *q, const T *k,
                                    const T *v, const M *mask, T *y) {
  device_block<arch> b;
  using kernel = kernel_of<T, S, DIM, QUERIES>;
  if constexpr (is_same<T, bf16>::value && arch < 80)
    return; // its tensor cores have no bf16
  else if constexpr (is_same<M, mask_none>::value)
    kernel::run(b, s, q, k, v, y, none{});
  else
    kernel::run(b, s, q, k, v, mask, y, none{});
}

} // namespace

// clang-format off
#define NNC_ATTENTION(TYPE, SHAPE, MASK, DIM, QUERIES)                                         \
  extern "C" __global__ void __launch_bounds__(                                                \
      kernel_of<of_##TYPE, shape_##SHAPE, DIM, QUERIES>::threads)                              \
  attention_##TYPE##_##SHAPE##_##MASK##_##DIM##_##QUERIES(                                     \
      shape_##SHAPE s, const of_##TYPE *q, const of_##TYPE *k, const of_##TYPE *v,             \
      const mask_##MASK *mask, of_##TYPE *y) {                                                 \
    run<DIM, QUERIES>(s, q, k, v, mask, y);                                                    \
  }
// clang-format on
#include "test/runtime/cuda/attention_kernels.inc"
