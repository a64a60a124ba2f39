//===- blocks.cuh - Concatenation of several tensors on a GPU -------------===//
//
// The concatenations of portable.h, of elements of BYTES bytes. A thread moves
// a run of a row of y: 16 bytes, or as many as divide all widths.
//
// grid     grid(s): threads along x, for each run
// block    256 threads
// shared   none
// registers
//          at most 64 a thread, for eight inputs
// from     sm_75 on
// reads    each element once
// writes   each element once, exactly
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MOVES_JOIN_BLOCKS_CUH
#define NNC_ROUTINES_MOVES_JOIN_BLOCKS_CUH

#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/routines/blocks/moves.h"
#include "runtime/routines/moves/join/portable.h"

namespace nnc {

template <int BYTES, class S, class Epi> struct join_runs {
  static constexpr int threads = move_threads, shared_bytes = 0;

  NNC_FN static constexpr grid_size grid(const S &s) {
    return grid_of_moves(s.rows * (s.pitch / run_of(s)));
  }

  template <class B, class... A>
  static NNC_INLINE void run(B &b, const S &s, A... arguments) {
    static_assert(sizeof...(A) > 2, "inputs, y, epilogue");
    rotate<sizeof...(A) - 2>(b, s, arguments...);
  }

private:
  /// The elements that a thread moves at once.
  NNC_FN static constexpr int run_of(const S &s) {
    int all = 0;
    for (const int width : s.widths)
      all |= width;
    return common_run(all, 16 / BYTES);
  }

  /// Moves `Inputs` arguments behind the others, where a parameter pack can
  /// take them.
  template <size_t Inputs, class B, class First, class... Rest>
  static NNC_INLINE void rotate(B &b, const S &s, First first, Rest... rest) {
    if constexpr (Inputs == 0)
      run_all(b, s, first, rest...);
    else
      rotate<Inputs - 1>(b, s, rest..., first);
  }
  template <class B, class T, class... X>
  static NNC_INLINE void run_all(B &b, const S &s, T *y, const Epi &,
                                 const X *...x) {
    static_assert(sizeof(T) == BYTES, "the size of an element");
    b.wait_for_inputs();
    const int run = aligned_run(run_of(s), y, x...), runs = s.pitch / run;
    each_unit(b, grid(s), s.rows * runs, [&](int unit) {
      const T *from = static_cast<const T *>(joined_place(
          index_sequence_for<X...>{}, s, unit / runs, unit % runs * run, x...));
      move_run(b, from, y + ptrdiff_t(unit) * run, run, run);
    });
  }
};

/// The routine for elements of BYTES bytes.
template <int BYTES, class S, class Epi> struct join_runs_sm75 {
  using kernels = kernel_list<join_runs<BYTES, S, Epi>>;
  static constexpr int arch = 75;
};
template <class S, class Epi> using join_bf16_sm75 = join_runs_sm75<2, S, Epi>;
template <class S, class Epi> using join_byte_sm75 = join_runs_sm75<1, S, Epi>;
template <class S, class Epi> using join_f16_sm75 = join_runs_sm75<2, S, Epi>;
template <class S, class Epi> using join_f32_sm75 = join_runs_sm75<4, S, Epi>;
template <class S, class Epi> using join_i1_sm75 = join_runs_sm75<1, S, Epi>;
template <class S, class Epi> using join_i16_sm75 = join_runs_sm75<2, S, Epi>;
template <class S, class Epi> using join_i32_sm75 = join_runs_sm75<4, S, Epi>;
template <class S, class Epi> using join_i64_sm75 = join_runs_sm75<8, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_JOIN_BLOCKS_CUH
