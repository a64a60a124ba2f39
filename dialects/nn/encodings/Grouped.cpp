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

#include "dialects/nn/encodings/PanelFilters.h"
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
class Grouped : public PanelFilters {
public:
  using PanelFilters::PanelFilters;

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
    encodeAs(getWeights(type), type, weight, stored);
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
