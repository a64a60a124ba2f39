//===- transposes.cuh - A function of each element, transposed, on a GPU --===//
//
// The layers of elementwise.h with one input that is contiguous along another
// axis than y, such as the conversion of a map of floats in NCHW to halves in
// NHWC: the change of layout and the function in one launch. Elements of x have
// BYTES bytes.
//
// elementwise_transposed  a block moves tiles by way of shared memory, in runs
//                         of 16 bytes on both sides (blocks/transposes.h)
// elementwise_channels    for an axis of CHANNELS elements: a thread has runs
// of
//                         them all
//
// grid     grid(s): tiles or threads along x
// block    256 threads
// shared   elementwise_transposed: 8 KiB; elementwise_channels: none
// registers
//          at most 128 a thread
// from     sm_75 on
// reads    each element once
// writes   each element once
// error    that of the function, which is the same as on a CPU
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_ELEMENTWISE_TRANSPOSES_CUH
#define NNC_ROUTINES_ELEMENTWISE_TRANSPOSES_CUH

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/routines/blocks/moves.h"
#include "runtime/routines/blocks/transposes.h"
#include "runtime/routines/elementwise/view.h"

namespace nnc {

/// Calls body(y, g) for the arguments numbers..., y and f of a function of a
/// tensor and of numbers, where g(v) is f(v, numbers...).
template <class B, class Body, class Y, class F>
NNC_INLINE void with_numbers_last(B &, const Body &body, Y *y, const F &f) {
  body(y, f);
}
template <class B, class Body, class Y, class F, class... X>
NNC_INLINE void with_numbers_last(B &b, const Body &body, Y *y, const F &f,
                                  const X *...x) {
  const auto with = [&](auto... numbers) {
    body(y, [&](auto v) { return f(v, numbers...); });
  };
  with(argument_value(b.load_global(x))...);
}
template <size_t Numbers, class B, class Body, class First, class... Rest>
NNC_INLINE void rotate_numbers(B &b, const Body &body, First first,
                               Rest... rest) {
  if constexpr (Numbers == 0)
    with_numbers_last(b, body, first, rest...);
  else
    rotate_numbers<Numbers - 1>(b, body, rest..., first);
}
template <class B, class Body, class... A>
NNC_INLINE void with_numbers(B &b, const Body &body, A... arguments) {
  rotate_numbers<sizeof...(A) - 2>(b, body, arguments...);
}

template <int BYTES, class S, class F> struct elementwise_transposed {
  using tile = transposed_tile<BYTES>;
  static constexpr int threads = move_threads,
                       shared_bytes = tile::shared_bytes;

  NNC_FN static constexpr grid_size grid(const S &s) {
    return {larger(1, tile::count(elementwise_view<S>{s})), 1, 1};
  }

  template <class B, class X, class... A>
  static NNC_INLINE void run(B &b, const S &s, const X *x, A... arguments) {
    static_assert(sizeof(X) == BYTES, "the size of an element");
    b.wait_for_inputs();
    with_numbers(
        b,
        [&](auto *y, const auto &f) {
          transpose_tile(b, elementwise_view<S>{s}, x, y, f, b.block_x());
        },
        arguments...);
  }
};

template <int BYTES, class S, int CHANNELS, class F>
struct elementwise_channels {
  static constexpr int threads = move_threads, shared_bytes = 0;

  NNC_FN static constexpr int units(const S &s) {
    return count_channel_runs<channel_run<BYTES>>(elementwise_view<S>{s});
  }
  NNC_FN static constexpr grid_size grid(const S &s) {
    return grid_of_moves(units(s));
  }

  template <class B, class X, class... A>
  static NNC_INLINE void run(B &b, const S &s, const X *x, A... arguments) {
    static_assert(sizeof(X) == BYTES, "the size of an element");
    b.wait_for_inputs();
    with_numbers(
        b,
        [&](auto *y, const auto &f) {
          each_unit(b, grid(s), units(s), [&](int unit) {
            transpose_channels<CHANNELS>(b, elementwise_view<S>{s}, x, y, f,
                                         unit);
          });
        },
        arguments...);
  }
};

/// The routines for elements of BYTES bytes in x.
template <int BYTES, class S, class F> struct elementwise_transposed_sm75 {
  using kernels = kernel_list<elementwise_transposed<BYTES, S, F>>;
  static constexpr int arch = 75;
};
template <int BYTES, class S, int CHANNELS, class F>
struct elementwise_channels_sm75 {
  using kernels = kernel_list<elementwise_channels<BYTES, S, CHANNELS, F>>;
  static constexpr int arch = 75;
};

/// Names of the routines for one type of elements.
#define NNC_ELEMENTWISE_TRANSPOSED(NAME, BYTES)                                \
  template <class S, int CHANNELS, class F>                                    \
  using elementwise_##NAME##_channels_sm75 =                                   \
      elementwise_channels_sm75<BYTES, S, CHANNELS, F>;                        \
  template <class S, class F>                                                  \
  using elementwise_##NAME##_sm75 = elementwise_transposed_sm75<BYTES, S, F>;
NNC_ELEMENTWISE_TRANSPOSED(bf16_from_plain, 2)
NNC_ELEMENTWISE_TRANSPOSED(bf16_to_plain, 2)
NNC_ELEMENTWISE_TRANSPOSED(f16_from_plain, 2)
NNC_ELEMENTWISE_TRANSPOSED(f16_to_plain, 2)
NNC_ELEMENTWISE_TRANSPOSED(f32_from_plain, 4)
NNC_ELEMENTWISE_TRANSPOSED(f32_to_plain, 4)
#undef NNC_ELEMENTWISE_TRANSPOSED

} // namespace nnc

#endif // NNC_ROUTINES_ELEMENTWISE_TRANSPOSES_CUH
