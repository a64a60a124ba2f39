//===- blocks.cuh - Padding on a GPU --------------------------------------===//
//
// The layers of portable.h, of elements of BYTES bytes. A thread has a run of a
// row of y: 16 bytes, or as many as divide the rows and the padding before
// them, so that a run is from x as a whole, or not at all.
//
// grid     grid(s): threads along x, for each run
// block    256 threads
// shared   none
// registers
//          at most 64 a thread
// from     sm_75 on
// reads    each element of x once, and again where it is repeated
// writes   each element of y once, exactly
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MOVES_PAD_BLOCKS_CUH
#define NNC_ROUTINES_MOVES_PAD_BLOCKS_CUH

#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/routines/blocks/moves.h"
#include "runtime/routines/moves/pad/source.h"
#include "runtime/routines/shapes/rows.h"
#include "runtime/simd/unroll.h"

namespace nnc {

template <int BYTES, class S, class Epi> struct pad_runs {
  static constexpr int threads = move_threads, shared_bytes = 0;

  NNC_FN static constexpr grid_size grid(const S &s) {
    return grid_of_moves(units(s, run_of(s)));
  }

  template <class B, class T>
  static NNC_INLINE void run(B &b, const S &s, const T *x, T *y, const Epi &) {
    static_assert(sizeof(T) == BYTES, "the size of an element");
    b.wait_for_inputs();
    const int run = aligned_run(run_of(s), x, y), last = s.rank - 1;
    const int runs = s.dims[last] / run;
    each_unit(b, grid(s), units(s, run), [&](int unit) {
      const int first = unit % runs * run;
      int from = 0, stride = s.in_dims[last], rest = unit / runs;
      bool inside = true;
      for (int d = last - 1; d >= 0; --d) {
        const int at = pad_source(s, d, d > 0 ? rest % s.dims[d] : rest);
        rest = d > 0 ? rest / s.dims[d] : 0;
        inside = inside && at >= 0;
        from += at * stride;
        stride *= s.in_dims[d];
      }
      T *to = y + ptrdiff_t(unit) * run;
      const int at = first - s.before[last];
      if (inside && at >= 0 && at < s.in_dims[last])
        return move_run(b, x + from + at, to, run, run);
      NNC_KEEP_LOOP
      for (int i = 0; i < run; ++i) {
        const int column = pad_source(s, last, first + i);
        b.store_global(to + i, inside && column >= 0
                                   ? b.load_global(x + from + column)
                                   : static_cast<T>(s.value));
      }
    });
  }

private:
  /// The elements that a thread moves at once.
  NNC_FN static constexpr int run_of(const S &s) {
    const int last = s.rank - 1;
    return common_run(s.dims[last] | s.in_dims[last] | s.before[last],
                      16 / BYTES);
  }
  NNC_FN static constexpr int units(const S &s, int run) {
    return count_rows(s) * (s.dims[s.rank - 1] / run);
  }
};

/// The routine for elements of BYTES bytes.
template <int BYTES, class S, class Epi> struct pad_runs_sm75 {
  using kernels = kernel_list<pad_runs<BYTES, S, Epi>>;
  static constexpr int arch = 75;
};
template <class S, class Epi> using pad_bf16_sm75 = pad_runs_sm75<2, S, Epi>;
template <class S, class Epi> using pad_byte_sm75 = pad_runs_sm75<1, S, Epi>;
template <class S, class Epi> using pad_f16_sm75 = pad_runs_sm75<2, S, Epi>;
template <class S, class Epi> using pad_f32_sm75 = pad_runs_sm75<4, S, Epi>;
template <class S, class Epi> using pad_i32_sm75 = pad_runs_sm75<4, S, Epi>;
template <class S, class Epi> using pad_i64_sm75 = pad_runs_sm75<8, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_PAD_BLOCKS_CUH
