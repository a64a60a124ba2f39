// The instances of row_kernels.inc, for the gate on machine code
// (machine_code.py).
#include "runtime/cuda/kernels.h"
#include "runtime/routines/normalization/layer_norm/rows.cuh"
#include "runtime/routines/normalization/layer_norm/shape.h"
#include "runtime/routines/normalization/softmax/rows.cuh"
#include "runtime/routines/normalization/softmax/shape.h"
#include "runtime/routines/pooling/pool2d/nhwc.cuh"
#include "runtime/routines/pooling/pool2d/shape.h"
#include "runtime/routines/reduction/reduce/rows.cuh"
#include "runtime/routines/reduction/reduce/shape.h"
#include "test/runtime/cuda/kernel_epilogue.h"

using namespace nnc;

namespace {

constexpr int arch = __CUDA_ARCH_LIST__ / 10;

template <class T> using epilogue = epilogue_of<T>;

/// Element types by their names in row_kernels.inc.
using of_bf16 = bf16;
using of_f16 = f16;
using of_f32 = float;

/// Shapes of constants by their names there.
template <int SIZE> struct rows_of {
  static constexpr int outer = 1000, size = SIZE, inner = 1, log = 0;
  static constexpr float epsilon = 1e-5f;
};
using part = rows_of<128>;
using warp = rows_of<1000>;
using held = rows_of<8000>;
using read = rows_of<80000>;
struct columns {
  static constexpr int outer = 1, size = 21, inner = 1 << 16, log = 0;
};
struct window {
  static constexpr int n = 8, c = 64, h = 112, w = 112, kh = 3, kw = 3, sh = 2,
                       sw = 2, dh = 1, dw = 1, pt = 1, pl = 1, pb = 1, pr = 1,
                       oh = 56, ow = 56, count_include_pad = 1;
};
struct global {
  static constexpr int n = 8, c = 2048, h = 7, w = 7, kh = 7, kw = 7, sh = 1,
                       sw = 1, dh = 1, dw = 1, pt = 0, pl = 0, pb = 0, pr = 0,
                       oh = 1, ow = 1, count_include_pad = 0;
};

/// The shape of a kernel: the family's own, or one of constants.
struct any {};
template <class Family, class Shape>
using shape_of = conditional_t<is_same<Shape, any>::value, Family, Shape>;

/// The first kernel of a routine.
template <class Kernel> Kernel first_of(kernel_list<Kernel>);
template <class Routine>
using kernel_of = decltype(first_of(typename Routine::kernels()));

} // namespace

// clang-format off
#define NNC_KERNEL(NAME, ROUTINE, SHAPE, TYPE, EPILOGUE, ...)                                      \
  extern "C" __global__ void                                                                       \
  __launch_bounds__(kernel_of<ROUTINE<SHAPE, EPILOGUE>>::threads,                                  \
                    resident_blocks<kernel_of<ROUTINE<SHAPE, EPILOGUE>>>)                          \
  NAME(SHAPE s, const TYPE *x, const TYPE *scale, const TYPE *bias, TYPE *y, EPILOGUE epi) {       \
    device_block<arch> b;                                                                          \
    kernel_of<ROUTINE<SHAPE, EPILOGUE>>::run(b, s, __VA_ARGS__, y, epi);                           \
  }
#define NNC_avg_pool2d(NAME, TYPE, SHAPE)                                                          \
  NNC_KERNEL(NAME, avg_pool2d_##TYPE##_nhwc_sm75, SHAPE, of_##TYPE, epilogue<of_##TYPE>, x)
#define NNC_max_pool2d(NAME, TYPE, SHAPE)                                                          \
  NNC_KERNEL(NAME, max_pool2d_##TYPE##_nhwc_sm75, SHAPE, of_##TYPE, none, x)
#define NNC_layer_norm(NAME, TYPE, SHAPE)                                                          \
  NNC_KERNEL(NAME, layer_norm_##TYPE##_rows_sm75, SHAPE, of_##TYPE, epilogue<of_##TYPE>, x, scale, \
             bias)
#define NNC_softmax(NAME, TYPE, SHAPE)                                                             \
  NNC_KERNEL(NAME, softmax_##TYPE##_rows_sm75, SHAPE, of_##TYPE, none, x)
#define NNC_reduce_log_sum_exp(NAME, TYPE, SHAPE)                                                  \
  NNC_KERNEL(NAME, reduce_log_sum_exp_##TYPE##_rows_sm75, SHAPE, of_##TYPE, none, x)
#define NNC_reduce_max(NAME, TYPE, SHAPE)                                                          \
  NNC_KERNEL(NAME, reduce_max_##TYPE##_rows_sm75, SHAPE, of_##TYPE, none, x)
#define NNC_reduce_mean(NAME, TYPE, SHAPE)                                                         \
  NNC_KERNEL(NAME, reduce_mean_##TYPE##_rows_sm75, SHAPE, of_##TYPE, none, x)
#define NNC_reduce_sum(NAME, TYPE, SHAPE)                                                          \
  NNC_KERNEL(NAME, reduce_sum_##TYPE##_rows_sm75, SHAPE, of_##TYPE, none, x)

#define NNC_ROW_KERNEL(FAMILY, TYPE, SHAPE)                                                        \
  namespace {                                                                                      \
  using shape_##FAMILY##_##TYPE##_##SHAPE = shape_of<FAMILY##_shape, SHAPE>;                       \
  }                                                                                                \
  NNC_##FAMILY(FAMILY##_##TYPE##_##SHAPE, TYPE, shape_##FAMILY##_##TYPE##_##SHAPE)
// clang-format on
#include "test/runtime/cuda/row_kernels.inc"
