//===- elementwise.cu - Every elementwise function in a kernel ------------===//
//
// The functions of functions.inc and casts, for each type that they take: one
// kernel for each type, because nvcc takes half a second for a kernel. The
// routine itself is compiled for a few functions.
//
//===----------------------------------------------------------------------===//
#include "runtime/routines/elementwise/elementwise.h"
#include "runtime/routines/elementwise/shape.h"
#include "runtime/simd/bfloat.h"
#include "runtime/simd/elementwise.h"
#include "test/runtime/cuda/units_kernel.h"

namespace {
using nnc::bf16, nnc::f16, nnc::index_sequence, nnc::make_index_sequence;

/// T for any I: repeats a type in a pack.
template <class T, size_t I> using repeated = T;

/// nnc::<name> as a type.
#define NNC_ELEMENTWISE(NAME, TENSORS, SCALARS, HEADER)                        \
  struct function_##NAME {                                                     \
    template <class... X>                                                      \
    NNC_FN auto operator()(X... x) const -> decltype(nnc::NAME(x...)) {        \
      return nnc::NAME(x...);                                                  \
    }                                                                          \
  };
#include "runtime/routines/elementwise/functions.inc"

/// Stores F of the elements and attributes at x, if it takes numbers of type T,
/// and moves y on. The first argument of select is a bool.
template <class F, class T, size_t... I>
__device__ void apply(index_sequence<I...>, const T *x, double *&y) {
  if constexpr (nnc::is_same<F, function_select>::value)
    *y++ = static_cast<double>(F{}(x[0] != T(0), x[1], x[2]));
  else if constexpr (nnc::is_invocable<F, repeated<T, I>...>::value)
    *y++ = static_cast<double>(F{}(x[I]...));
}

/// Stores nnc::cast<Y>(x) and moves y on.
template <class Y, class T> __device__ void apply_cast(T x, double *&y) {
  *y++ = static_cast<double>(nnc::cast<Y>(x));
}

template <class T> __global__ void functions_kernel(const T *x, double *y) {
#define NNC_ELEMENTWISE(NAME, TENSORS, SCALARS, HEADER)                        \
  apply<function_##NAME>(make_index_sequence<TENSORS + SCALARS>{}, x, y);
#include "runtime/routines/elementwise/functions.inc"
  apply_cast<bool>(*x, y);
  apply_cast<int8_t>(*x, y);
  apply_cast<uint8_t>(*x, y);
  apply_cast<int16_t>(*x, y);
  apply_cast<uint16_t>(*x, y);
  apply_cast<int32_t>(*x, y);
  apply_cast<uint32_t>(*x, y);
  apply_cast<int64_t>(*x, y);
  apply_cast<uint64_t>(*x, y);
  apply_cast<float>(*x, y);
  apply_cast<double>(*x, y);
}

struct functions {
  template <class T> static void compile() {
    functions_kernel<<<1, 1>>>(static_cast<const T *>(nullptr),
                               static_cast<double *>(nullptr));
  }
};

/// Compiles the routine for F of tensors of the types X.
template <class F, class Y, class... X> void compile_routine() {
  using S = nnc::elementwise_shape;
  compile_units<nnc::elementwise_portable<S, F>, S, const X *..., Y *>(F{});
}
struct sums {
  template <class T> static void compile() {
    compile_routine<function_add, T, T, T>();
  }
};
} // namespace

/// Calls what compiles all kernels.
void compile_all() {
  element_types<bool, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t,
                int64_t, uint64_t, float, double>::compile<functions>();
  element_types<int8_t, int32_t, f16, bf16, float, double>::compile<sums>();
  compile_routine<function_select, float, bool, float, float>();
  compile_routine<function_clip, float, float, float, float>();
}
