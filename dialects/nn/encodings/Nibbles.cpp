//===- Nibbles.cpp - Matrices of integers of 4 bits -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// `int4` stores a matrix of bytes with values from 0 to 15 in 4 bits each. A
// panel consists of 32 columns of the product, in words of 8 consecutive
// weights of a column; panels are stored one after the other. A `64x4096` as
// `NK32n_int4` (the letters name the product's axes) takes 2 panels of 65536
// bytes. runtime/routines/stored_weights/block_matmul/plan.h defines the
// position of each weight.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/encodings/PanelMatrix.h"
#include "dialects/nn/encodings/WeightEncoding.h"
#include "runtime/routines/stored_weights/block_matmul/plan.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

namespace {
class Nibbles : public WeightEncoding {
  using words = block_words<4>;

public:
  using WeightEncoding::WeightEncoding;

  LogicalResult verifyBlocks(LayoutAttr layout,
                             EmitError emitError) const override {
    auto blocks = layout.getBlocks();
    if (layout.getRank() != 2 || blocks.size() != 1 ||
        blocks.front().size != words::columns)
      return emitError() << "holds integers of 4 bits, which only a matrix may "
                            "be, in one block of "
                         << words::columns << " columns of the result";
    return success();
  }

  bool takes(Type element) const override {
    return element.isUnsignedInteger(8);
  }

  LogicalResult verify(LayoutAttr, ArrayRef<int64_t>, Type,
                       EmitError) const override {
    return success();
  }

  /// Returns a matrix type with one row for each panel. The row has the size of
  /// the panel, in bytes.
  RankedTensorType getStoredType(RankedTensorType type) const override {
    PanelMatrix matrix(type);
    int64_t panels = llvm::divideCeil(matrix.columns, words::columns);
    return RankedTensorType::get({panels, words::panel(matrix.rows)},
                                 type.getElementType());
  }

  void encode(RankedTensorType type, ArrayRef<float> weight,
              MutableArrayRef<float> stored) const override {
    PanelMatrix matrix(type);
    std::fill(stored.begin(), stored.end(), 0.0f);
    for (int64_t column = 0; column < matrix.columns; ++column) {
      float *panel = stored.data() +
                     column / words::columns * words::panel(matrix.rows) +
                     column % words::columns * 4;
      const float *w = weight.data() + column * matrix.columnStep;
      for (int64_t i = 0; i < matrix.rows; ++i, w += matrix.rowStep) {
        int64_t word = i / words::weights, place = i % words::weights;
        float unit = place % 2 ? 16 : 1; // the first is in the lower half
        panel[word * words::columns * 4 + place / 2] += unit * *w;
      }
    }
  }
};
} // namespace

std::unique_ptr<WeightEncoding> nn::makeNibblesEncoding(StringRef spelling) {
  if (spelling == "int4")
    return std::make_unique<Nibbles>(spelling);
  return nullptr;
}
