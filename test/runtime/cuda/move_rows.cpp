// Checks the kernels that move rows, of concatenations, gathers and padding, on
// the CPU's block policy against the portable routines, bit by bit.
#include "runtime/routines/moves/gather/blocks.cuh"
#include "runtime/routines/moves/gather/portable.h"
#include "runtime/routines/moves/gather/shape.h"
#include "runtime/routines/moves/join/blocks.cuh"
#include "runtime/routines/moves/join/portable.h"
#include "runtime/routines/moves/join/shape.h"
#include "runtime/routines/moves/pad/blocks.cuh"
#include "runtime/routines/moves/pad/portable.h"
#include "runtime/routines/moves/pad/shape.h"
#include "test/runtime/cuda/move_case.h"

using namespace nnc_test;

namespace {

/// A width: a multiple of 16, 8 or 4, or any.
int random_width(random_source &r, int most) {
  const int units[] = {16, 8, 4, 1};
  const int unit = units[r.between(0, 3)];
  return unit * r.between(1, most / unit);
}

template <class T, class... X, class F>
void check_join(random_source &r, unsigned seed, const nnc::join_shape &s,
                const F &registers, const X &...x) {
  const tensor<T> y(std::size_t(s.rows) * s.pitch, r.between(0, 7) == 0);
  set_bits(r, y);
  const std::vector<char> before = y.content();
  run_portable<nnc::join_portable<nnc::join_shape, nnc::none>>(
      s, x..., y.data(), nnc::none());
  const std::vector<char> want = y.content();
  INFO(describe(s));
  check_launch<nnc::join_runs_sm75<sizeof(T), nnc::join_shape, nnc::none>, 75>(
      seed, s, y, before, want, registers, x..., y.data(), nnc::none());
}

/// Concatenations of one, two, three and eight tensors.
template <class T> void check_joins(int count) {
  random_source r;
  for (int i = 0; i < count; ++i) {
    const int inputs[] = {2, 3, 8, 1};
    const int parts = inputs[i % 4];
    nnc::join_shape s{r.between(1, 40), 0, {}};
    std::vector<tensor<T>> x;
    const bool even = r.between(0, 1);
    for (int part = 0; part < parts; ++part) {
      s.widths[part] = even ? 16 * r.between(1, 9) : random_width(r, 70);
      s.pitch += s.widths[part];
      x.emplace_back(std::size_t(s.rows) * s.widths[part],
                     r.between(0, 15) == 0);
      set_bits(r, x.back());
    }
    const auto registers = [&](auto &grid) {
      for (const tensor<T> &each : x)
        grid.may_read(each.data(), each.bytes());
    };
    const auto at = [&](int part) -> const T * { return x[part].data(); };
    const unsigned seed = unsigned(i);
    if (parts == 1)
      check_join<T>(r, seed, s, registers, at(0));
    else if (parts == 2)
      check_join<T>(r, seed, s, registers, at(0), at(1));
    else if (parts == 3)
      check_join<T>(r, seed, s, registers, at(0), at(1), at(2));
    else
      check_join<T>(r, seed, s, registers, at(0), at(1), at(2), at(3), at(4),
                    at(5), at(6), at(7));
  }
}

template <class T, class I> void check_gathers(int count) {
  using S = nnc::gather_shape;
  random_source r;
  for (int i = 0; i < count; ++i) {
    const S s{r.between(1, 4), i % 29 == 0 ? 0 : r.between(1, 12),
              random_width(r, 90), r.between(1, 20)};
    const tensor<T> x(std::size_t(s.outer) * s.axis_size * s.inner + 1,
                      r.between(0, 7) == 0);
    const tensor<I> indices(s.count, r.between(0, 1));
    const tensor<T> y(std::size_t(s.outer) * s.count * s.inner,
                      r.between(0, 7) == 0);
    set_bits(r, x);
    set_bits(r, y);
    // Some are out of range.
    for (int k = 0; k < s.count; ++k)
      indices[k] = I(r.between(-s.axis_size - 2, s.axis_size + 2));
    const std::vector<char> before = y.content();
    const T *from = x.data();
    const I *at = indices.data();
    run_portable<nnc::gather_portable<S, nnc::none>>(s, from, at, y.data(),
                                                     nnc::none());
    const std::vector<char> want = y.content();
    INFO(describe(s));
    check_launch<nnc::gather_runs_sm75<sizeof(T), S, nnc::none>, 75>(
        unsigned(i), s, y, before, want,
        [&](auto &grid) {
          grid.may_read(x.data(), x.bytes());
          grid.may_read(indices.data(), indices.bytes());
        },
        from, at, y.data(), nnc::none());
  }
}

template <class T> void check_pads(int count) {
  using S = nnc::pad_shape;
  random_source r;
  for (int i = 0; i < count; ++i) {
    S s{};
    s.rank = r.between(0, 9) ? r.between(1, 4) : r.between(5, nnc::max_axes);
    s.mode = r.between(0, 3);
    s.value = float(r.between(-5, 5));
    const int unit = r.between(0, 1) ? 16 : 1;
    std::size_t from_size = 1, to_size = 1;
    for (int d = 0; d < s.rank; ++d) {
      const bool is_last = d + 1 == s.rank;
      const int step = is_last ? unit : 1;
      s.in_dims[d] = step * r.between(1, is_last      ? 96 / unit
                                         : s.rank > 4 ? 2
                                                      : 6);
      // Reflection reaches no further than the other edge, except that a
      // single element is its own reflection.
      const int reach = (s.rank > 4 ? 1 : 3) * step;
      const bool reflects = s.mode == 1 && s.in_dims[d] > 1;
      const int most = reflects ? s.in_dims[d] - 1 : reach;
      const int before = nnc::smaller(step * r.between(-1, 2), most);
      const int after = nnc::smaller(step * r.between(-1, 2), most);
      const bool crops = s.in_dims[d] + before + after < 1;
      s.before[d] = crops ? 0 : before;
      s.dims[d] = s.in_dims[d] + (crops ? 0 : before + after);
      from_size *= s.in_dims[d];
      to_size *= s.dims[d];
    }
    const tensor<T> x(from_size, r.between(0, 7) == 0),
        y(to_size, r.between(0, 7) == 0);
    set_bits(r, x);
    set_bits(r, y);
    const std::vector<char> before = y.content();
    const T *from = x.data();
    run_portable<nnc::pad_portable<S, nnc::none>>(s, from, y.data(),
                                                  nnc::none());
    const std::vector<char> want = y.content();
    INFO(describe(s));
    check_launch<nnc::pad_runs_sm75<sizeof(T), S, nnc::none>, 75>(
        unsigned(i), s, y, before, want,
        [&](auto &grid) { grid.may_read(x.data(), x.bytes()); }, from, y.data(),
        nnc::none());
  }
}

} // namespace

TEST_CASE("concatenations on blocks") {
  check_joins<std::uint8_t>(100);
  check_joins<nnc::f16>(120);
  check_joins<float>(100);
  check_joins<std::int64_t>(100);
}
TEST_CASE("gathers on blocks") {
  check_gathers<std::uint8_t, std::int64_t>(100);
  check_gathers<nnc::f16, std::int64_t>(120);
  check_gathers<float, std::int32_t>(120);
  check_gathers<std::int64_t, std::int64_t>(80);
}
TEST_CASE("padding on blocks") {
  check_pads<std::int8_t>(100);
  check_pads<nnc::f16>(120);
  check_pads<float>(120);
  check_pads<std::int64_t>(80);
}
TEST_CASE("moves have a thread for each unit") {
  CHECK(nnc::grid_of_moves(0).x == 1);
  CHECK(nnc::grid_of_moves(256).x == 1);
  CHECK(nnc::grid_of_moves(257).x == 2);
  CHECK(nnc::grid_of_moves(512).x == 2);
  const nnc::join_shape s{3, 1024, {512, 512}}; // 256 runs a row
  CHECK(nnc::join_runs<4, nnc::join_shape, nnc::none>::grid(s).x == 3);
}
