//===- Winograd.cpp - Winograd filters ------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Stores each filter as the values that Winograd's convolution multiplies (MNN,
// section 3.3.1), U = G w G^T, where
// runtime/routines/convolution/conv2d/winograd_matrices.h defines G. Along each
// spatial axis with more than one tap, the r taps are replaced by the
// interpolation points of the method for m outputs at a time:
//
// - `winograd<m>`, for a stride of 1: m + r - 1 points. A `64x64x3x3` as
//   `KRSC16k_winograd4` is `4 x 6 x 6 x 64 x 16`.
// - `strided_winograd<m>`, for a stride of 2: the points of the taps at even
//   places, then those of the taps at odd places. A `64x64x3x3` as
//   `KRSC16k_strided_winograd2` is `4 x 5 x 5 x 64 x 16`.
// - `folded_winograd<m>`, for a stride of 2 along both axes: each channel is
//   taken for four, those of the taps in even or odd rows and even or odd
//   columns, which meet a stride of 1
//   (runtime/routines/convolution/conv2d/folded.h). A `64x3x7x7` as
//   `KRSC16k_folded_winograd5` is `4 x 8 x 8 x 12 x 16`.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/encodings/WeightEncoding.h"
#include "runtime/routines/convolution/conv2d/winograd_matrices.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

namespace {
class Winograd : public WeightEncoding {
public:
  enum class Kind { plain, strided, folded };

  Winograd(StringRef spelling, Kind kind, int64_t outputs)
      : WeightEncoding(spelling), kind(kind), outputs(outputs) {}

  LogicalResult verifyBlocks(LayoutAttr layout,
                             EmitError emitError) const override {
    std::string axes = layout.getAxisLetters();
    if (axes != "KCRS" && axes != "KCS")
      return emitError() << "transforms taps, which only a weight has";
    if (needsRows() && axes != "KCRS")
      return emitError() << "parts rows and columns, which only a weight of "
                            "four axes has";
    return success();
  }

  bool needsRows() const override { return kind != Kind::plain; }

  LogicalResult verify(LayoutAttr, ArrayRef<int64_t> shape, Type,
                       EmitError emitError) const override {
    SmallVector<int64_t> points = getPoints(shape);
    for (size_t axis = 2; axis < shape.size(); ++axis) {
      int64_t most = llvm::divideCeil(points[axis], getStride());
      if (shape[axis] < getStride() || most > winograd_matrices::most_points)
        return emitError() << "has " << most << " points along an axis of "
                           << shape[axis] << " taps; there can be up to "
                           << winograd_matrices::most_points;
    }
    return success();
  }

  RankedTensorType getStoredType(RankedTensorType type) const override {
    return withLayout(RankedTensorType::get(getPoints(type.getShape()),
                                            type.getElementType()),
                      getLayout(type).dropEncoding());
  }

  void encode(RankedTensorType type, ArrayRef<float> weight,
              MutableArrayRef<float> stored) const override {
    if (kind != Kind::folded)
      return transform(type.getShape(), weight.data(), stored.data());
    std::vector<float> folded = fold(type.getShape(), weight.data());
    transform(getFoldedShape(type.getShape()), folded.data(), stored.data());
  }

private:
  /// Returns the stride of the convolution whose filters transform() takes.
  int64_t getStride() const { return kind == Kind::strided ? 2 : 1; }

  /// Returns the folded shape of a weight of the shape K x C x R x S.
  static SmallVector<int64_t> getFoldedShape(ArrayRef<int64_t> shape) {
    return {shape[0], 4 * shape[1], int64_t(llvm::divideCeil(shape[2], 2)),
            int64_t(llvm::divideCeil(shape[3], 2))};
  }

  /// Returns the stored shape of a weight of the shape `shape`. Its last axes
  /// are the interpolation points.
  SmallVector<int64_t> getPoints(ArrayRef<int64_t> shape) const {
    SmallVector<int64_t> points = kind == Kind::folded
                                      ? getFoldedShape(shape)
                                      : SmallVector<int64_t>(shape);
    for (int64_t &taps : llvm::drop_begin(points, 2))
      taps += taps == 1 ? 0 : getStride() * (outputs - 1);
    return points;
  }

  std::vector<float> fold(ArrayRef<int64_t> shape, const float *w) const;
  void transform(ArrayRef<int64_t> shape, const float *w, float *u) const;

  const Kind kind;
  const int64_t outputs; ///< m
};
} // namespace

/// Returns the weight with each channel split into four, with the taps in even
/// or odd rows and even or odd columns. Filters of odd size are padded with
/// zeros at the end.
std::vector<float> Winograd::fold(ArrayRef<int64_t> shape,
                                  const float *w) const {
  SmallVector<int64_t> folded = getFoldedShape(shape);
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

/// Writes U = G w G^T for each filter w of a weight of `shape`.
void Winograd::transform(ArrayRef<int64_t> shape, const float *w,
                         float *u) const {
  int64_t height = shape.size() == 4 ? shape[2] : 1, width = shape.back();
  winograd_filter rows = make_winograd_filter(outputs, height, getStride()),
                  columns = make_winograd_filter(outputs, width, getStride());
  int64_t filters = shape[0] * shape[1];

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
}

std::unique_ptr<WeightEncoding> nn::makeWinogradEncoding(StringRef spelling) {
  StringRef rest = spelling;
  auto kind = rest.consume_front("strided_")  ? Winograd::Kind::strided
              : rest.consume_front("folded_") ? Winograd::Kind::folded
                                              : Winograd::Kind::plain;
  if (!rest.consume_front("winograd") || rest.size() != 1 || rest[0] < '1' ||
      rest[0] > '0' + winograd_matrices::most_points)
    return nullptr;
  return std::make_unique<Winograd>(spelling, kind, rest[0] - '0');
}
