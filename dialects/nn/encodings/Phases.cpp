//===- Phases.cpp - Weights of transposed convolutions for GPUs -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// `phases<s>` stores the weight of a transposed convolution of stride s, from 2
// to 4, such that the taps of each phase are together, in the order in which
// the kernels of a GPU read them.
// runtime/routines/convolution/conv_transpose2d/phases_plan.h says where each
// element is.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/encodings/WeightEncoding.h"
#include "runtime/routines/convolution/conv_transpose2d/phases_plan.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

namespace {
class Phases : public WeightEncoding {
public:
  Phases(StringRef spelling, int stride)
      : WeightEncoding(spelling), stride(stride) {}

  LogicalResult verifyBlocks(LayoutAttr layout,
                             EmitError emitError) const override {
    SmallVector<LayoutAttr::Block> blocks = layout.getBlocks();
    SmallVector<unsigned> axes = layout.getOuterAxes();
    if (blocks.size() == 1 && blocks.front().size == gemm_panel &&
        blocks.front().axis == 1 && axes == SmallVector<unsigned>{1, 2, 3, 0})
      return success();
    return emitError() << "needs one block, of " << gemm_panel
                       << " filters, and the axes in the order of filters, "
                          "taps and channels of the input";
  }

  bool needsRows() const override { return true; }

  LogicalResult verify(LayoutAttr, ArrayRef<int64_t> shape, Type,
                       EmitError emitError) const override {
    if (shape[0] > 0 && llvm::isInt<29>(product(shape)))
      return success();
    return emitError() << "is for weights of 1 to 2^28 elements";
  }

  RankedTensorType getStoredType(RankedTensorType type) const override {
    phase_weights weights = getPhaseWeights(type);
    int64_t count = weights.first_element(
        weights.phases(), getElementBytes(type.getElementType()));
    return RankedTensorType::get({count}, type.getElementType());
  }

  void encode(RankedTensorType type, ArrayRef<float> weight,
              MutableArrayRef<float> stored) const override {
    phase_weights weights = getPhaseWeights(type);
    float *next = stored.data();
    weights.visit(getElementBytes(type.getElementType()),
                  [&](int filter, int row, int column, int channel) {
                    const int64_t matrix =
                        int64_t(channel) * weights.filters + filter;
                    const int64_t tap = row * weights.kw + column;
                    *next++ =
                        filter < 0
                            ? 0.0f
                            : weight[matrix * (weights.kh * weights.kw) + tap];
                  });
  }

  /// The taps of a phase have the weights of all channels.
  int64_t getIndependentRows(RankedTensorType type) const override {
    return type.getDimSize(0);
  }

private:
  /// Returns the sizes of a weight of `type`, whose axes are channels of the
  /// input, filters, and rows and columns of taps.
  phase_weights getPhaseWeights(RankedTensorType type) const {
    return {static_cast<int>(type.getDimSize(0)),
            static_cast<int>(type.getDimSize(1)),
            static_cast<int>(type.getDimSize(2)),
            static_cast<int>(type.getDimSize(3)), stride};
  }

  int stride;
};
} // namespace

std::unique_ptr<WeightEncoding> nn::makePhasesEncoding(StringRef spelling) {
  StringRef rest = spelling;
  if (!rest.consume_front("phases") || rest.size() != 1 || rest[0] < '2' ||
      rest[0] > '4')
    return nullptr;
  return std::make_unique<Phases>(spelling, rest[0] - '0');
}
