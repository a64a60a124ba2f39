//===- WeightError.cpp - What rounding weights costs ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/WeightError.h"

#include "dialects/nn/TensorData.h"
#include "dialects/nn/Transformed.h"
#include "runtime/routines/catalogue.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace nnc;

namespace {
/// Magnitudes of a few elements at a time, so that none waits for another.
struct Magnitudes {
  static constexpr int64_t width = 16;
  float most[width] = {};
  double squares[width] = {};

  void add(const float *w, int64_t count) {
    for (; count >= width; count -= width, w += width)
      addPart(w, width);
    addPart(w, count);
  }
  float getMost() const { return *std::max_element(most, most + width); }
  double getSquares() const {
    return std::accumulate(squares, squares + width, 0.0);
  }

private:
  void addPart(const float *w, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      most[i] = std::max(most[i], std::fabs(w[i]));
      squares[i] += double(w[i]) * w[i];
    }
  }
};

/// Squares of all elements of a matrix, and of what rounding changes.
struct Squares {
  double all = 0, lost = 0;
  float (*getScale)(float most); ///< what an integer stands for

  /// Adds a group of so many elements with these magnitudes.
  void add(float most, double squares, int64_t count) {
    double scale = getScale(most);
    all += squares;
    // What is taken for zero is lost whole.
    lost += scale == 0 ? squares : count * scale * scale / 12;
  }
};
} // namespace

/// Of groups side by side in rows.
static void addRows(const float *w, int64_t rows, int64_t columns,
                    Squares &sum) {
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t at = 0; at < columns; at += integers_group) {
      int64_t count = std::min<int64_t>(integers_group, columns - at);
      Magnitudes group;
      group.add(w, count);
      sum.add(group.getMost(), group.getSquares(), count);
      w += count;
    }
}

/// Of groups one below the other in columns.
static void addColumns(const float *w, int64_t rows, int64_t columns,
                       Squares &sum) {
  for (int64_t row = 0; row < rows; row += integers_group) {
    int64_t count = std::min<int64_t>(integers_group, rows - row);
    std::vector<float> most(columns, 0.0f);
    std::vector<double> squares(columns, 0.0);
    for (int64_t i = 0; i < count; ++i, w += columns)
      for (int64_t column = 0; column < columns; ++column) {
        most[column] = std::max(most[column], std::fabs(w[column]));
        squares[column] += double(w[column]) * w[column];
      }
    for (int64_t column = 0; column < columns; ++column)
      sum.add(most[column], squares[column], count);
  }
}

std::optional<double> nnc::getWeightError(Value weight, RankedTensorType type) {
  std::optional<TensorData> data = TensorData::get(weight);
  if (!data)
    return std::nullopt;
  const float *w = data->getAs<float>().data();
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  Squares sum;
  sum.getScale = nn::getIntegerBits(nn::getLayoutName(type)) == 20
                     ? integers<20>::scale
                     : integers<24>::scale;
  if (nn::getFilterAxis(nn::getLayout(type)) == 0)
    addRows(w, rows, columns, sum);
  else
    addColumns(w, rows, columns, sum);
  if (!std::isfinite(sum.all))
    return std::numeric_limits<double>::infinity();
  return sum.all == 0 ? 0 : std::sqrt(sum.lost / sum.all);
}
