//===- SignedPairs.cpp - 8-bit weights for smull and sadalp of AArch64 ----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// `signed_pairs` stores signed bytes in the order in which
// runtime/simd/signed_pairs.h multiplies them, for blocks of 4 filters, or
// columns of a matrix, and of 4 channels. The 16 bytes of both blocks, at one
// tap, are channels 0 and 1 of each filter, then channels 2 and 3 of each. The
// products of channels i and i + 2 are added in 16 bits, where they fit unless
// both weights are -128: the error of weights with such a pair is infinite, so
// that other routines are chosen for them. A `64x64x1x1` as
// `KCRS4k4c_signed_pairs` is 16 blocks of 256 bytes.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/encodings/WeightEncoding.h"

#include <limits>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

namespace {
/// The shape of a weight: columns (filters), rows (channels) and taps, with the
/// distances of their elements.
struct Columns {
  explicit Columns(RankedTensorType type) {
    LayoutAttr::Block block = getLayout(type).getBlocks().front();
    const int64_t rowAxis = 1 - block.axis;
    columns = type.getDimSize(block.axis);
    rows = type.getDimSize(rowAxis);
    taps = product(type.getShape().drop_front(2));
    columnStep = block.axis == 0 ? rows * taps : taps;
    rowStep = block.axis == 0 ? taps : columns * taps;
    blocks = llvm::divideCeil(columns, 4);
    groups = llvm::divideCeil(rows, 4);
  }

  int64_t getBlockBytes() const { return groups * taps * 16; }

  /// Calls f(position, element) for each element of the weight, with its
  /// position among the stored bytes.
  template <class F> void forEach(F f) const {
    for (int64_t k = 0; k < columns; ++k)
      for (int64_t c = 0; c < rows; ++c)
        for (int64_t tap = 0; tap < taps; ++tap)
          f((k / 4) * getBlockBytes() + (c / 4 * taps + tap) * 16 +
                c % 4 / 2 * 8 + k % 4 * 2 + c % 2,
            k * columnStep + c * rowStep + tap);
  }

  int64_t columns, rows, taps, columnStep, rowStep;
  int64_t blocks, groups; ///< blocks of columns, and of rows
};

class SignedPairs : public WeightEncoding {
public:
  using WeightEncoding::WeightEncoding;

  LogicalResult verifyBlocks(LayoutAttr layout,
                             EmitError emitError) const override {
    SmallVector<LayoutAttr::Block> blocks = layout.getBlocks();
    SmallVector<unsigned> axes = layout.getOuterAxes();
    if (blocks.size() == 2 && blocks[0].axis + blocks[1].axis == 1 &&
        blocks[0].size == 4 && blocks[1].size == 4 &&
        axes[0] == blocks[0].axis && axes[1] == blocks[1].axis)
      return success();
    return emitError() << "needs the axes in the order of filters, channels "
                          "and taps, and blocks of 4 filters and 4 channels";
  }

  bool takes(Type element) const override {
    return element.isSignlessInteger(8);
  }

  LogicalResult verify(LayoutAttr, ArrayRef<int64_t>, Type,
                       EmitError) const override {
    return success();
  }

  /// Returns a matrix type with one row for each block of columns.
  RankedTensorType getStoredType(RankedTensorType type) const override {
    Columns shape(type);
    return RankedTensorType::get({shape.blocks, shape.getBlockBytes()},
                                 type.getElementType());
  }

  void encode(RankedTensorType type, ArrayRef<float> weight,
              MutableArrayRef<float> stored) const override {
    std::fill(stored.begin(), stored.end(), 0.0f);
    Columns(type).forEach(
        [&](int64_t at, int64_t element) { stored[at] = weight[element]; });
  }

  double getError(RankedTensorType type,
                  const TensorData &weight) const override {
    ArrayRef<int8_t> values = weight.getAs<int8_t>();
    const Columns shape(type);
    bool fits = true;
    for (int64_t k = 0; k < shape.columns; ++k)
      for (int64_t c = 0; c < shape.rows; ++c)
        for (int64_t tap = 0; tap < shape.taps; ++tap)
          if (c % 4 < 2 && c + 2 < shape.rows) {
            const int64_t at = k * shape.columnStep + c * shape.rowStep + tap;
            fits = fits && (values[at] != -128 ||
                            values[at + 2 * shape.rowStep] != -128);
          }
    return fits ? 0 : std::numeric_limits<double>::infinity();
  }

  bool needsValues() const override { return true; }
};
} // namespace

std::unique_ptr<WeightEncoding>
nn::makeSignedPairsEncoding(StringRef spelling) {
  if (spelling != "signed_pairs")
    return nullptr;
  return std::make_unique<SignedPairs>(spelling);
}
