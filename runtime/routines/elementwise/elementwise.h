//===- elementwise.h - A function of each element, with broadcast ---------===//
//
// y[i] = f(x0[i . strides[0]], x1[i . strides[1]], ...), as shape.h says. y is
// dense and may be one of the inputs. F is a functor like that of an epilogue,
// with one argument for each input. If all tensors are floats or halves, which
// F takes as float, or if F also takes the vectors of simd/bytes.h, and every
// input is contiguous or constant along the last axis, F is applied to vectors
// of W along that axis; otherwise to one element at a time. The last axis
// should be long, so axes should be merged before.
//
// Called as run(s, x0, x1, ..., y, f, begin, end). A unit is up to 4096
// elements of one row of the last axis, or up to 64 where threads divide planes
// by places.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_ELEMENTWISE_ELEMENTWISE_H
#define NNC_ROUTINES_ELEMENTWISE_ELEMENTWISE_H

#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/routines/shapes/rows.h"
#include "runtime/routines/units/thread_ranges.h"
#include "runtime/simd/vec.h"

namespace nnc {

template <int W, class S, class F, bool ByElement = false>
struct elementwise_t {
  using by_element = elementwise_t<1, S, F, true>;

  NNC_FN static constexpr int units(const S &s) {
    return count_rows(s) * pieces(s);
  }

  template <class... A> NNC_FN static void run(const S &s, A... arguments) {
    static_assert(sizeof...(A) > 4, "inputs, y, f, begin, end");
    rotate<sizeof...(A) - 4>(s, arguments...);
  }

private:
  /// Returns true if y consists of planes of pixels that threads should divide
  /// by positions (thread_ranges.h).
  NNC_FN static constexpr bool shares_places(const S &s) {
    return !ByElement && s.planes > 1 &&
           shares_places_of_planes(
               count_rows(s) * s.dims[s.rank - 1] / s.pixels, s.pixels);
  }
  /// Largest number of elements of a unit.
  NNC_FN static constexpr int unit_length(const S &s) {
    return ByElement ? 1 : shares_places(s) ? 64 : 4096;
  }
  NNC_FN static constexpr int pieces(const S &s) {
    return ceil_div(s.dims[s.rank - 1], unit_length(s));
  }

  /// Moves `Inputs` arguments behind the others, where a parameter pack can
  /// take them.
  template <size_t Inputs, class First, class... Rest>
  NNC_FN static void rotate(const S &s, First first, Rest... rest) {
    if constexpr (Inputs == 0)
      over_units(s, first, rest...);
    else
      rotate<Inputs - 1>(s, rest..., first);
  }

  template <class Y, class... X>
  NNC_FN static void over_units(const S &s, Y *y, const F &f, int begin,
                                int end, const X *...x) {
    const auto in_order = [&](int first, int last) {
      over_units_indexed(index_sequence_for<X...>{}, s, y, f, first, last,
                         x...);
    };
    const int all = units(s);
    if (!shares_places(s) || end - begin == all)
      return in_order(begin, end);
    for_each_run(begin, end, all / s.planes, s.planes, true,
                 [&](int, int plane, int first, int last) {
                   const int start = plane * (all / s.planes);
                   in_order(start + first, start + last);
                 });
  }

  template <size_t... I, class Y, class... X>
  NNC_FN static void over_units_indexed(index_sequence<I...> sequence,
                                        const S &s, Y *y, const F &f, int begin,
                                        int end, const X *...x) {
    const int last = s.rank - 1, width = s.dims[last];
    // Finds where unit `begin` starts; the loops below count on from row to row
    // like an odometer.
    int piece = begin % pieces(s), index[8] = {};
    ptrdiff_t at[] = {(static_cast<void>(x), ptrdiff_t(0))...};
    for (int d = last, rest = begin / pieces(s); d-- > 0; rest /= s.dims[d]) {
      index[d] = rest % s.dims[d];
      ((at[I] += ptrdiff_t(index[d]) * s.strides[I][d]), ...);
    }
    y += ptrdiff_t(begin / pieces(s)) * width;
    if (last > 0 && width <= unit_length(s))
      // Rows are short where a row is one block of channels: they follow each
      // other along the last axis but one.
      for (int unit = begin; unit < end;) {
        const int rows =
            smaller(end - unit, s.dims[last - 1] - index[last - 1]);
        for (int row = 0; row < rows; ++row)
          piece_of_row(sequence, s, y + ptrdiff_t(row) * width, f, width,
                       x + at[I] + ptrdiff_t(row) * s.strides[I][last - 1]...);
        unit += rows;
        y += ptrdiff_t(rows) * width;
        advance<I...>(s, rows, index, at);
      }
    else
      for (int unit = begin; unit < end;) {
        const int some = smaller(end - unit, pieces(s) - piece);
        const int from = piece * unit_length(s);
        const int count = smaller(some * unit_length(s), width - from);
        piece_of_row(sequence, s, y + from, f, count,
                     x + at[I] + ptrdiff_t(from) * s.strides[I][last]...);
        unit += some;
        piece += some;
        if (piece < pieces(s))
          continue;
        piece = 0;
        y += width;
        if (last > 0)
          advance<I...>(s, 1, index, at);
      }
  }

  /// Advances by `rows` rows, at most to the end of the last axis but one.
  template <size_t... I>
  NNC_FN static void advance(const S &s, int rows, int (&index)[8],
                             ptrdiff_t (&at)[sizeof...(I)]) {
    int d = s.rank - 2;
    index[d] += rows;
    ((at[I] += ptrdiff_t(rows) * s.strides[I][d]), ...);
    for (; d > 0 && index[d] == s.dims[d]; --d) {
      index[d] = 0;
      ++index[d - 1];
      ((at[I] += s.strides[I][d - 1] - ptrdiff_t(s.dims[d]) * s.strides[I][d]),
       ...);
    }
  }

  template <class X> using memory = vector_memory<X, W>;

  /// Returns true if F can be applied to vectors of these element types.
  template <class Y, class... X> NNC_FN static constexpr bool takes_vectors() {
    if constexpr (W > 1 && memory<Y>::exists && (memory<X>::exists && ...))
      return is_invocable_r<typename memory<Y>::vector, F,
                            typename memory<X>::vector...>::value;
    else
      return false;
  }

  template <size_t... I, class Y, class... X>
  NNC_FN static void piece_of_row(index_sequence<I...>, const S &s, Y *y,
                                  const F &f, int count, const X *...x) {
    const int last = s.rank - 1;
    if constexpr (takes_vectors<Y, X...>()) {
      if (((s.strides[I][last] == 1 || s.strides[I][last] == 0) && ...)) {
        int i = 0;
        for (; i + W <= count; i += W)
          memory<Y>::store(y + i,
                           f((s.strides[I][last] ? memory<X>::load(x + i)
                                                 : memory<X>::repeat(*x))...));
        if (i < count)
          memory<Y>::store(
              y + i,
              f((s.strides[I][last] ? memory<X>::load(x + i, count - i)
                                    : memory<X>::repeat(*x))...),
              count - i);
        return;
      }
    }
    for (int i = 0; i < count; ++i)
      y[i] = static_cast<Y>(f(value(x[ptrdiff_t(i) * s.strides[I][last]])...));
  }

  /// Returns x in the type that F takes: a 16-bit float as float, any other
  /// type unchanged.
  template <class X> static NNC_INLINE auto value(X x) {
    if constexpr (holds_float<X>)
      return static_cast<float>(x);
    else
      return x;
  }
};

template <class S, class F> using elementwise_portable = elementwise_t<1, S, F>;
template <class S, class F> using elementwise_sse4 = elementwise_t<4, S, F>;
template <class S, class F> using elementwise_avx2 = elementwise_t<8, S, F>;
template <class S, class F> using elementwise_rvv = elementwise_t<8, S, F>;
template <class S, class F> using elementwise_avx512 = elementwise_t<16, S, F>;
template <class S, class F> using elementwise_helium = elementwise_t<4, S, F>;
template <class S, class F> using elementwise_neon = elementwise_t<4, S, F>;

} // namespace nnc

#endif // NNC_ROUTINES_ELEMENTWISE_ELEMENTWISE_H
