//===- blocks.cuh - Strided copy on a GPU ---------------------------------===//
//
// The copies of portable.h, of elements of BYTES bytes.
//
// copy_runs        any copy. A thread moves a run of a row, of 16 bytes or of
// as
//                  many as the steps of the other axes allow. It moves a single
//                  element if the last axis is not contiguous on both sides.
// copy_transposed  copies whose two sides are contiguous along different axes:
//                  a block moves tiles by way of shared memory, in runs of 16
//                  bytes on both sides (blocks/transposes.h)
// copy_channels    the same with an axis of CHANNELS elements, such as an image
//                  of three channels between NCHW and NHWC: a thread has runs
//                  of them all
//
// grid     grid(s): threads or tiles along x
// block    256 threads
// shared   copy_transposed: 8 KiB; the others none
// registers
//          at most 64 a thread
// from     sm_75 on
// reads    each element once
// writes   each element once, exactly
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MOVES_COPY_BLOCKS_CUH
#define NNC_ROUTINES_MOVES_COPY_BLOCKS_CUH

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/routines/blocks/moves.h"
#include "runtime/routines/blocks/transposes.h"
#include "runtime/routines/moves/copy/view.h"
#include "runtime/routines/shapes/rows.h"

namespace nnc {

template <int BYTES, class S, class Epi> struct copy_runs {
  static constexpr int threads = move_threads, shared_bytes = 0;

  NNC_FN static constexpr grid_size grid(const S &s) {
    return grid_of_moves(units(s, run_of(s)));
  }

  template <class B, class T>
  static NNC_INLINE void run(B &b, const S &s, const T *x, T *y, const Epi &) {
    static_assert(sizeof(T) == BYTES, "the size of an element");
    b.wait_for_inputs();
    const int run = aligned_run(run_of(s), x, y);
    const int last = s.rank - 1, runs = ceil_div(s.dims[last], run);
    each_unit(b, grid(s), units(s, run), [&](int unit) {
      const int first = unit % runs * run;
      int from = s.src_offset + first * s.src_strides[last];
      int to = s.dst_offset + first * s.dst_strides[last];
      int rest = unit / runs;
      for (int d = last - 1; d >= 0; --d) {
        const int index = d > 0 ? rest % s.dims[d] : rest;
        rest = d > 0 ? rest / s.dims[d] : 0;
        from += index * s.src_strides[d];
        to += index * s.dst_strides[d];
      }
      move_run(b, x + from, y + to, run, s.dims[last] - first);
    });
  }

private:
  /// The elements that a thread moves at once.
  NNC_FN static constexpr int run_of(const S &s) {
    const int last = s.rank - 1;
    int all = s.src_offset | s.dst_offset;
    for (int d = 0; d < last; ++d)
      all |= s.src_strides[d] | s.dst_strides[d];
    if (s.dims[last] > 1 &&
        (s.src_strides[last] != 1 || s.dst_strides[last] != 1))
      return 1;
    // A row that is shorter than a run would be moved by elements.
    int run = common_run(all, 16 / BYTES);
    while (run > s.dims[last])
      run /= 2;
    return run;
  }
  NNC_FN static constexpr int units(const S &s, int run) {
    return count_rows(s) * ceil_div(s.dims[s.rank - 1], run);
  }
};

/// The function of a transpose that copies.
struct same_element {
  template <class T> NNC_INLINE T operator()(T x) const { return x; }
};

/// An unsigned integer of BYTES bytes, as which elements are moved.
template <int BYTES>
using bits_of = conditional_t<BYTES == 1, uint8_t,
                              conditional_t<BYTES == 2, uint16_t, uint32_t>>;

template <int BYTES, class S, class Epi> struct copy_transposed {
  using tile = transposed_tile<BYTES>;
  static constexpr int threads = move_threads,
                       shared_bytes = tile::shared_bytes;

  NNC_FN static constexpr grid_size grid(const S &s) {
    return {larger(1, tile::count(copy_view<S>{s})), 1, 1};
  }

  template <class B, class T>
  static NNC_INLINE void run(B &b, const S &s, const T *x, T *y, const Epi &) {
    static_assert(sizeof(T) == BYTES, "the size of an element");
    b.wait_for_inputs();
    transpose_tile(
        b, copy_view<S>{s}, reinterpret_cast<const bits_of<BYTES> *>(x),
        reinterpret_cast<bits_of<BYTES> *>(y), same_element(), b.block_x());
  }
};

template <int BYTES, class S, int CHANNELS, class Epi> struct copy_channels {
  static constexpr int threads = move_threads, shared_bytes = 0;

  NNC_FN static constexpr int units(const S &s) {
    return count_channel_runs<channel_run<BYTES>>(copy_view<S>{s});
  }
  NNC_FN static constexpr grid_size grid(const S &s) {
    return grid_of_moves(units(s));
  }

  template <class B, class T>
  static NNC_INLINE void run(B &b, const S &s, const T *x, T *y, const Epi &) {
    static_assert(sizeof(T) == BYTES, "the size of an element");
    b.wait_for_inputs();
    each_unit(b, grid(s), units(s), [&](int unit) {
      transpose_channels<CHANNELS>(
          b, copy_view<S>{s}, reinterpret_cast<const bits_of<BYTES> *>(x),
          reinterpret_cast<bits_of<BYTES> *>(y), same_element(), unit);
    });
  }
};

/// The routines for elements of BYTES bytes.
template <int BYTES, class S, class Epi> struct copy_runs_sm75 {
  using kernels = kernel_list<copy_runs<BYTES, S, Epi>>;
  static constexpr int arch = 75;
};
template <int BYTES, class S, class Epi> struct copy_transposed_sm75 {
  using kernels = kernel_list<copy_transposed<BYTES, S, Epi>>;
  static constexpr int arch = 75;
};
template <int BYTES, class S, int CHANNELS, class Epi>
struct copy_channels_sm75 {
  using kernels = kernel_list<copy_channels<BYTES, S, CHANNELS, Epi>>;
  static constexpr int arch = 75;
};

/// Names of the routines for one type of elements.
#define NNC_COPY_BLOCKS(TYPE, BYTES)                                           \
  template <class S, int CHANNELS, class Epi>                                  \
  using copy_##TYPE##_channels_sm75 =                                          \
      copy_channels_sm75<BYTES, S, CHANNELS, Epi>;                             \
  template <class S, class Epi>                                                \
  using copy_##TYPE##_sm75 = copy_runs_sm75<BYTES, S, Epi>;                    \
  template <class S, class Epi>                                                \
  using copy_##TYPE##_transposed_sm75 = copy_transposed_sm75<BYTES, S, Epi>;
NNC_COPY_BLOCKS(bf16, 2)
NNC_COPY_BLOCKS(byte, 1)
NNC_COPY_BLOCKS(f16, 2)
NNC_COPY_BLOCKS(f32, 4)
NNC_COPY_BLOCKS(i1, 1)
NNC_COPY_BLOCKS(i16, 2)
NNC_COPY_BLOCKS(i32, 4)
#undef NNC_COPY_BLOCKS
template <class S, class Epi> using copy_i64_sm75 = copy_runs_sm75<8, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_COPY_BLOCKS_CUH
