//===- Fragments.cpp - Weights in the order of tensor cores ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// `fragments` stores the weight of a convolution or of a matrix product such
// that each thread of a GPU reads the operands of its tensor-core instructions
// with loads of 16 bytes. The columns of the product, which are one block of
// 32, are in panels; the terms of a sum are in the order of the layout's outer
// axes. Both are padded with zeros. Floats are rounded to tf32, as tensor cores
// multiply them.
// runtime/routines/convolution/conv2d/implicit_gemm_plan.h says where each
// element is.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/encodings/WeightEncoding.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm_plan.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Returns the size of the product with weights of `type`, with one output row.
static matmul_as_conv2d getProduct(RankedTensorType type) {
  unsigned columnAxis = getLayout(type).getBlocks().front().axis;
  int64_t columns = type.getDimSize(columnAxis);
  int64_t terms = columns ? type.getNumElements() / columns : 0;
  return matmul_as_conv2d(1, static_cast<int>(columns),
                          static_cast<int>(terms));
}

/// Returns, for each term of a sum, the distance in elements between the
/// weight of a column for this term and for the first one.
static std::vector<int64_t> getTermOffsets(RankedTensorType type) {
  LayoutAttr layout = getLayout(type);
  SmallVector<int64_t> strides(type.getRank(), 1);
  for (size_t axis = strides.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * type.getDimSize(axis);
  std::vector<int64_t> offsets = {0};
  for (unsigned axis : layout.getOuterAxes()) {
    if (axis == layout.getBlocks().front().axis)
      continue;
    std::vector<int64_t> longer;
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < type.getDimSize(axis); ++i)
        longer.push_back(offset + i * strides[axis]);
    offsets = std::move(longer);
  }
  return offsets;
}

/// Returns `value` rounded to the 11 significant bits of tf32, to nearest with
/// ties away from zero.
static float roundToTf32(float value) {
  llvm::APFloat rounded(value);
  bool losesInfo;
  rounded.convert(llvm::APFloat::FloatTF32(),
                  llvm::APFloat::rmNearestTiesToAway, &losesInfo);
  rounded.convert(llvm::APFloat::IEEEsingle(),
                  llvm::APFloat::rmNearestTiesToAway, &losesInfo);
  return rounded.convertToFloat();
}

namespace {
class Fragments : public WeightEncoding {
public:
  using WeightEncoding::WeightEncoding;

  LogicalResult verifyBlocks(LayoutAttr layout,
                             EmitError emitError) const override {
    SmallVector<LayoutAttr::Block> blocks = layout.getBlocks();
    if (blocks.size() == 1 && blocks.front().size == gemm_panel &&
        layout.getOuterAxes().front() == blocks.front().axis)
      return success();
    return emitError() << "needs one block, of " << gemm_panel
                       << " columns of the product, whose axis is outermost";
  }

  bool takes(Type element) const override {
    return element.isF32() || isHalf(element) || element.isSignlessInteger(8);
  }

  LogicalResult verify(LayoutAttr, ArrayRef<int64_t> shape, Type,
                       EmitError emitError) const override {
    if (llvm::isInt<31>(product(shape)))
      return success();
    return emitError() << "is for weights of less than 2^30 elements";
  }

  /// Returns a matrix type with one row for each panel.
  RankedTensorType getStoredType(RankedTensorType type) const override {
    const matmul_as_conv2d product = getProduct(type);
    const int bytes = getElementBytes(type.getElementType());
    int64_t shape[] = {gemm_panels(product), gemm_runs(product, bytes) *
                                                 int64_t(gemm_block_bytes) /
                                                 bytes};
    return RankedTensorType::get(shape, type.getElementType());
  }

  void encode(RankedTensorType type, ArrayRef<float> weight,
              MutableArrayRef<float> stored) const override {
    std::vector<int64_t> terms = getTermOffsets(type);
    unsigned columnAxis = getLayout(type).getBlocks().front().axis;
    int64_t columnStep = product(type.getShape().drop_front(columnAxis + 1));
    float *next = stored.data();
    visit_gemm_weights(getProduct(type), getElementBytes(type.getElementType()),
                       [&](int column, int term) {
                         *next++ =
                             column < 0
                                 ? 0.0f
                                 : weight[column * columnStep + terms[term]];
                       });
    if (type.getElementType().isF32())
      llvm::transform(stored, stored.begin(), roundToTf32);
  }
};
} // namespace

std::unique_ptr<WeightEncoding> nn::makeFragmentsEncoding(StringRef spelling) {
  if (spelling == "fragments")
    return std::make_unique<Fragments>(spelling);
  return nullptr;
}
