//===- Transform.cpp - Weights in transformed layouts ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "dialects/nn/Transformed.h"
#include "runtime/routines/conv2d/winograd_matrices.h"
#include "runtime/routines/matmul/integers_plan.h"
#include "runtime/routines/strassen_matrices.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

/// The right factors of Strassen's products of the matrix of filters by
/// channels: for each filter and channel of a part, the sums of parts.
static std::vector<float> sumParts(RankedTensorType type, int levels,
                                   const float *w) {
  unsigned filterAxis = nn::getFilterAxis(nn::getLayout(type));
  int64_t allFilters = type.getDimSize(filterAxis),
          allChannels = type.getDimSize(1 - filterAxis);
  int64_t filterStep = filterAxis == 0 ? allChannels : 1,
          channelStep = filterAxis == 0 ? 1 : allFilters;
  int parts = 1 << levels;
  int64_t filters = allFilters / parts, channels = allChannels / parts;

  struct Term {
    int64_t offset;
    int sign;
  };
  std::vector<SmallVector<Term>> sums(strassen_points(levels));
  for (auto [point, terms] : llvm::enumerate(sums))
    for (int channel = 0; channel < parts; ++channel)
      for (int filter = 0; filter < parts; ++filter)
        if (int sign = strassen_right_sign(levels, point, channel, filter))
          terms.push_back(
              {filter * filters * filterStep + channel * channels * channelStep,
               sign});

  std::vector<float> result;
  result.reserve(filters * channels * sums.size());
  for (int64_t filter = 0; filter < filters; ++filter)
    for (int64_t channel = 0; channel < channels; ++channel) {
      const float *at = w + filter * filterStep + channel * channelStep;
      for (const SmallVector<Term> &terms : sums) {
        double sum = 0;
        for (const Term &term : terms)
          sum += term.sign * at[term.offset];
        result.push_back(static_cast<float>(sum));
      }
    }
  return result;
}

/// Of filters for a stride of 2, the taps in even or odd rows and columns as
/// those of four channels, zeros behind the last.
static std::vector<float> foldFilters(ArrayRef<int64_t> shape, const float *w) {
  SmallVector<int64_t> folded = nn::getFoldedShape(shape);
  int64_t height = shape[2], width = shape[3];
  std::vector<float> result;
  result.reserve(folded[0] * folded[1] * folded[2] * folded[3]);
  for (int64_t filter = 0; filter < shape[0] * shape[1]; ++filter) {
    for (int odd = 0; odd < 4; ++odd)
      for (int64_t r = odd / 2; r < 2 * folded[2]; r += 2)
        for (int64_t s = odd % 2; s < 2 * folded[3]; s += 2)
          result.push_back(r < height && s < width ? w[r * width + s] : 0.0f);
    w += height * width;
  }
  return result;
}

static std::vector<float> transformFilters(ArrayRef<int64_t> shape,
                                           int64_t outputs, int64_t stride,
                                           const float *w) {
  int64_t height = shape.size() == 4 ? shape[2] : 1, width = shape.back();
  winograd_filter rows = make_winograd_filter(outputs, height, stride),
                  columns = make_winograd_filter(outputs, width, stride);
  int64_t filters = shape[0] * shape[1];
  std::vector<float> result(filters * rows.points * columns.points);

  float *u = result.data();
  constexpr int most = 2 * winograd_matrices::most_points;
  for (int64_t filter = 0; filter < filters; ++filter) {
    double half[most][most] = {};
    for (int i = 0; i < rows.points; ++i)
      for (int64_t r = 0; r < height; ++r)
        for (int64_t s = 0; s < width; ++s)
          half[i][s] += rows.rows[i][r] * w[r * width + s];
    for (int i = 0; i < rows.points; ++i)
      for (int j = 0; j < columns.points; ++j) {
        double sum = 0;
        for (int64_t s = 0; s < width; ++s)
          sum += half[i][s] * columns.rows[j][s];
        *u++ = static_cast<float>(sum);
      }
    w += height * width;
  }
  return result;
}

/// Writes the integer of row `k` and column `lane` into a group of
/// integers_plan.h.
template <int Bits>
static void writeInteger(int32_t value, int64_t k, int64_t width, int64_t lane,
                         unsigned char *group) {
  auto bits = static_cast<uint32_t>(value);
  int64_t second = k % integers<Bits>::rows; // or the first of two rows
  unsigned char *rows = group + integers<Bits>::group(k - second, width);
  if constexpr (Bits == 24) {
    for (int byte = 0; byte < 3; ++byte)
      rows[3 * lane + byte] = bits >> 8 * byte;
    return;
  }
  unsigned char *upper = rows + 4 * lane + 2 * second;
  upper[0] = bits >> 4;
  upper[1] = bits >> 12;
  rows[4 * width + lane] |= (bits & 15) << 4 * second;
}

/// Writes column `lane` of a group of integers_plan.h, zeros before: `count`
/// weights, so many elements from one to the next, as integers, and their scale
/// behind the group.
template <int Bits>
static void roundColumn(const float *w, int64_t count, int64_t step,
                        int64_t width, int64_t lane, unsigned char *group) {
  using Form = integers<Bits>;
  float most = 0;
  for (int64_t k = 0; k < count; ++k)
    most = std::max(most, std::fabs(w[k * step]));
  float scale = Form::scale(most), stored = scale / Form::unit;
  std::memcpy(group + Form::group(count, width) + lane * sizeof(float), &stored,
              sizeof(float));
  int32_t last = 0;
  for (int64_t k = 0; k < count && scale != 0; ++k) {
    double units = double(w[k * step]) / scale;
    if (k % Form::rows != 0) // see integers<20>::rows
      units -= (last & 15) / 16.0;
    last = std::clamp<int32_t>(std::lrint(units), -Form::most, Form::most);
    writeInteger<Bits>(last, k, width, lane, group);
  }
}

/// The matrix as integers_plan.h describes it, columns of zeros behind the
/// last.
template <int Bits>
static std::vector<float> roundToIntegers(RankedTensorType type,
                                          const float *w) {
  nn::LayoutAttr layout = nn::getLayout(type);
  unsigned columnAxis = nn::getFilterAxis(layout);
  int64_t columns = type.getDimSize(columnAxis),
          rows = type.getDimSize(1 - columnAxis);
  int64_t columnStep = columnAxis == 0 ? rows : 1,
          rowStep = columnAxis == 0 ? 1 : columns;
  int64_t width = layout.getBlocks().front().size;
  std::vector<float> result(nn::getPhysicalElements(type), 0.0f);

  auto *group = reinterpret_cast<unsigned char *>(result.data());
  for (int64_t first = 0; first < columns; first += width)
    for (int64_t row = 0; row < rows; row += integers_group) {
      int64_t count = std::min<int64_t>(integers_group, rows - row);
      for (int64_t lane = 0; lane < std::min(width, columns - first); ++lane)
        roundColumn<Bits>(w + (first + lane) * columnStep + row * rowStep,
                          count, rowStep, width, lane, group);
      group += integers<Bits>::panel(count, width);
    }
  return result;
}

std::vector<float> codegen::transformWeight(RankedTensorType type,
                                            const float *weight) {
  switch (nn::getIntegerBits(nn::getLayoutName(type))) {
  case 24:
    return roundToIntegers<24>(type, weight);
  case 20:
    return roundToIntegers<20>(type, weight);
  }
  if (int levels = nn::getStrassenLevels(nn::getLayoutName(type)))
    return sumParts(type, levels, weight);
  StringRef layout = nn::getLayoutName(type);
  int64_t outputs = nn::getWinogradOutputs(layout);
  if (!nn::isFolded(layout))
    return transformFilters(type.getShape(), outputs,
                            nn::getWinogradStride(layout), weight);
  return transformFilters(nn::getFoldedShape(type.getShape()), outputs, 1,
                          foldFilters(type.getShape(), weight).data());
}
