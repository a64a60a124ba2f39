// The instances of move_kernels.inc, for the gate on machine code
// (move_machine_code.py).
#include "runtime/cuda/device_block.h"
#include "runtime/epilogue.h"
#include "runtime/routines/elementwise/blocks.cuh"
#include "runtime/routines/elementwise/transposes.cuh"
#include "runtime/routines/moves/copy/blocks.cuh"
#include "runtime/routines/moves/gather/blocks.cuh"
#include "runtime/routines/moves/gather/shape.h"
#include "runtime/routines/moves/join/blocks.cuh"
#include "runtime/routines/moves/pad/blocks.cuh"
#include "runtime/routines/resampling/resize/nhwc.cuh"
#include "runtime/simd/elementwise.h"
#include "runtime/simd/half.h"

using namespace nnc;

namespace {

constexpr int arch = __CUDA_ARCH_LIST__ / 10;

/// Element types by their names in move_kernels.inc.
using of_f16 = f16;
using of_f32 = float;
using of_i8 = int8_t;

/// Shapes as emitted modules have them: lists are members.
template <int RANK> struct axes {
  static constexpr int rank = RANK, planes = 1, pixels = 1;
  static constexpr int src_offset = 0, dst_offset = 0;
  int dims[RANK], src_strides[RANK], dst_strides[RANK];
  int strides[3][RANK];
};
using axes_1 = axes<1>;
using axes_2 = axes<2>;
using axes_3 = axes<3>;
using axes_4 = axes<4>;

using rows_of_any = gather_shape;
template <int INPUTS> struct joined {
  int rows, pitch, widths[INPUTS];
};
using joined_3 = joined<3>;
using joined_8 = joined<8>;
template <int RANK> struct padded {
  static constexpr int rank = RANK, mode = 0;
  static constexpr float value = 0;
  int dims[RANK], in_dims[RANK], before[RANK];
};
using padded_4 = padded<4>;
template <int MODE> struct resized {
  static constexpr int n = 1, c = 64, h = 40, w = 40, oh = 80, ow = 80,
                       mode = MODE, coord = 0, nearest = 0, exclude_outside = 0;
  static constexpr float scale_h = 2, scale_w = 2, cubic_a = -0.75f;
};
using nearest = resized<0>;
using linear = resized<1>;
using cubic = resized<2>;

/// Functors as emitted modules have them.
struct scale_and_add {
  template <class V> NNC_FN V operator()(V x, V y, V z) const {
    return nnc::add(nnc::mul(x, y), z);
  }
};
struct convert {
  template <class V> NNC_FN V operator()(V x) const { return x; }
};

} // namespace

// clang-format off
#define NNC_copy_runs(NAME, TYPE, SHAPE)                                                           \
  NNC_MOVE(NAME, TYPE, TYPE, SHAPE, (copy_runs<sizeof(of_##TYPE), SHAPE, none>), x, y, none())
#define NNC_copy_transposed(NAME, TYPE, SHAPE)                                                     \
  NNC_MOVE(NAME, TYPE, TYPE, SHAPE, (copy_transposed<sizeof(of_##TYPE), SHAPE, none>), x, y,       \
           none())
#define NNC_copy_channels(NAME, TYPE, SHAPE)                                                       \
  NNC_MOVE(NAME, TYPE, TYPE, SHAPE, (copy_channels<sizeof(of_##TYPE), SHAPE, 3, none>), x, y,      \
           none())
#define NNC_elementwise(NAME, TYPE, SHAPE)                                                         \
  NNC_MOVE(NAME, TYPE, TYPE, SHAPE, (elementwise_runs<sizeof(of_##TYPE), SHAPE, scale_and_add>),   \
           x, x1, x2, y, scale_and_add())
// From floats to halves, and back.
#define NNC_OTHER_f16 f32
#define NNC_OTHER_f32 f16
#define NNC_elementwise_transposed(NAME, TYPE, SHAPE)                                              \
  NNC_MOVE(NAME, TYPE, NNC_OTHER_##TYPE, SHAPE,                                                    \
           (elementwise_transposed<sizeof(of_##TYPE), SHAPE, convert>), x, y, convert())
#define NNC_elementwise_channels(NAME, TYPE, SHAPE)                                                \
  NNC_MOVE(NAME, TYPE, NNC_OTHER_##TYPE, SHAPE,                                                    \
           (elementwise_channels<sizeof(of_##TYPE), SHAPE, 3, convert>), x, y, convert())

#define NNC_gather(NAME, TYPE, SHAPE)                                                              \
  NNC_MOVE(NAME, TYPE, TYPE, SHAPE, (gather_runs<sizeof(of_##TYPE), SHAPE, none>), x, indices, y,  \
           none())
#define NNC_join(NAME, TYPE, SHAPE)                                                                \
  NNC_MOVE(NAME, TYPE, TYPE, SHAPE, (join_runs<sizeof(of_##TYPE), SHAPE, none>),                   \
           NNC_INPUTS_##SHAPE, y, none())
#define NNC_INPUTS_joined_3 x, x1, x2
#define NNC_INPUTS_joined_8 x, x1, x2, x, x1, x2, x, x1
#define NNC_pad(NAME, TYPE, SHAPE)                                                                 \
  NNC_MOVE(NAME, TYPE, TYPE, SHAPE, (pad_runs<sizeof(of_##TYPE), SHAPE, none>), x, y, none())
#define NNC_resize(NAME, TYPE, SHAPE)                                                              \
  NNC_MOVE(NAME, TYPE, TYPE, SHAPE, (resize_nhwc<of_##TYPE, SHAPE, none>), x, y, none())

#define NNC_UNWRAP(...) __VA_ARGS__
#define NNC_MOVE(NAME, FROM, TO, SHAPE, KERNEL, ...)                                               \
  NNC_MOVE_OF(NAME, FROM, TO, SHAPE, KERNEL, __VA_ARGS__)
#define NNC_MOVE_OF(NAME, FROM, TO, SHAPE, KERNEL, ...)                                            \
  namespace {                                                                                      \
  using kernel_##NAME = NNC_UNWRAP KERNEL;                                                         \
  }                                                                                                \
  extern "C" __global__ void __launch_bounds__(kernel_##NAME::threads)                             \
  NAME(SHAPE s, const of_##FROM *x, const of_##FROM *x1, const of_##FROM *x2,                      \
       const int64_t *indices, of_##TO *y) {                                                       \
    device_block<arch> b;                                                                          \
    kernel_##NAME::run(b, s, __VA_ARGS__);                                                         \
  }
#define NNC_MOVE_KERNEL(KERNEL, TYPE, SHAPE) NNC_##KERNEL(KERNEL##_##TYPE##_##SHAPE, TYPE, SHAPE)
// clang-format on
#include "test/runtime/cuda/move_kernels.inc"
