// Checks the kernel of softmax on the CPU's block policy: against plain C++ in
// double precision, and that its results do not depend on the order of threads.
#include "runtime/routines/normalization/softmax/rows.cuh"
#include "runtime/routines/normalization/softmax/shape.h"
#include "test/runtime/cuda/row_case.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

using namespace nnc_test;

namespace {

/// Softmax of `size` elements, `step` apart, from x[first] on.
template <class T>
std::vector<double> softmax_of(const tensor<T> &x, std::size_t first, int size,
                               int step, bool log) {
  const auto at = [&](int i) {
    return static_cast<double>(
        static_cast<float>(x[first + std::size_t(i) * step]));
  };
  double largest = at(0), sum = 0;
  for (int i = 0; i < size; ++i)
    largest = std::fmax(largest, at(i));
  for (int i = 0; i < size; ++i)
    sum += std::exp(at(i) - largest);
  std::vector<double> y(size);
  for (int i = 0; i < size; ++i)
    y[i] =
        log ? at(i) - largest - std::log(sum) : std::exp(at(i) - largest) / sum;
  return y;
}

template <class T, int ARCH, class S>
std::vector<char> run_softmax(const S &s, const tensor<T> &x, bool shifted,
                              bool in_place, unsigned seed) {
  tensor<T> y(x.size(), shifted);
  if (in_place)
    std::memcpy(static_cast<void *>(y.data()), x.data(), x.bytes());
  const T *from = in_place ? y.data() : x.data();
  using routine = nnc::softmax_f32_rows_sm75<S, nnc::none>;
  const std::string error = launch<ARCH>(
      typename routine::kernels(), seed, s,
      [&](auto &grid) {
        grid.may_read(x.data(), x.bytes());
        grid.may_write(y.data(), y.bytes());
      },
      from, y.data(), nnc::none());
  REQUIRE(error == "");
  return y.content();
}

template <class T, int ARCH> void check_softmax(int count) {
  random_source r;
  for (int i = 0; i < count; ++i) {
    nnc::softmax_shape s{1, random_length(r, i), 1, r.between(0, 1)};
    s.outer = random_rows(r, s.size);
    if (i % 3 == 0) {
      s.size = r.between(1, 40);
      s.inner = r.between(1, 3) > 1 ? r.between(2, 300) : 1;
      s.outer = r.between(1, 4);
    }
    const bool x_shifted = r.between(0, 4) == 0, shifted = r.between(0, 4) == 0;
    const bool in_place = r.between(0, 3) == 0;
    tensor<T> x(std::size_t(s.outer) * s.size * s.inner, x_shifted);
    const float sizes[] = {1, 5, 30, 1000};
    std::vector<float> values =
        random_values(r, x.size(), sizes[r.between(0, 3)],
                      r.between(0, 1) ? 0.0f : float(r.between(-300, 300)));
    if (r.between(0, 2) == 0)
      add_specials(r, values, s.size * s.inner);
    x.set(values);
    INFO(describe(s) << " shifted " << x_shifted << shifted << " in place "
                     << in_place);
    const std::vector<char> bytes =
        run_softmax<T, ARCH>(s, x, shifted, in_place, unsigned(i));
    REQUIRE((bytes ==
             run_softmax<T, ARCH>(s, x, shifted, in_place, unsigned(i) + 999)));
    const T *y = reinterpret_cast<const T *>(bytes.data());
    for (int unit = 0; unit < s.outer * s.inner; ++unit) {
      const std::size_t first =
          std::size_t(unit / s.inner) * s.size * s.inner + unit % s.inner;
      const std::vector<double> want =
          softmax_of(x, first, s.size, s.inner, s.log);
      for (int k = 0; k < s.size; ++k)
        REQUIRE(agrees(y[first + std::size_t(k) * s.inner], want[k],
                       s.log ? 2e-6 + 3e-7 * std::fabs(want[k])
                             : 4e-6 * want[k] + 1e-38));
    }
  }
}

/// A shape of constants, as emitted modules have them.
struct constant_softmax {
  static constexpr int outer = 9, size = 200, inner = 1, log = 0;
};

} // namespace

TEST_CASE("softmax on blocks, of floats") { check_softmax<float, 75>(150); }
TEST_CASE("softmax on blocks, of bf16") { check_softmax<nnc::bf16, 80>(60); }
TEST_CASE("softmax on blocks, of halves") { check_softmax<nnc::f16, 80>(150); }

TEST_CASE("softmax on blocks has the same bits in every order of threads") {
  random_source r;
  for (const int size : {700, 1432, 1433, 9000}) {
    const nnc::softmax_shape s{3, size, 1, 0};
    tensor<float> x(std::size_t(s.outer) * size, false);
    x.set(random_values(r, x.size(), 5, 0));
    const std::vector<char> first =
        run_softmax<float, 75>(s, x, false, false, 0);
    for (unsigned seed = 1; seed < 12; ++seed)
      REQUIRE((run_softmax<float, 75>(s, x, false, false, seed) == first));
  }
}

TEST_CASE("softmax on blocks of a constant shape has the same bits") {
  random_source r;
  const constant_softmax c;
  const nnc::softmax_shape s{c.outer, c.size, c.inner, c.log};
  tensor<nnc::f16> x(std::size_t(c.outer) * c.size, false);
  x.set(random_values(r, x.size(), 5, 0));
  CHECK((run_softmax<nnc::f16, 75>(c, x, false, false, 1) ==
         run_softmax<nnc::f16, 75>(s, x, false, false, 1)));
}
