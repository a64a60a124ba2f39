//===- Strassen.cpp - Matrices as sums of their parts ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// `strassen` stores a matrix of filters by channels, the weight of a matrix
// product or of a 1 x 1 convolution, as the right factors of Strassen's seven
// products (MNN, section 3.3.2): sums of its quarters, each of which has half
// of the filters and half of the channels. `strassen2` applies the same to each
// of these factors, which gives 49 products of sixteenths. The axis of the
// single tap becomes the axis of the products: a `64x128x1x1` as
// `KRSC16k_strassen`, and a `128x64` as `NK16n_strassen`, is `2 x 1 x 7 x 64 x
// 16`.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/encodings/WeightEncoding.h"
#include "runtime/routines/transforms/strassen_matrices.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

namespace {
class Strassen : public WeightEncoding {
public:
  Strassen(StringRef spelling, int levels)
      : WeightEncoding(spelling), levels(levels) {}

  LogicalResult verifyBlocks(LayoutAttr layout,
                             EmitError emitError) const override {
    if (layout.getBlocks().size() == 1 && getFilterAxis(layout) < 2 &&
        layout.getRank() >= 2)
      return success();
    return emitError() << "needs one block, of the filters, which are one of "
                          "the first two axes";
  }

  LogicalResult verify(LayoutAttr, ArrayRef<int64_t> shape, Type,
                       EmitError emitError) const override {
    int64_t parts = getParts();
    bool hasOneTap = llvm::all_of(shape.drop_front(2),
                                  [](int64_t taps) { return taps == 1; });
    if (hasOneTap && shape[0] % parts == 0 && shape[1] % parts == 0)
      return success();
    return emitError() << "cuts filters and channels into " << parts
                       << " equal parts each, of a weight of one tap";
  }

  RankedTensorType getStoredType(RankedTensorType type) const override {
    LayoutAttr layout = getLayout(type);
    unsigned filterAxis = getFilterAxis(layout);
    int64_t shape[] = {type.getDimSize(filterAxis) / getParts(),
                       type.getDimSize(1 - filterAxis) / getParts(), 1,
                       strassen_points(levels)};
    std::string blocks =
        "KRSC" + std::to_string(layout.getBlocks().front().size) + "k";
    return withLayout(RankedTensorType::get(shape, type.getElementType()),
                      blocks);
  }

  void encode(RankedTensorType type, ArrayRef<float> weight,
              MutableArrayRef<float> stored) const override;

  /// The factors have terms from all parts of the weight, so that no rows can
  /// be encoded independently.
  int64_t getIndependentRows(RankedTensorType type) const override {
    return type.getDimSize(0);
  }

private:
  /// Returns the number of parts into which filters and channels are divided.
  int64_t getParts() const { return int64_t(1) << levels; }
  /// Returns the axis of the filters. The other of the first two axes is that
  /// of the channels, over which products are summed.
  static unsigned getFilterAxis(LayoutAttr layout) {
    return layout.getBlocks().front().axis;
  }

  const int levels;
};
} // namespace

void Strassen::encode(RankedTensorType type, ArrayRef<float> weight,
                      MutableArrayRef<float> stored) const {
  unsigned filterAxis = getFilterAxis(getLayout(type));
  int64_t allFilters = type.getDimSize(filterAxis),
          allChannels = type.getDimSize(1 - filterAxis);
  int64_t filterStep = filterAxis == 0 ? allChannels : 1,
          channelStep = filterAxis == 0 ? 1 : allFilters;
  const int parts = getParts();
  int64_t filters = allFilters / parts, channels = allChannels / parts;

  /// A term of a sum: a part of the weight, given by its first element, and its
  /// sign.
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

  float *result = stored.data();
  for (int64_t filter = 0; filter < filters; ++filter)
    for (int64_t channel = 0; channel < channels; ++channel) {
      const float *at =
          weight.data() + filter * filterStep + channel * channelStep;
      for (const SmallVector<Term> &terms : sums) {
        double sum = 0;
        for (const Term &term : terms)
          sum += term.sign * at[term.offset];
        *result++ = static_cast<float>(sum);
      }
    }
}

std::unique_ptr<WeightEncoding> nn::makeStrassenEncoding(StringRef spelling) {
  int levels = spelling == "strassen" ? 1 : spelling == "strassen2" ? 2 : 0;
  return levels ? std::make_unique<Strassen>(spelling, levels) : nullptr;
}
