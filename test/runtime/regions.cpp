// Tests the positions of maxima in windows, and regions of images, of random
// shapes against their definitions.
#include "runtime/routines/catalogue/shapes.h"
#include "runtime/routines/pooling/max_pool_index/portable.h"
#include "runtime/routines/regions/max_roi_pool/portable.h"
#include "runtime/routines/regions/roi_align/portable.h"
#include "test/runtime/check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

using namespace nnc;

namespace {

std::mt19937 source(29);

int draw(int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(source);
}
float draw_real(double low, double high) {
  return static_cast<float>(
      std::uniform_real_distribution<double>(low, high)(source));
}
template <class T> std::vector<T> integers(int count, int size) {
  std::vector<T> v(static_cast<std::size_t>(count));
  for (T &x : v)
    x = static_cast<T>(draw(-size, size));
  return v;
}

template <class R, class S, class... A> void run(const S &s, A... args) {
  const int units = R::units(s), half = units / 2;
  R::run(s, args..., none{}, 0, half);
  R::run(s, args..., none{}, half, units);
}

template <class T> void check_places() {
  max_pool_index_shape s{};
  s.planes = draw(1, 3);
  int *sizes[] = {&s.d, &s.h, &s.w}, *kernel[] = {&s.kd, &s.kh, &s.kw},
      *strides[] = {&s.sd, &s.sh, &s.sw}, *gaps[] = {&s.dd, &s.dh, &s.dw},
      *pads[] = {&s.pf, &s.pt, &s.pl}, *outputs[] = {&s.od, &s.oh, &s.ow};
  for (int i = 0; i < 3; ++i) {
    *sizes[i] = draw(1, 6);
    *kernel[i] = draw(1, 3);
    *strides[i] = draw(1, 3);
    *gaps[i] = draw(1, 2);
    *pads[i] = draw(0, 3);
    *outputs[i] = draw(1, 4);
  }
  s.column_major = draw(0, 1);
  const int size = s.d * s.h * s.w;
  const std::vector<T> x = integers<T>(s.planes * size, 4);
  std::vector<std::int64_t> y(std::size_t(s.planes * s.od * s.oh * s.ow), -7);
  run<max_pool_index_portable<max_pool_index_shape, none>>(s, x.data(),
                                                           y.data());
  std::size_t at = 0;
  for (int p = 0; p < s.planes; ++p)
    for (int a = 0; a < s.od; ++a)
      for (int b = 0; b < s.oh; ++b)
        for (int c = 0; c < s.ow; ++c, ++at) {
          std::int64_t want = -1;
          T best{};
          for (int tap = 0; tap < s.kd * s.kh * s.kw; ++tap) {
            const int z = a * s.sd - s.pf + tap / (s.kh * s.kw) * s.dd,
                      r = b * s.sh - s.pt + tap / s.kw % s.kh * s.dh,
                      q = c * s.sw - s.pl + tap % s.kw * s.dw;
            if (z < 0 || z >= s.d || r < 0 || r >= s.h || q < 0 || q >= s.w)
              continue;
            const T value = x[std::size_t(p * size + (z * s.h + r) * s.w + q)];
            if (want >= 0 && value <= best)
              continue;
            best = value;
            want = p * size + (s.column_major ? (q * s.h + r) * s.d + z
                                              : (z * s.h + r) * s.w + q);
          }
          REQUIRE(y[at] == want);
        }
}

double interpolate(const std::vector<float> &x, std::size_t plane, int h, int w,
                   double r, double q, double *most) {
  *most = 0;
  if (r < -1 || r > h || q < -1 || q > w)
    return 0;
  r = std::min(std::max(r, 0.0), h - 1.0);
  q = std::min(std::max(q, 0.0), w - 1.0);
  double sum = 0;
  *most = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      const int row = std::min(int(r) + i, h - 1),
                column = std::min(int(q) + j, w - 1);
      const double down = r - int(r), right = q - int(q);
      const double term = (i ? down : 1 - down) * (j ? right : 1 - right) *
                          double(x[plane + std::size_t(row * w + column)]);
      sum += term;
      *most = std::max(*most, term);
    }
  return sum;
}

void check_roi_align() {
  roi_align_shape s{};
  s.n = draw(1, 3);
  s.c = draw(1, 3);
  s.h = draw(1, 7);
  s.w = draw(1, 7);
  s.count = draw(1, 4);
  s.oh = draw(1, 3);
  s.ow = draw(1, 3);
  s.samples = draw(0, 3);
  s.mode = draw(0, 1);
  s.half_pixel = draw(0, 1);
  s.scale = 0.5f;
  const std::vector<float> x = integers<float>(s.n * s.c * s.h * s.w, 9);
  std::vector<float> rois, y(std::size_t(s.count * s.c * s.oh * s.ow));
  std::vector<std::int64_t> images;
  for (int i = 0; i < s.count; ++i) {
    // Eighths, which floats hold exactly.
    const float left = float(draw(-16, 80)) / 8, top = float(draw(-16, 80)) / 8;
    rois.insert(rois.end(), {left, top, left + float(draw(8, 96)) / 8,
                             top + float(draw(8, 96)) / 8});
    images.push_back(draw(-1, s.n));
  }
  run<roi_align_portable<roi_align_shape, none>>(s, x.data(), rois.data(),
                                                 images.data(), y.data());
  std::size_t at = 0;
  for (int r = 0; r < s.count; ++r)
    for (int c = 0; c < s.c; ++c)
      for (int a = 0; a < s.oh; ++a)
        for (int b = 0; b < s.ow; ++b, ++at) {
          const float *roi = rois.data() + 4 * r;
          const double shift = s.half_pixel ? 0.5 : 0;
          double start[2], bin[2];
          int grid[2];
          for (int i = 0; i < 2; ++i) { // rows, columns
            start[i] = double(roi[1 - i]) * 0.5 - shift;
            double size = double(roi[3 - i]) * 0.5 - shift - start[i];
            size = s.half_pixel ? size : std::max(size, 1.0);
            bin[i] = size / (i ? s.ow : s.oh);
            grid[i] = s.samples ? s.samples : int(std::ceil(bin[i] - 1e-6));
          }
          const auto image = std::size_t(std::min<std::int64_t>(
              std::max<std::int64_t>(images[std::size_t(r)], 0), s.n - 1));
          const std::size_t plane =
              (image * std::size_t(s.c) + std::size_t(c)) *
              std::size_t(s.h * s.w);
          double sum = 0, most = -std::numeric_limits<double>::infinity();
          for (int i = 0; i < grid[0]; ++i)
            for (int j = 0; j < grid[1]; ++j) {
              double largest;
              sum += interpolate(x, plane, s.h, s.w,
                                 start[0] + (a + (i + 0.5) / grid[0]) * bin[0],
                                 start[1] + (b + (j + 0.5) / grid[1]) * bin[1],
                                 &largest);
              most = std::max(most, largest);
            }
          const double want = s.mode ? most : sum / (grid[0] * grid[1]);
          REQUIRE(std::abs(double(y[at]) - want) <= 2e-4);
        }
}

void check_max_roi_pool() {
  max_roi_pool_shape s{draw(1, 2), draw(1, 3), draw(1, 8), draw(1, 8),
                       draw(1, 4), draw(1, 3), draw(1, 4), 0.25f};
  const std::vector<float> x = integers<float>(s.n * s.c * s.h * s.w, 50);
  std::vector<float> rois, y(std::size_t(s.count * s.c * s.oh * s.ow));
  for (int i = 0; i < s.count; ++i)
    rois.insert(rois.end(),
                {float(draw(0, s.n - 1)), draw_real(-8, 40), draw_real(-8, 40),
                 draw_real(-8, 40), draw_real(-8, 40)});
  run<max_roi_pool_portable<max_roi_pool_shape, none>>(s, x.data(), rois.data(),
                                                       y.data());
  std::size_t at = 0;
  for (int r = 0; r < s.count; ++r)
    for (int c = 0; c < s.c; ++c)
      for (int a = 0; a < s.oh; ++a)
        for (int b = 0; b < s.ow; ++b, ++at) {
          const float *roi = rois.data() + 5 * r;
          int low[2], high[2];
          for (int i = 0; i < 2; ++i) {
            const int from = int(std::round(roi[2 - i] * 0.25f)),
                      to = int(std::round(roi[4 - i] * 0.25f)),
                      bins = i ? s.ow : s.oh, bin = i ? b : a,
                      limit = i ? s.w : s.h;
            const float size = float(std::max(to - from + 1, 1)) / float(bins);
            low[i] = from + int(std::floor(float(bin) * size));
            high[i] = from + int(std::ceil(float(bin + 1) * size));
            low[i] = std::min(std::max(low[i], 0), limit);
            high[i] = std::min(std::max(high[i], 0), limit);
          }
          float want = 0;
          bool is_first = true;
          for (int i = low[0]; i < high[0]; ++i)
            for (int j = low[1]; j < high[1]; ++j) {
              const float value =
                  x[std::size_t(((int(roi[0]) * s.c + c) * s.h + i) * s.w + j)];
              want = is_first ? value : std::max(want, value);
              is_first = false;
            }
          REQUIRE(y[at] == want);
        }
}

} // namespace

TEST_CASE("max_pool_index gives the first of the largest elements") {
  for (int round = 0; round < 200; ++round) {
    check_places<float>();
    check_places<std::int8_t>();
  }
}

TEST_CASE("roi_align takes means and maxima of interpolated places") {
  for (int round = 0; round < 300; ++round)
    check_roi_align();
}

TEST_CASE("roi_align survives regions that are no regions") {
  const float inf = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = integers<float>(12, 5);
  const float rois[] = {nan, nan, nan, nan, -inf, 0, 2, 2, 5, 5, 1, 1};
  const std::int64_t images[] = {0, 99, -5};
  std::vector<float> y(3 * 4);
  run<roi_align_portable<roi_align_shape, none>>(
      roi_align_shape{1, 1, 3, 4, 3, 2, 2, 0, 0, 1, 1.0f}, x.data(), rois,
      images, y.data());
  CHECK(y[0] == 0.0f);
}

TEST_CASE("max_roi_pool gives the largest elements of bins") {
  for (int round = 0; round < 300; ++round)
    check_max_roi_pool();
}
