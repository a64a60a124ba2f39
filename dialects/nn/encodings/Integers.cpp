//===- Integers.cpp - Matrices rounded to integers of 24 bits -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// `int24` stores a matrix of floats as integers of three bytes. The columns of
// one block form a panel, and panels are stored one after the other. Behind
// each group of 512 rows of a panel there is one scale for each column. A
// `25088x4096` as `NK16n_int24` takes 256 panels of 1207360 bytes, three
// quarters of the size of `NK16n`.
// runtime/routines/matrix/matmul/integers_plan.h defines the position of each
// byte.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/encodings/PanelMatrix.h"
#include "dialects/nn/encodings/WeightEncoding.h"
#include "runtime/routines/matrix/matmul/integers_plan.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

namespace {
class Integers : public WeightEncoding {
public:
  using WeightEncoding::WeightEncoding;

  LogicalResult verifyBlocks(LayoutAttr layout,
                             EmitError emitError) const override {
    if (layout.getRank() != 2)
      return emitError() << "holds integers, which only a matrix may be";
    if (layout.getBlocks().size() != 1)
      return emitError() << "needs one block, of the columns of the result";
    return success();
  }

  LogicalResult verify(LayoutAttr layout, ArrayRef<int64_t>, Type element,
                       EmitError emitError) const override {
    if (element.isF32() && layout.getBlocks().front().size % 4 == 0)
      return success();
    return emitError() << "holds floats as integers, in blocks of a multiple "
                          "of 4";
  }

  /// Returns a matrix type with one row for each panel. The row has the size of
  /// the panel, in floats.
  RankedTensorType getStoredType(RankedTensorType type) const override {
    PanelMatrix matrix(type);
    int64_t panels = llvm::divideCeil(matrix.columns, matrix.width);
    int64_t bytes = integers::panel(matrix.rows, matrix.width);
    return RankedTensorType::get({panels, bytes / int64_t(sizeof(float))},
                                 type.getElementType());
  }

  void encode(RankedTensorType type, ArrayRef<float> weight,
              MutableArrayRef<float> stored) const override {
    PanelMatrix matrix(type);
    // The padding of the last panel is zero.
    std::fill(stored.begin(), stored.end(), 0.0f);
    auto *group = reinterpret_cast<unsigned char *>(stored.data());
    for (int64_t first = 0; first < matrix.columns; first += matrix.width)
      for (int64_t row = 0; row < matrix.rows; row += integers_group) {
        int64_t count = std::min<int64_t>(integers_group, matrix.rows - row);
        int64_t lanes = std::min(matrix.width, matrix.columns - first);
        for (int64_t lane = 0; lane < lanes; ++lane)
          roundColumn(weight.data() + (first + lane) * matrix.columnStep +
                          row * matrix.rowStep,
                      count, matrix.rowStep, matrix.width, lane, group);
        group += integers::panel(count, matrix.width);
      }
  }

  int getBits() const override { return integers::bits; }

  double getError(RankedTensorType type,
                  const TensorData &weight) const override;

private:
  static void roundColumn(const float *w, int64_t count, int64_t step,
                          int64_t width, int64_t lane, unsigned char *group);
  static void writeInteger(int32_t value, int64_t k, int64_t width,
                           int64_t lane, unsigned char *group);
};
} // namespace

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

/// Writes the integer of row `k` and column `lane` into a group.
void Integers::writeInteger(int32_t value, int64_t k, int64_t width,
                            int64_t lane, unsigned char *group) {
  auto bits = static_cast<uint32_t>(value);
  unsigned char *row = group + integers::group(k, width);
  for (int byte = 0; byte < integers::bytes; ++byte)
    row[integers::bytes * lane + byte] = bits >> 8 * byte;
}

/// Rounds the `count` weights of column `lane` of a group, whose distance in
/// `w` is `step` elements, to integers, and writes them to the group and their
/// scale behind it. The group must hold zeros before the call.
void Integers::roundColumn(const float *w, int64_t count, int64_t step,
                           int64_t width, int64_t lane, unsigned char *group) {
  float most = 0;
  for (int64_t k = 0; k < count; ++k)
    most = std::max(most, std::fabs(w[k * step]));
  float scale = integers::scale(most), stored = scale / integers::unit;
  std::memcpy(group + integers::group(count, width) + lane * sizeof(float),
              &stored, sizeof(float));
  for (int64_t k = 0; k < count && scale != 0; ++k) {
    long units = std::lrint(double(w[k * step]) / scale);
    writeInteger(std::clamp<long>(units, -integers::most, integers::most), k,
                 width, lane, group);
  }
}

//===----------------------------------------------------------------------===//
// Rounding error
//===----------------------------------------------------------------------===//

namespace {
/// The largest magnitude and the sum of squares of elements, accumulated in
/// several independent lanes so that additions do not wait for each other.
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

/// The sum of squares of all elements of a matrix, and the estimated sum of
/// squares of their rounding errors. Rounding errors are assumed to be
/// uniformly distributed over one quantization step, which the largest element
/// of a group determines.
struct RoundingLoss {
  double all = 0, lost = 0;
  float (*getScale)(float most); ///< quantization step of a group

  /// Adds a group of `count` elements with these magnitudes.
  void add(float most, double squares, int64_t count) {
    double scale = getScale(most);
    all += squares;
    // If the scale is 0, all elements become zero and their error is their
    // whole value.
    lost += scale == 0 ? squares : count * scale * scale / 12;
  }

  /// Adds a matrix whose groups are parts of rows.
  void addRows(const float *w, int64_t rows, int64_t columns) {
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t at = 0; at < columns; at += integers_group) {
        int64_t count = std::min<int64_t>(integers_group, columns - at);
        Magnitudes group;
        group.add(w, count);
        add(group.getMost(), group.getSquares(), count);
        w += count;
      }
  }

  /// Adds a matrix whose groups are parts of columns.
  void addColumns(const float *w, int64_t rows, int64_t columns) {
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
        add(most[column], squares[column], count);
    }
  }
};
} // namespace

double Integers::getError(RankedTensorType type,
                          const TensorData &weight) const {
  const float *w = weight.getAs<float>().data();
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  RoundingLoss loss;
  loss.getScale = integers::scale;
  if (getLayout(type).getBlocks().front().axis == 0)
    loss.addRows(w, rows, columns);
  else
    loss.addColumns(w, rows, columns);
  if (!std::isfinite(loss.all))
    return std::numeric_limits<double>::infinity();
  return loss.all == 0 ? 0 : std::sqrt(loss.lost / loss.all);
}

std::unique_ptr<WeightEncoding> nn::makeIntegersEncoding(StringRef spelling) {
  if (spelling == "int24")
    return std::make_unique<Integers>(spelling);
  return nullptr;
}
