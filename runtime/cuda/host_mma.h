//===- host_mma.h - Products of tensor cores on a CPU ---------------------===//
//
// The `mma` of a warp from the fragments of its lanes. It serves host_block.h.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_CUDA_HOST_MMA_H
#define NNC_CUDA_HOST_MMA_H

#include "runtime/cuda/block.h"
#include "runtime/meta.h"
#include "runtime/simd/bfloat.h"
#include "runtime/simd/half.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace nnc {

/// The words of A, B and the sums that one lane passes to `mma`.
template <class Sum> struct host_mma_lane {
  Sum *d;
  const words4 *a;
  uint32_t b[2];
};

/// Types of elements in runs of 32 bytes, as `mma` reads them.
struct host_f16_run {
  static constexpr int length = 16;
  using number = float;
  static number get(const unsigned char *run, int i) {
    static const std::vector<float> table = [] {
      std::vector<float> all(65536);
      for (int bits = 0; bits < 65536; ++bits) {
        const uint16_t half = uint16_t(bits);
        f16 value;
        memcpy(static_cast<void *>(&value), &half, 2);
        all[bits] = value;
      }
      return all;
    }();
    uint16_t half;
    memcpy(&half, run + 2 * i, 2);
    return table[half];
  }
};
struct host_bf16_run {
  static constexpr int length = 16;
  using number = float;
  static number get(const unsigned char *run, int i) {
    uint16_t half;
    memcpy(&half, run + 2 * i, 2);
    return bit_cast_float(int32_t(uint32_t(half) << 16));
  }
};
/// The bits of a float rounded to the 10 bits of fraction of tf32, to nearest
/// with ties away from zero. NaN becomes the one of GPUs.
inline uint32_t round_to_tf32(uint32_t bits) {
  if ((bits & 0x7fffffff) > 0x7f800000)
    return 0x7fffffff;
  return (bits + 0x1000) & ~uint32_t(0x1fff);
}
struct host_tf32_run {
  static constexpr int length = 8;
  using number = float;
  static number get(const unsigned char *run, int i) {
    uint32_t bits;
    memcpy(&bits, run + 4 * i, 4);
    return bit_cast_float(int32_t(bits & ~uint32_t(0x1fff)));
  }
};
struct host_u8_run {
  static constexpr int length = 32;
  using number = int32_t;
  static number get(const unsigned char *run, int i) { return run[i]; }
};
struct host_i8_run {
  static constexpr int length = 32;
  using number = int32_t;
  static number get(const unsigned char *run, int i) {
    return static_cast<signed char>(run[i]);
  }
};

/// d += A x B for a warp. Sums of floats are rounded once.
template <class Run, class Columns, class Sum>
void host_mma(host_mma_lane<Sum> *const (&lanes)[warp_lanes]) {
  unsigned char a[16][32], b[8][32];
  for (int lane = 0; lane < warp_lanes; ++lane) {
    const int g = lane / 4, at = lane % 4 * 4;
    for (int i = 0; i < 4; ++i)
      memcpy(&a[g + i % 2 * 8][at + i / 2 * 16], &lanes[lane]->a->word[i], 4);
    for (int i = 0; i < 2; ++i)
      memcpy(&b[g][at + i * 16], &lanes[lane]->b[i], 4);
  }
  using wide = conditional_t<is_same<Sum, float>::value, double, int64_t>;
  wide columns[Run::length][8], sums[16][8] = {};
  for (int k = 0; k < Run::length; ++k)
    for (int n = 0; n < 8; ++n)
      columns[k][n] = Columns::get(b[n], k);
  for (int m = 0; m < 16; ++m)
    for (int k = 0; k < Run::length; ++k) {
      const wide factor = Run::get(a[m], k);
      for (int n = 0; n < 8; ++n)
        sums[m][n] += factor * columns[k][n];
    }
  for (int lane = 0; lane < warp_lanes; ++lane)
    for (int i = 0; i < 4; ++i) {
      Sum &d = lanes[lane]->d[i];
      const wide sum = sums[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2] + d;
      if constexpr (is_same<Sum, float>::value)
        d = float(sum);
      else
        d = Sum(uint32_t(uint64_t(sum)));
    }
}

} // namespace nnc

#endif // NNC_CUDA_HOST_MMA_H
