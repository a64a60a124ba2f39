//===- blocks.cuh - Gather on a GPU ---------------------------------------===//
//
// The layers of portable.h, of elements of BYTES bytes. A thread moves a run of
// a slice: 16 bytes, or as many as divide `inner`.
//
// grid     grid(s): threads along x, for each run
// block    256 threads
// shared   none
// registers
//          at most 64 a thread
// from     sm_75 on
// reads    an index for each run, and the elements of x that it names
// writes   each element of y once, exactly
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MOVES_GATHER_BLOCKS_CUH
#define NNC_ROUTINES_MOVES_GATHER_BLOCKS_CUH

#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/routines/blocks/moves.h"
#include "runtime/simd/unroll.h"

namespace nnc {

template <int BYTES, class S, class Epi> struct gather_runs {
  static constexpr int threads = move_threads, shared_bytes = 0;

  NNC_FN static constexpr grid_size grid(const S &s) {
    return grid_of_moves(units(s, run_of(s)));
  }

  template <class B, class T, class I>
  static NNC_INLINE void run(B &b, const S &s, const T *x, const I *indices,
                             T *y, const Epi &) {
    static_assert(sizeof(T) == BYTES, "the size of an element");
    b.wait_for_inputs();
    const int run = aligned_run(run_of(s), x, y), runs = s.inner / run;
    each_unit(b, grid(s), units(s, run), [&](int unit) {
      const int slice = unit / runs, first = unit % runs * run;
      I index = b.load_global(indices + slice % s.count);
      index = index < 0 ? index + s.axis_size : index;
      index = index < 0 ? 0 : index;
      index = index >= s.axis_size ? s.axis_size - 1 : index;
      T *to = y + ptrdiff_t(slice) * s.inner + first;
      if (s.axis_size > 0) {
        const T *from =
            x +
            (ptrdiff_t(slice / s.count) * s.axis_size + ptrdiff_t(index)) *
                s.inner +
            first;
        return move_run(b, from, to, run, run);
      }
      NNC_KEEP_LOOP
      for (int i = 0; i < run; ++i)
        b.store_global(to + i, T(0));
    });
  }

private:
  /// The elements that a thread moves at once.
  NNC_FN static constexpr int run_of(const S &s) {
    return common_run(s.inner, 16 / BYTES);
  }
  NNC_FN static constexpr int units(const S &s, int run) {
    return s.outer * s.count * (s.inner / run);
  }
};

/// The routine for elements of BYTES bytes.
template <int BYTES, class S, class Epi> struct gather_runs_sm75 {
  using kernels = kernel_list<gather_runs<BYTES, S, Epi>>;
  static constexpr int arch = 75;
};
template <class S, class Epi>
using gather_bf16_sm75 = gather_runs_sm75<2, S, Epi>;
template <class S, class Epi>
using gather_byte_sm75 = gather_runs_sm75<1, S, Epi>;
template <class S, class Epi>
using gather_f16_sm75 = gather_runs_sm75<2, S, Epi>;
template <class S, class Epi>
using gather_f32_sm75 = gather_runs_sm75<4, S, Epi>;
template <class S, class Epi>
using gather_i1_sm75 = gather_runs_sm75<1, S, Epi>;
template <class S, class Epi>
using gather_i32_sm75 = gather_runs_sm75<4, S, Epi>;
template <class S, class Epi>
using gather_i64_sm75 = gather_runs_sm75<8, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_GATHER_BLOCKS_CUH
