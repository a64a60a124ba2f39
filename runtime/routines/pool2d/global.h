//===- global.h - The average of whole planes -----------------------------===//
//
// avg_pool2d whose window is the whole image, without padding: y[n][c] is the
// mean of a plane. On NCHW[W]c a lane is a channel; on plain NCHW vectors of W
// lie along the plane. Sums run in 4 (4W) parts. A unit is one channel block,
// or one plane. Padded lanes of the output are zero.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_POOL2D_GLOBAL_H
#define NNC_ROUTINES_POOL2D_GLOBAL_H

#include "runtime/epilogue.h"
#include "runtime/simd/vec.h"

namespace nnc {

template <int W, class S, class Epi> struct avg_pool2d_nchwc_global_t {
  static constexpr int units(const S &s) { return s.n * blocks(s); }

  template <class T>
  static void run(const S &s, const T *x, T *y, const Epi &epi, int begin,
                  int end) {
    const int plane = s.h * s.w;
    const V area(static_cast<float>(plane));
    for (int unit = begin; unit < end; ++unit) {
      const T *from = x + std::ptrdiff_t(unit) * plane * W;
      V part[4] = {V(0.0f), V(0.0f), V(0.0f), V(0.0f)};
      int i = 0;
      for (; i + 4 <= plane; i += 4)
        for (int p = 0; p < 4; ++p)
          part[p] += load<V>(from + (std::ptrdiff_t(i) + p) * W);
      for (; i < plane; ++i)
        part[0] += load<V>(from + std::ptrdiff_t(i) * W);
      const std::ptrdiff_t at = std::ptrdiff_t(unit) * W;
      const int channel = unit % blocks(s) * W;
      store_channels(((part[0] + part[1]) + (part[2] + part[3])) / area, y, at,
                     channel, s.c, epi);
    }
  }

private:
  using V = f32x<W>;
  static constexpr int blocks(const S &s) { return (s.c + W - 1) / W; }
};

template <int W, class S, class Epi> struct avg_pool2d_f32_nchw_global_t {
  static constexpr int units(const S &s) { return s.n * s.c; }

  static void run(const S &s, const float *x, float *y, const Epi &epi,
                  int begin, int end) {
    using V = f32x<W>;
    const int plane = s.h * s.w;
    for (int unit = begin; unit < end; ++unit) {
      const float *from = x + std::ptrdiff_t(unit) * plane;
      V part[4] = {V(0.0f), V(0.0f), V(0.0f), V(0.0f)};
      int i = 0;
      for (; i + 4 * W <= plane; i += 4 * W)
        for (int p = 0; p < 4; ++p)
          part[p] += V::load(from + i + p * W);
      for (; i < plane; i += W)
        part[0] += V::load(from + i, plane - i < W ? plane - i : W);
      const float sum = reduce_add((part[0] + part[1]) + (part[2] + part[3]));
      y[unit] = epi(sum / static_cast<float>(plane),
                    position<false>{unit, unit % s.c});
    }
  }
};

#define NNC_GLOBAL_POOL(ISA, W)                                                \
  template <class S, class Epi>                                                \
  using avg_pool2d_f32_nchw##W##c_global_##ISA =                               \
      avg_pool2d_nchwc_global_t<W, S, Epi>;                                    \
  template <class S, class Epi>                                                \
  using avg_pool2d_f32_nchw_global_##ISA =                                     \
      avg_pool2d_f32_nchw_global_t<W, S, Epi>;
NNC_GLOBAL_POOL(sse4, 4)
NNC_GLOBAL_POOL(avx2, 8)
NNC_GLOBAL_POOL(avx512, 16)
NNC_GLOBAL_POOL(neon, 4)
#undef NNC_GLOBAL_POOL

template <class S, class Epi>
using avg_pool2d_f16_nchw8c_global_neonfp16 =
    avg_pool2d_nchwc_global_t<8, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_POOL2D_GLOBAL_H
