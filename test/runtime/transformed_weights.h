// Weights in the forms that routines read which transform or round them.
#ifndef NNC_TEST_TRANSFORMED_WEIGHTS_H
#define NNC_TEST_TRANSFORMED_WEIGHTS_H

#include "runtime/routines/catalogue/expressions.h"
#include "runtime/routines/convolution/conv2d/shape.h"
#include "runtime/routines/convolution/conv2d/winograd.h"
#include "runtime/routines/matrix/matmul/codebook_plan.h"
#include "runtime/routines/matrix/matmul/shape.h"
#include "runtime/routines/transforms/strassen_matrices.h"
#include "test/runtime/blocked.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>

namespace nnc_test {

/// True if vectors V can have LEVELS levels of Strassen's method. Halves have
/// at most one level.
template <class V, int LEVELS>
constexpr bool has_levels =
    LEVELS < 2 || std::is_same<nnc::element_of<V>, float>::value;

/// Returns the largest allowed error, beyond error_bound(), of sums of `terms`
/// products by Strassen's method. Floats stay within error_bound().
template <class T> float strassen_bound(int levels, int terms) {
  const bool within = levels == 0 || std::is_same<T, float>::value;
  return within ? 0
                : method_bound<T>(nnc::strassen_error(terms, levels),
                                  float(terms));
}

/// Returns weights K x C x R x S transformed by Winograd's matrices, G w G^T,
/// rounded once, in KRSC<W>k.
inline floats winograd_weights(const nnc::conv2d_shape &s, const floats &w,
                               int outputs, int width) {
  const nnc::winograd_filter rows =
      nnc::make_winograd_filter(outputs, s.kh, s.sh);
  const nnc::winograd_filter cols =
      nnc::make_winograd_filter(outputs, s.kw, s.sw);
  const int area = rows.points * cols.points;
  floats u(std::size_t(blocks(s.k, width)) * area * s.c * width, 0.0f);
  for (int k = 0; k < s.k; ++k)
    for (int c = 0; c < s.c; ++c)
      for (int point = 0; point < area; ++point) {
        const double *column = cols.rows[point % cols.points];
        const double *row = rows.rows[point / cols.points];
        double sum = 0;
        for (int tap = 0; tap < s.kh * s.kw; ++tap)
          sum += row[tap / s.kw] * column[tap % s.kw] *
                 w[(std::size_t(k) * s.c + c) * s.kh * s.kw + tap];
        u[((std::size_t(k / width) * area + point) * s.c + c) * width +
          k % width] = float(sum);
      }
  return u;
}

/// Returns the weights of a convolution of stride 2 folded as folded.h
/// describes, with zeros behind the last tap, and then transformed like
/// winograd_weights().
inline floats folded_winograd_weights(const nnc::conv2d_shape &s,
                                      const floats &w, int outputs, int width) {
  nnc::conv2d_shape folded = s;
  folded.c = 4 * s.c;
  folded.kh = (s.kh + 1) / 2;
  folded.kw = (s.kw + 1) / 2;
  folded.sh = folded.sw = 1;
  const int taps = folded.kh * folded.kw;
  floats v(std::size_t(s.k) * folded.c * taps, 0.0f);
  for (int plane = 0; plane < s.k * s.c; ++plane)
    for (int r = 0; r < s.kh; ++r)
      for (int c = 0; c < s.kw; ++c)
        v[(std::size_t(plane) * 4 + r % 2 * 2 + c % 2) * taps +
          r / 2 * folded.kw + c / 2] =
            w[(std::size_t(plane) * s.kh + r) * s.kw + c];
  return winograd_weights(folded, v, outputs, width);
}

/// Returns the right factors of the products of `levels` levels of Strassen's
/// method, [filters / W][7^levels][channels][W], for a matrix of filters by
/// channels. `filter_step` and `channel_step` are the distances of its
/// elements.
inline floats strassen_weights(const floats &w, int filters, int channels,
                               int filter_step, int channel_step, int levels,
                               int width) {
  const int parts = 1 << levels, points = nnc::strassen_points(levels);
  filters /= parts;
  channels /= parts;
  floats u(std::size_t(filters) * channels * points);
  for (int k = 0; k < filters; ++k)
    for (int c = 0; c < channels; ++c)
      for (int point = 0; point < points; ++point) {
        double sum = 0;
        for (int part = 0; part < parts * parts; ++part) {
          const int row = part / parts, column = part % parts;
          const int filter = k + column * filters, channel = c + row * channels;
          sum += nnc::strassen_right_sign(levels, point, row, column) *
                 double(w[std::size_t(filter) * filter_step +
                          std::size_t(channel) * channel_step]);
        }
        u[((std::size_t(k / width) * points + point) * channels + c) * width +
          k % width] = float(sum);
      }
  return u;
}

/// Return the right factors for a 1 x 1 convolution and for a matrix product.
inline floats strassen_weights(const nnc::conv2d_shape &s, const floats &w,
                               int levels, int width) {
  return strassen_weights(w, s.k, s.c, s.c, 1, levels, width);
}
inline floats strassen_weights(const nnc::matmul_shape &s, const floats &w,
                               int levels, int width) {
  return strassen_weights(w, s.n, s.k, 1, s.n, levels, width);
}

/// Rounds weights to 16 values between -1 and 1.
inline void share_values(floats &w) {
  for (float &x : w)
    x = std::floor(std::fmin(std::fmax(x, -1.0f), 0.9f) * 8) / 8 + 0.01f;
}

/// Returns weights as indices in a table of values for each panel of columns,
/// as bytes in a list of floats. No panel may have more than 16 values.
inline floats codebook_weights(const nnc::matmul_shape &s, const floats &w,
                               int width) {
  std::vector<unsigned char> bytes;
  for (int first = 0; first < s.n; first += width) {
    const auto weight = [&](int k, int lane) {
      const bool is_there = k < s.k && first + lane < s.n;
      return w[is_there ? std::size_t(k) * s.n + first + lane : first];
    };
    floats values;
    const auto place = [&](float x) {
      const auto at = std::find(values.begin(), values.end(), x);
      if (at != values.end())
        return int(at - values.begin());
      values.insert(values.begin(), x);
      return -1;
    };
    for (int k = 0; k < s.k; ++k)
      for (int lane = 0; lane < width; ++lane)
        place(weight(k, lane));
    values.resize(nnc::codebook16::values);
    const auto *table = reinterpret_cast<const unsigned char *>(values.data());
    bytes.insert(bytes.end(), table, table + nnc::codebook16::table);
    for (int k = 0; k < s.k; k += 2)
      for (int lane = 0; lane < width; ++lane)
        bytes.push_back(static_cast<unsigned char>(
            place(weight(k, lane)) | place(weight(k + 1, lane)) << 4));
  }
  floats u(bytes.size() / sizeof(float));
  std::memcpy(u.data(), bytes.data(), bytes.size());
  return u;
}

/// Returns the weights of a convolution in `layout`: KRSC<W>k_winograd<m>,
/// KRSC<W>k_strided_winograd<m>, KRSC<W>k_folded_winograd<m>, KRSC<W>k_strassen
/// or KRSC<W>k_strassen2.
inline floats transform_weights(const nnc::conv2d_shape &s, const floats &w,
                                const std::string &layout) {
  const int width = std::stoi(layout.substr(4));
  const std::string method = layout.substr(layout.find('_') + 1);
  if (method == "strassen" || method == "strassen2")
    return strassen_weights(s, w, method == "strassen" ? 1 : 2, width);
  const int outputs = method.back() - '0';
  return method.substr(0, 6) == "folded"
             ? folded_winograd_weights(s, w, outputs, width)
             : winograd_weights(s, w, outputs, width);
}
/// Returns a product's weights in NK<W>n_strassen, NK<W>n_strassen2 or
/// NK<W>n_codebook16.
inline floats transform_weights(const nnc::matmul_shape &s, const floats &w,
                                const std::string &layout) {
  const int width = std::stoi(layout.substr(2));
  const std::string method = layout.substr(layout.find('_') + 1);
  if (method == "codebook16")
    return codebook_weights(s, w, width);
  return strassen_weights(s, w, method == "strassen" ? 1 : 2, width);
}

} // namespace nnc_test

#endif // NNC_TEST_TRANSFORMED_WEIGHTS_H
