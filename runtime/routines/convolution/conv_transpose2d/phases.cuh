//===- phases.cuh - Transposed convolutions in phases ---------------------===//
//
// The layer of portable.h for groups == 1, one stride for both axes and windows
// of at least the stride, in NHWC: each phase (phases_plan.h) is a convolution
// by conv2d/implicit_gemm.cuh, halves and bf16 on tensor cores and floats by
// fused multiply-adds. Tiles, registers, errors and alignment are described
// there and in float_gemm.cuh.
//
// grid     x: tiles of the largest phase; y: 1; z: phases
// arch     from sm_75 on, bf16 from sm_80 on; from there on it copies
//          asynchronously
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV_TRANSPOSE2D_PHASES_CUH
#define NNC_ROUTINES_CONVOLUTION_CONV_TRANSPOSE2D_PHASES_CUH

#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/routines/convolution/conv2d/float_gemm.cuh"
#include "runtime/routines/convolution/conv2d/implicit_gemm.cuh"
#include "runtime/routines/convolution/conv_transpose2d/phases_plan.h"

namespace nnc {

/// Stores epi(sum) where the phase has its outputs.
template <class T, class Epi> struct phase_sums {
  finished_sums<T, Epi> all;

  template <class B, class P, class Sum>
  NNC_INLINE void store(B &b, const P &s, const Sum (&v)[8], int row,
                        int channel, int count) const {
    all.store(b, s, v, s.output_row(row), channel, count);
  }
};

/// The kernel, for elements of type T and the stride STRIDE. With WHOLE, c is a
/// multiple of the elements of 16 bytes.
template <int STRIDE, class S, class T, class Tile, bool WHOLE, class Epi>
struct phases_kernel {
  static constexpr int threads = Tile::threads,
                       shared_bytes = Tile::shared_bytes;
  using products = conditional_t<is_same<T, float>::value, float_products<Tile>,
                                 tensor_products<T, Tile>>;

  static constexpr grid_size grid(const S &s) {
    return {gemm_blocks<Tile>(first_phase<STRIDE>(s)), 1, STRIDE * STRIDE};
  }
  template <class B, class Y>
  static NNC_INLINE void run(B &b, const S &s, const T *x, const T *w, Y *y,
                             const Epi &epi) {
    const phase_shape<STRIDE> phase(s, b.block_z());
    if (b.block_x() >= gemm_blocks<Tile>(phase)) {
      b.wait_for_inputs();
      return;
    }
    const phase_weights weights{s.c, s.k, s.kh, s.kw, STRIDE};
    const T *packed = w + weights.first_element(phase.taps, sizeof(T));
    implicit_gemm<T, Tile, WHOLE, phase_shape<STRIDE>, products>::run(
        b, phase, x, reinterpret_cast<const unsigned char *>(packed),
        phase_sums<Y, Epi>{{y, epi}}, 1);
  }
};

template <int ARCH, int STRIDE, class T, bool WHOLE, class S, int ROWS,
          int COLUMNS, int DEPTH, int WARP_ROWS, int WARP_COLUMNS, int STAGES,
          class Epi>
struct conv_transpose2d_phases {
  static constexpr int arch = ARCH;
  using tile = gemm_tile<ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES>;
  using kernels = kernel_list<phases_kernel<STRIDE, S, T, tile, WHOLE, Epi>>;
};

/// The routines, of which those without a number are for stride 2. In those
/// with `whole` in their names c is a multiple of 8 halves or bf16, or 4
/// floats.
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, class Epi>
using conv_transpose2d_bf16_phases_whole_sm80 =
    conv_transpose2d_phases<80, 2, bf16, true, S, ROWS, COLUMNS, DEPTH,
                            WARP_ROWS, WARP_COLUMNS, STAGES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, class Epi>
using conv_transpose2d_bf16_phases3_whole_sm80 =
    conv_transpose2d_phases<80, 3, bf16, true, S, ROWS, COLUMNS, DEPTH,
                            WARP_ROWS, WARP_COLUMNS, STAGES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, class Epi>
using conv_transpose2d_bf16_phases4_whole_sm80 =
    conv_transpose2d_phases<80, 4, bf16, true, S, ROWS, COLUMNS, DEPTH,
                            WARP_ROWS, WARP_COLUMNS, STAGES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, class Epi>
using conv_transpose2d_f16_phases_whole_sm75 =
    conv_transpose2d_phases<75, 2, f16, true, S, ROWS, COLUMNS, DEPTH,
                            WARP_ROWS, WARP_COLUMNS, STAGES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, class Epi>
using conv_transpose2d_f16_phases_whole_sm80 =
    conv_transpose2d_phases<80, 2, f16, true, S, ROWS, COLUMNS, DEPTH,
                            WARP_ROWS, WARP_COLUMNS, STAGES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, class Epi>
using conv_transpose2d_f32_phases_whole_sm75 =
    conv_transpose2d_phases<75, 2, float, true, S, ROWS, COLUMNS, DEPTH,
                            WARP_ROWS, WARP_COLUMNS, STAGES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, class Epi>
using conv_transpose2d_f32_phases_whole_sm80 =
    conv_transpose2d_phases<80, 2, float, true, S, ROWS, COLUMNS, DEPTH,
                            WARP_ROWS, WARP_COLUMNS, STAGES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, class Epi>
using conv_transpose2d_f16_phases3_whole_sm75 =
    conv_transpose2d_phases<75, 3, f16, true, S, ROWS, COLUMNS, DEPTH,
                            WARP_ROWS, WARP_COLUMNS, STAGES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, class Epi>
using conv_transpose2d_f16_phases3_whole_sm80 =
    conv_transpose2d_phases<80, 3, f16, true, S, ROWS, COLUMNS, DEPTH,
                            WARP_ROWS, WARP_COLUMNS, STAGES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, class Epi>
using conv_transpose2d_f32_phases3_whole_sm75 =
    conv_transpose2d_phases<75, 3, float, true, S, ROWS, COLUMNS, DEPTH,
                            WARP_ROWS, WARP_COLUMNS, STAGES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, class Epi>
using conv_transpose2d_f32_phases3_whole_sm80 =
    conv_transpose2d_phases<80, 3, float, true, S, ROWS, COLUMNS, DEPTH,
                            WARP_ROWS, WARP_COLUMNS, STAGES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, class Epi>
using conv_transpose2d_f16_phases4_whole_sm75 =
    conv_transpose2d_phases<75, 4, f16, true, S, ROWS, COLUMNS, DEPTH,
                            WARP_ROWS, WARP_COLUMNS, STAGES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, class Epi>
using conv_transpose2d_f16_phases4_whole_sm80 =
    conv_transpose2d_phases<80, 4, f16, true, S, ROWS, COLUMNS, DEPTH,
                            WARP_ROWS, WARP_COLUMNS, STAGES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, class Epi>
using conv_transpose2d_f32_phases4_whole_sm75 =
    conv_transpose2d_phases<75, 4, float, true, S, ROWS, COLUMNS, DEPTH,
                            WARP_ROWS, WARP_COLUMNS, STAGES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, class Epi>
using conv_transpose2d_f32_phases4_whole_sm80 =
    conv_transpose2d_phases<80, 4, float, true, S, ROWS, COLUMNS, DEPTH,
                            WARP_ROWS, WARP_COLUMNS, STAGES, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV_TRANSPOSE2D_PHASES_CUH
