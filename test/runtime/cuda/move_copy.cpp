// Checks the kernels of strided copies on the CPU's block policy against the
// portable routine, bit by bit.
#include "runtime/routines/moves/copy/blocks.cuh"
#include "runtime/routines/moves/copy/portable.h"
#include "runtime/routines/moves/copy/shape.h"
#include "test/runtime/cuda/move_case.h"

#include <algorithm>
#include <numeric>
#include <utility>

using namespace nnc_test;

namespace {

/// A copy, and the elements of its two tensors.
struct copy_problem {
  nnc::copy_shape s{};
  int from_size = 1, to_size = 1;
};

/// A copy of a part of a tensor, whose axes are permuted if `permuted`, into a
/// part of another tensor. One in four has whole rows of 16 bytes. Nothing lies
/// behind the last elements of both tensors.
copy_problem random_copy(random_source &r, bool permuted) {
  copy_problem p;
  nnc::copy_shape &s = p.s;
  s.rank = r.between(0, 9) ? r.between(permuted ? 2 : 1, 4)
                           : r.between(5, nnc::max_axes);
  const int unit = r.between(0, 3) == 0 ? 16 : r.between(0, 2) ? 1 : 4;
  const int gap = r.between(0, 2) ? 0 : unit;
  int order[8];
  std::iota(order, order + s.rank, 0);
  if (permuted)
    std::shuffle(order, order + s.rank, r.engine);
  for (int d = 0; d < s.rank; ++d)
    s.dims[d] = r.between(1, s.rank > 4 ? 2 : 4);
  const int longest = r.between(0, 9) == 0 ? 700 / unit : 80 / unit;
  s.dims[s.rank - 1] = unit * r.between(1, longest);
  if (permuted) {
    s.dims[order[s.rank - 1]] = unit * r.between(1, 150 / unit);
    if (r.between(0, 2) == 0)
      s.dims[s.rank - 1] = r.between(1, 5);
    if (r.between(0, 4) == 0)
      s.dims[order[s.rank - 1]] = r.between(2, 4);
  }
  // Some axes have a gap behind them, or one up to a multiple of 16 elements.
  int pitch = 1;
  const auto next_pitch = [&](int size) {
    const int kind = r.between(0, 7);
    return kind < 2    ? size + gap
           : kind == 2 ? nnc::ceil_div(size, 16) * 16
                       : size;
  };
  for (int i = s.rank; i-- > 0;) {
    const int d = order[i], step = r.between(0, 11) == 0 ? 2 : 1;
    s.src_strides[d] = pitch * step;
    p.from_size += (s.dims[d] - 1) * s.src_strides[d];
    pitch = next_pitch(pitch * s.dims[d] * step);
  }
  pitch = 1;
  for (int d = s.rank; d-- > 0;) {
    s.dst_strides[d] = pitch;
    p.to_size += (s.dims[d] - 1) * pitch;
    pitch = next_pitch(pitch * s.dims[d]);
  }
  const int d = r.between(0, s.rank - 1);
  if (r.between(0, 7) == 0) { // backwards along one axis
    s.src_offset = (s.dims[d] - 1) * s.src_strides[d];
    s.src_strides[d] = -s.src_strides[d];
  } else if (r.between(0, 7) == 0) { // broadcast
    s.src_strides[d] = 0;
  }
  const int before = r.between(0, 3) == 0 ? unit * r.between(1, 3) : 0;
  s.src_offset += before;
  p.from_size += before;
  const int skipped = r.between(0, 3) == 0 ? unit * r.between(1, 3) : 0;
  s.dst_offset = skipped;
  p.to_size += skipped;
  // The other way round, unless elements of y would be written twice.
  if (r.between(0, 3) == 0 &&
      std::count(s.src_strides, s.src_strides + s.rank, 0) == 0) {
    std::swap(s.src_strides, s.dst_strides);
    std::swap(s.src_offset, s.dst_offset);
    std::swap(p.from_size, p.to_size);
  }
  return p;
}

/// The number of copies that each kernel was checked with.
struct checked {
  int runs = 0, transposed = 0, channels = 0;
};

template <class T, int ARCH>
void check_copy(random_source &r, unsigned seed, const copy_problem &p,
                checked &count) {
  using S = nnc::copy_shape;
  constexpr int bytes = sizeof(T);
  const bool x_shifted = r.between(0, 5) == 0, shifted = r.between(0, 5) == 0;
  const tensor<T> x(p.from_size, x_shifted), y(p.to_size, shifted);
  set_bits(r, x);
  set_bits(r, y);
  const std::vector<char> before = y.content();
  run_portable<nnc::copy_portable<S, nnc::none>>(p.s, x.data(), y.data(),
                                                 nnc::none());
  const std::vector<char> want = y.content();
  const auto check = [&](auto routine) {
    check_launch<decltype(routine), ARCH>(
        seed, p.s, y, before, want,
        [&](auto &grid) { grid.may_read(x.data(), x.bytes()); }, x.data(),
        y.data(), nnc::none());
  };
  INFO(describe(p.s) << " of " << bytes << " bytes, shifted " << x_shifted
                     << shifted);
  check(nnc::copy_runs_sm75<bytes, S, nnc::none>());
  ++count.runs;
  if constexpr (bytes <= 4) {
    const int channels = nnc::channels_of(nnc::copy_view<S>{p.s});
    if (nnc::contiguous_axes(nnc::copy_view<S>{p.s}).differ()) {
      check(nnc::copy_transposed_sm75<bytes, S, nnc::none>());
      ++count.transposed;
    }
    if (channels == 2)
      check(nnc::copy_channels_sm75<bytes, S, 2, nnc::none>());
    if (channels == 3)
      check(nnc::copy_channels_sm75<bytes, S, 3, nnc::none>());
    if (channels == 4)
      check(nnc::copy_channels_sm75<bytes, S, 4, nnc::none>());
    count.channels += channels > 0;
  }
}

/// An image between NCHW and NHWC.
copy_problem image_copy(random_source &r, bool to_nhwc) {
  copy_problem p;
  const int n = r.between(1, 2), channels = r.between(1, 5),
            pixels =
                r.between(1, 3) == 1 ? 8 * r.between(1, 90) : r.between(1, 600);
  p.from_size = p.to_size = n * channels * pixels;
  const int plane = channels * pixels;
  p.s = to_nhwc ? nnc::copy_shape{3,
                                  {n, pixels, channels},
                                  {plane, 1, pixels},
                                  {plane, channels, 1},
                                  0,
                                  0}
                : nnc::copy_shape{3,
                                  {n, channels, pixels},
                                  {plane, 1, channels},
                                  {plane, pixels, 1},
                                  0,
                                  0};
  return p;
}

template <class T, int ARCH> void check_copies(int rounds) {
  random_source r;
  checked count;
  for (int i = 0; i < rounds; ++i) {
    check_copy<T, ARCH>(r, unsigned(i), random_copy(r, i % 3 > 0), count);
    if (i % 3 == 0)
      check_copy<T, ARCH>(r, unsigned(i), image_copy(r, i % 2), count);
  }
  CHECK(count.runs >= rounds);
  CHECK((sizeof(T) == 8 || count.transposed > rounds / 3));
  CHECK((sizeof(T) == 8 || count.channels > rounds / 8));
}

} // namespace

TEST_CASE("copies on blocks, of bytes") { check_copies<std::uint8_t, 75>(180); }
TEST_CASE("copies on blocks, of 2 bytes") {
  check_copies<std::uint16_t, 80>(180);
}
TEST_CASE("copies on blocks, of 4 bytes") {
  check_copies<std::uint32_t, 75>(180);
}
TEST_CASE("copies on blocks, of 8 bytes") {
  check_copies<std::int64_t, 80>(120);
}
TEST_CASE("copies go by the longest axes that are contiguous") {
  // The last axis is contiguous on both sides, but has one element.
  const nnc::copy_shape s{3, {8, 32, 1}, {1, 8, 1}, {32, 1, 1}, 0, 0};
  const nnc::contiguous_axes axes(nnc::copy_view<nnc::copy_shape>{s});
  CHECK(axes.from == 0);
  CHECK(axes.from_size == 8);
  CHECK(axes.across_y == 32);
  CHECK(axes.to == 1);
  CHECK(axes.to_size == 32);
  CHECK(axes.across_x == 8);
}
TEST_CASE("a copy on blocks of one element") {
  random_source r;
  checked count;
  copy_problem p;
  p.s = {1, {1}, {1}, {1}, 0, 0};
  check_copy<std::uint16_t, 75>(r, 1, p, count);
}
