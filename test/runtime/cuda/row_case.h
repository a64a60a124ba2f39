// Random rows for tests of kernels that work on rows.
#ifndef NNC_TEST_CUDA_ROW_CASE_H
#define NNC_TEST_CUDA_ROW_CASE_H

#include "test/runtime/cuda/block_launch.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace nnc_test {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// The length of a row: of the rows of a warp or a part of it, of a block's,
/// and of those that are too long for registers.
inline int random_length(random_source &r, int i) {
  static constexpr int edges[] = {1,    2,    63,   64,   65,   72,   127,
                                  128,  129,  136,  256,  257,  1000, 1023,
                                  1024, 1025, 1032, 2049, 8191, 8192, 8193};
  switch (i % 8) {
  case 0:
    return edges[r.between(0, 20)];
  case 1:
    return r.between(1025, 8192);
  case 2:
    return 8 * r.between(129, 1024);
  case 3:
    return i % 16 == 3 ? r.between(8193, 20000) : 8 * r.between(1025, 2500);
  case 4:
    return i % 16 == 4 ? 8 * r.between(1, 128) : r.between(257, 264);
  case 5:
    return 4 * r.between(1, 256);
  default:
    return r.between(1, i % 16 < 8 ? 64 : 1024);
  }
}
/// The number of rows of that length, so that tests of long ones take as long.
inline int random_rows(random_source &r, int size) {
  return size > 1024 ? r.between(1, 2) : r.between(1, size > 128 ? 20 : 70);
}

/// Sets some elements to values that are no numbers, or whole rows of n.
inline void add_specials(random_source &r, std::vector<float> &x, int n) {
  const float specials[] = {infinity, -infinity, not_a_number, 60000.0f,
                            -60000.0f};
  const int count = r.between(0, 3);
  for (int i = 0; i < count; ++i)
    x[r.between(0, int(x.size()) - 1)] = specials[r.between(0, 4)];
  if (r.between(0, 3) == 0) {
    const int row = r.between(0, int(x.size()) / n - 1);
    std::fill_n(x.begin() + std::ptrdiff_t(row) * n, n, -infinity);
  }
}

inline std::vector<float> random_values(random_source &r, std::size_t count,
                                        float size, float offset) {
  std::vector<float> x = r.values(count);
  for (float &v : x)
    v = v * size + offset;
  return x;
}

} // namespace nnc_test

#endif // NNC_TEST_CUDA_ROW_CASE_H
