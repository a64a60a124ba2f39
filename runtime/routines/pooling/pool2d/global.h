//===- global.h - Global average pooling ----------------------------------===//
//
// avg_pool2d whose window is the whole image, without padding: y[n][c] is the
// mean of a plane. On NCHW[W]c a lane is a channel; on plain NCHW vectors of W
// run along the plane. Sums are made in 4 (4W) parts. A unit on NCHW[W]c is
// some rows of all channels or one channel block, as global_plan.h decides; on
// plain NCHW it is a plane. Padding lanes of the output are zero.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_POOLING_POOL2D_GLOBAL_H
#define NNC_ROUTINES_POOLING_POOL2D_GLOBAL_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/pooling/pool2d/global_plan.h"
#include "runtime/simd/vec.h"

namespace nnc {

template <int W, class S, class Epi> struct avg_pool2d_nchwc_global_t {
  static constexpr bool has_finish = true;

  static constexpr int units(const S &s) {
    return plan_global_pool(s, W).units;
  }

  /// Computes units that are channel blocks. Where units are parts of images,
  /// this runs on one thread without scratch, and computes all of y.
  template <class T>
  static void run(const S &s, const T *x, T *y, const Epi &epi, int begin,
                  int end) {
    const global_pool_plan p = plan_global_pool(s, W);
    if (p.by_place) {
      begin = 0;
      end = s.n * p.blocks;
    }
    for (int plane = begin; plane < end; ++plane) {
      V all = sum_of_part(s, p, x, plane, 0);
      for (int part = 1; part < p.parts; ++part)
        all += sum_of_part(s, p, x, plane, part);
      store_mean(s, p, all, y, plane, epi);
    }
  }
  template <class T>
  static void finish(const S &, const T *, T *, const Epi &) {}

  /// Computes units that are parts of images: stores their sums in the scratch,
  /// from which finish() computes the means.
  template <class T>
  static void run(const S &s, const T *x, T *, unsigned char *scratch,
                  const Epi &, int begin, int end) {
    const global_pool_plan p = plan_global_pool(s, W);
    auto *sums = reinterpret_cast<float *>(scratch);
    // The parts of a block are summed one after the other, since they are
    // contiguous.
    for (int image = begin / p.parts; image * p.parts < end; ++image) {
      const int first = larger(0, begin - image * p.parts);
      const int last = smaller(p.parts, end - image * p.parts);
      for (int plane = image * p.blocks; plane < (image + 1) * p.blocks;
           ++plane)
        for (int part = first; part < last; ++part)
          sum_of_part(s, p, x, plane, part).store(sums + place(p, plane, part));
    }
  }

  template <class T>
  static void finish(const S &s, const T *, T *y, unsigned char *scratch,
                     const Epi &epi) {
    const global_pool_plan p = plan_global_pool(s, W);
    const auto *sums = reinterpret_cast<const float *>(scratch);
    for (int plane = 0; plane < s.n * p.blocks; ++plane) {
      V all = V::load(sums + place(p, plane, 0));
      for (int part = 1; part < p.parts; ++part)
        all += V::load(sums + place(p, plane, part));
      store_mean(s, p, all, y, plane, epi);
    }
  }

private:
  using V = f32x<W>;

  /// Index in the scratch of a part's sum. The sums of one part of an image are
  /// contiguous, because one thread makes those of all channel blocks.
  static ptrdiff_t place(const global_pool_plan &p, int plane, int part) {
    const int image = plane / p.blocks, block = plane % p.blocks;
    return ((ptrdiff_t(image) * p.parts + part) * p.blocks + block) * W;
  }

  template <class T>
  static NNC_INLINE V sum_of_part(const S &s, const global_pool_plan &p,
                                  const T *x, int plane, int part) {
    const int top = cut(s.h, part, p.parts);
    int pixels = (cut(s.h, part + 1, p.parts) - top) * s.w;
    const T *from = x + (ptrdiff_t(plane) * s.h + top) * s.w * W;
    V sum[4] = {V(0.0f), V(0.0f), V(0.0f), V(0.0f)};
    for (; pixels >= 4; pixels -= 4, from += 4 * W)
      NNC_UNROLL for (int i = 0; i < 4; ++i) sum[i] += load<V>(from + i * W);
    for (; pixels > 0; --pixels, from += W)
      sum[0] += load<V>(from);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }

  template <class T>
  static NNC_INLINE void store_mean(const S &s, const global_pool_plan &p,
                                    V all, T *y, int plane, const Epi &epi) {
    const V area(static_cast<float>(s.h * s.w));
    store_channels(all / area, y, ptrdiff_t(plane) * W, plane % p.blocks * W,
                   s.c, epi);
  }
};

template <int W, class S, class Epi> struct avg_pool2d_f32_nchw_global_t {
  static constexpr int units(const S &s) { return s.n * s.c; }

  static void run(const S &s, const float *x, float *y, const Epi &epi,
                  int begin, int end) {
    using V = f32x<W>;
    const int plane = s.h * s.w;
    for (int unit = begin; unit < end; ++unit) {
      const float *from = x + ptrdiff_t(unit) * plane;
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
NNC_GLOBAL_POOL(rvv, 8)
NNC_GLOBAL_POOL(avx512, 16)
NNC_GLOBAL_POOL(neon, 4)
#undef NNC_GLOBAL_POOL

template <class S, class Epi>
using avg_pool2d_bf16_nchw16c_global_amxbf16 =
    avg_pool2d_nchwc_global_t<16, S, Epi>;
template <class S, class Epi>
using avg_pool2d_f16_nchw8c_global_neonfp16 =
    avg_pool2d_nchwc_global_t<8, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_POOLING_POOL2D_GLOBAL_H
