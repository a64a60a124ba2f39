// Integer tensors in any layout, and checks of routines on them against the
// portable ones.
#ifndef NNC_TEST_INTEGERS_TEST_H
#define NNC_TEST_INTEGERS_TEST_H

#include "runtime/simd/arithmetic.h"
#include "runtime/simd/bytes.h"
#include "test/runtime/check.h"
#include "test/runtime/layouts.h"

#include <cstdint>
#include <limits>

namespace nnc_test {

/// A requantization to type T as the compiler prints it. to_scalars is the same
/// for scalars alone.
template <class T> struct to {
  template <class V>
  auto operator()(V v, nnc::like<V, std::int32_t> bias,
                  nnc::like<V, float> scale, nnc::like<V, T> residual) const {
    const auto sum = nnc::cast<float>(nnc::add(v, bias));
    const auto more = nnc::cast<float>(residual);
    return nnc::cast<T>(nnc::add(nnc::round(nnc::mul(sum, scale)),
                                 nnc::add(more, nnc::same<V>(3.0f))));
  }
};
template <class T> struct to_scalars {
  T operator()(std::int32_t v, std::int32_t bias, float scale,
               T residual) const {
    return to<T>()(v, bias, scale, residual);
  }
};
template <class F, class T>
using integers_epilogue = nnc::fused<F, nnc::channel_of<std::int32_t>,
                                     nnc::channel_of<float>, nnc::full_of<T>>;

/// Returns random integers of type T, many of which are the ends of its range.
/// One list in eight of 8-bit integers consists of one end alone, so that sums
/// are as large as they can be.
template <class T> std::vector<T> numbers(random_source &r, std::size_t count) {
  std::vector<T> list(count);
  // A float holds each integer of this range of 32-bit integers exactly.
  constexpr bool is_wide = sizeof(T) == 4;
  constexpr int low = is_wide ? -(1 << 20) : int(std::numeric_limits<T>::min());
  constexpr int high = is_wide ? 1 << 20 : int(std::numeric_limits<T>::max());
  const bool is_extreme = sizeof(T) == 1 && r.between(0, 7) == 0;
  const int end = r.between(0, 1);
  for (T &x : list) {
    const int kind = is_extreme ? end : r.between(0, 5);
    x = T(kind == 0 ? low : kind == 1 ? high : r.between(low, high));
  }
  return list;
}

/// Returns, for each element of a layout, the row-major index of the tensor's
/// element there, or -1 for padding.
std::vector<int> places(const axes &tensor, const std::string &layout) {
  floats all(tensor.count());
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = float(i + 1);
  const floats packed = layout_map(tensor, layout).pack(all);
  std::vector<int> list;
  for (float x : packed)
    list.push_back(int(x) - 1);
  return list;
}
template <class T>
std::vector<T> pack(const std::vector<T> &x, const std::vector<int> &at) {
  std::vector<T> packed;
  for (int i : at)
    packed.push_back(i < 0 ? T(0) : x[std::size_t(i)]);
  return packed;
}

/// Calls run(x, w, y, scratch, epilogue, begin, end) for `units` units in three
/// parts, the middle one first, with an epilogue E on outputs of type T, and
/// compares the results with those of the portable routine P.
template <class P, class T, class E, class PE, class S, class X, class W,
          class F>
void compare_with(random_source &r, const S &s, const axes (&tensors)[3],
                  const std::string (&layouts)[3], int channels,
                  std::ptrdiff_t scratch_bytes, const std::vector<X> &x,
                  const std::vector<W> &w, int units, const F &run) {
  std::vector<std::int32_t> bias(std::size_t(channels) + 64, 77);
  std::vector<float> scale(bias.size(), 1.0f);
  for (int i = 0; i < channels; ++i) {
    bias[std::size_t(i)] = r.between(-100000, 100000);
    scale[std::size_t(i)] = 1e-7f * float(r.between(1, 100000));
  }
  const std::vector<T> residual = numbers<T>(r, tensors[2].count());
  std::vector<T> want(tensors[2].count());
  P::run(s, x.data(), w.data(), want.data(),
         PE{bias.data(), scale.data(), residual.data()}, 0, P::units(s));

  const auto to_y = places(tensors[2], layouts[2]);
  const auto packed_x = pack(x, places(tensors[0], layouts[0]));
  const auto packed_w = pack(w, places(tensors[1], layouts[1]));
  const std::vector<T> packed_residual = pack(residual, to_y);
  std::vector<T> y(to_y.size(), T(55));
  std::vector<unsigned char> scratch(std::size_t(scratch_bytes) + 64, 0xa5);
  unsigned char *aligned =
      scratch.data() +
      (64 - reinterpret_cast<std::uintptr_t>(scratch.data()) % 64) % 64;
  const E epi{bias.data(), scale.data(), packed_residual.data()};
  in_parts(units, [&](int begin, int end) {
    run(packed_x.data(), packed_w.data(), y.data(), aligned, epi, begin, end);
  });
  const std::vector<T> packed_want = pack(want, to_y);
  for (std::size_t i = 0; i < y.size(); ++i)
    if (y[i] != packed_want[i]) {
      INFO("at " << i << ": got " << int(y[i]) << ", want "
                 << int(packed_want[i]));
      REQUIRE(y[i] == packed_want[i]);
    }
  CHECK(y == packed_want);
}

/// Compares a routine R on `shape`, which has the values of s, with the
/// portable routine P in the same way.
template <class R, class P, class T, class E, class PE, class RS, class S,
          class X, class W>
void compare(random_source &r, const RS &shape, const S &s,
             const axes (&tensors)[3], const std::string (&layouts)[3],
             int channels, std::ptrdiff_t scratch_bytes,
             const std::vector<X> &x, const std::vector<W> &w) {
  compare_with<P, T, E, PE>(
      r, s, tensors, layouts, channels, scratch_bytes, x, w, R::units(shape),
      [&](const X *at, const W *weights, T *y, unsigned char *scratch,
          const E &epi, int begin, int end) {
        R::run(shape, at, weights, y, scratch, epi, begin, end);
      });
}

} // namespace nnc_test

#endif // NNC_TEST_INTEGERS_TEST_H
