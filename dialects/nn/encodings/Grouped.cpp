//===- Grouped.cpp - Weights of convolutions in groups for GPUs -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// `grouped` stores the weight of a convolution whose groups have as many
// filters as channels. Narrow groups are merged by zeros between them; each
// merged group is stored in the order in which the kernels of a GPU read it.
// runtime/routines/convolution/conv2d/grouped_plan.h says where each element
// is.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/encodings/WeightEncoding.h"
#include "runtime/routines/convolution/conv2d/grouped_plan.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Returns the sizes of a weight of `type`, whose axes are filters, channels of
/// a group and taps.
static grouped_weights getWeights(RankedTensorType type) {
  int64_t filters = type.getDimSize(0), width = type.getDimSize(1);
  int64_t taps = product(type.getShape().drop_front(2));
  return grouped_weights(static_cast<int>(width), static_cast<int>(filters),
                         static_cast<int>(taps));
}

namespace {
class Grouped : public WeightEncoding {
public:
  using WeightEncoding::WeightEncoding;

  LogicalResult verifyBlocks(LayoutAttr layout,
                             EmitError emitError) const override {
    SmallVector<LayoutAttr::Block> blocks = layout.getBlocks();
    SmallVector<unsigned> axes = layout.getOuterAxes();
    if (blocks.size() == 1 && blocks.front().size == gemm_panel &&
        blocks.front().axis == 0 && axes.size() > 2 && axes.front() == 0 &&
        axes.back() == 1)
      return success();
    return emitError() << "needs one block, of " << gemm_panel
                       << " filters, and the axes in the order of filters, "
                          "taps and channels";
  }

  bool takes(Type element) const override {
    return element.isF32() || element.isF16() || element.isSignlessInteger(8);
  }

  LogicalResult verify(LayoutAttr, ArrayRef<int64_t> shape, Type,
                       EmitError emitError) const override {
    if (shape[1] > 0 && llvm::isInt<25>(product(shape)))
      return success();
    return emitError() << "is for weights of 1 to 2^24 elements";
  }

  /// Returns a matrix type with one row for each merged group.
  RankedTensorType getStoredType(RankedTensorType type) const override {
    grouped_weights weights = getWeights(type);
    int64_t shape[] = {
        weights.merged_groups(),
        weights.stored_elements(getElementBytes(type.getElementType()))};
    return RankedTensorType::get(shape, type.getElementType());
  }

  void encode(RankedTensorType type, ArrayRef<float> weight,
              MutableArrayRef<float> stored) const override {
    grouped_weights weights = getWeights(type);
    float *next = stored.data();
    weights.visit(getElementBytes(type.getElementType()),
                  [&](int filter, int tap, int channel) {
                    const int64_t row =
                        int64_t(filter) * weights.width + channel;
                    *next++ =
                        filter < 0 ? 0.0f : weight[row * weights.taps + tap];
                  });
  }

  /// The filters of merged groups depend on the number of all filters.
  int64_t getIndependentRows(RankedTensorType type) const override {
    return type.getDimSize(0);
  }
};
} // namespace

std::unique_ptr<WeightEncoding> nn::makeGroupedEncoding(StringRef spelling) {
  if (spelling == "grouped")
    return std::make_unique<Grouped>(spelling);
  return nullptr;
}
