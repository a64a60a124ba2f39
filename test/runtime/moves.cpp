// Tests the vector routines that move elements, copy and adapt, with vectors of
// every width against the portable routines, and pack against its definition.
#include "runtime/routines/moves/adapt/blocks.h"
#include "runtime/routines/moves/adapt/portable.h"
#include "runtime/routines/moves/adapt/shape.h"
#include "runtime/routines/moves/copy/portable.h"
#include "runtime/routines/moves/copy/shape.h"
#include "runtime/routines/moves/copy/tiled.h"
#include "runtime/routines/moves/pack/portable.h"
#include "runtime/routines/moves/pack/shape.h"
#include "test/runtime/blocked.h"
#include "test/runtime/check.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

using namespace nnc;
using nnc_test::floats;
using nnc_test::wide;

namespace {

/// Runs all units in two uneven parts, like two threads.
template <class R, class S, class... A> void run(const S &s, A... args) {
  const int middle = R::units(s) / 3;
  R::run(s, args..., none{}, middle, R::units(s));
  R::run(s, args..., none{}, 0, middle);
}

/// A random copy: permutes the axes of a part of a tensor with steps, and
/// writes it into a part of another tensor.
struct copy_problem {
  copy_shape s{};
  int from_size = 1, to_size = 1;
};
copy_problem random_copy(nnc_test::random_source &r) {
  copy_problem p;
  copy_shape &s = p.s;
  s.rank = r.between(1, 5);
  int order[8];
  std::iota(order, order + s.rank, 0);
  std::shuffle(order, order + s.rank, r.engine);
  int long_axes = 2;
  for (int d = 0; d < s.rank; ++d) {
    bool is_long = long_axes > 0 && r.between(0, 1);
    long_axes -= is_long;
    s.dims[d] = r.between(1, is_long ? 40 : 4);
  }
  for (int i = s.rank; i-- > 0;) {
    const int d = order[i];
    const int step = r.between(0, 5) == 0 ? 2 : 1;
    s.src_strides[d] = p.from_size * step;
    p.from_size *= s.dims[d] * step + r.between(0, 1);
  }
  for (int d = s.rank; d-- > 0;) {
    s.dst_strides[d] = p.to_size;
    p.to_size *= s.dims[d] + r.between(0, 1);
  }
  if (r.between(0, 4) == 0) { // backwards along one axis
    const int d = r.between(0, s.rank - 1);
    s.src_offset = (s.dims[d] - 1) * s.src_strides[d];
    s.src_strides[d] = -s.src_strides[d];
  } else if (r.between(0, 4) == 0) { // broadcast
    s.src_strides[r.between(0, s.rank - 1)] = 0;
  }
  return p;
}

template <int W, class T> void check_copy() {
  nnc_test::random_source r;
  for (int round = 0; round < 300; ++round) {
    const copy_problem p = random_copy(r);
    std::vector<T> x(p.from_size), got(p.to_size, T(-1)), want = got;
    std::iota(x.begin(), x.end(), T(1));
    run<copy_portable<copy_shape, none>>(p.s, x.data(), want.data());
    run<copy_t<W, copy_shape, none>>(p.s, x.data(), got.data());
    REQUIRE(got == want);
  }
}

} // namespace

TEMPLATE_TEST_CASE("copy", "[moves]", wide<1>, wide<NNC_TEST_WIDTHS>) {
  constexpr int W = TestType::W;
  check_copy<W, float>();
  check_copy<W, std::uint8_t>();
  check_copy<W, std::int64_t>();
}

TEMPLATE_TEST_CASE("adapt to and from blocks", "[moves]", wide<2>, wide<4>,
                   wide<8>, wide<16>) {
  constexpr int W = TestType::W;
  nnc_test::random_source r;
  for (int round = 0; round < 100; ++round) {
    const int blocks[][2] = {{1, W}, {W, 1}, {W, 2 * W}, {4 * W, W}};
    const int *b = blocks[round % 4];
    // Every tenth map is cut into pieces.
    adapt_shape s{r.between(1, 2),
                  r.between(1, 50),
                  r.between(1, 6),
                  round % 10 ? r.between(1, 9) : r.between(500, 600),
                  b[0],
                  b[1]};
    const auto size = [&](int block) {
      return std::size_t(s.n) * nnc_test::blocks(s.c, block) * block * s.h *
             s.w;
    };
    floats plain = r.values(size(1)), x(size(s.block_in)),
           got = nnc_test::not_written(size(s.block_out)), want = got;
    adapt_shape in = s;
    in.block_in = 1;
    in.block_out = s.block_in;
    run<adapt_portable<adapt_shape, none>>(in, plain.data(), x.data());
    run<adapt_portable<adapt_shape, none>>(s, x.data(), want.data());
    run<adapt_t<W, adapt_shape, none>>(s, x.data(), got.data());
    REQUIRE(got == want);
  }
}

TEST_CASE("pack fills panels with zeros behind rows and columns", "[moves]") {
  nnc_test::random_source r;
  for (int round = 0; round < 100; ++round) {
    pack_shape s{r.between(1, 3),   r.between(1, 40),   r.between(1, 70),
                 round % 2 ? 4 : 8, round % 3 ? 16 : 4, round / 2 % 2};
    const int panels = nnc_test::blocks(s.columns, s.column_block),
              groups = nnc_test::blocks(s.rows, s.row_block);
    std::vector<std::uint8_t> x(std::size_t(s.outer) * s.rows * s.columns);
    for (auto &v : x)
      v = std::uint8_t(r.between(1, 255));
    std::vector<std::uint8_t> got(std::size_t(s.outer) * panels * groups *
                                      s.column_block * s.row_block,
                                  255);
    run<pack_portable<pack_shape, none>>(s, x.data(), got.data());
    std::size_t at = 0;
    for (int o = 0; o < s.outer; ++o)
      for (int panel = 0; panel < panels; ++panel)
        for (int group = 0; group < groups; ++group)
          for (int n = 0; n < s.column_block; ++n)
            for (int k = 0; k < s.row_block; ++k, ++at) {
              const int row = group * s.row_block + k,
                        column = panel * s.column_block + n;
              const int want =
                  row >= s.rows || column >= s.columns ? 0
                  : s.by_columns
                      ? x[(std::size_t(o) * s.columns + column) * s.rows + row]
                      : x[(std::size_t(o) * s.rows + row) * s.columns + column];
              REQUIRE(got[at] == want);
            }
  }
}
