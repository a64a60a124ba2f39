//===- Bounded.cpp - 8-bit weights whose sums fit in 16 bits --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// `bounded2` and `bounded4` store signed bytes so that sums of two or four
// products with unsigned bytes do not overflow in 16 bits, where vpmaddubsw of
// x86 saturates. Each block of
// filters, or of columns of a matrix, is stored as
// runtime/routines/tiles/bounded_weights.h defines. Few weights may exceed the
// bounds; the error of all others is infinite, so that no routine that
// saturates is chosen for them. A `64x64x1x1` as `KCRS8k8c_bounded4` is
// 8 blocks of 704 bytes.
//
// `ordered2` is bounded2 for channels that are copied in the orders that stand
// in front of the blocks (runtime/routines/tiles/ordered_weights.h). With them,
// few weights of a network exceed the bound.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/encodings/WeightEncoding.h"
#include "runtime/routines/tiles/ordered_weights.h"

#include <limits>
#include <vector>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

namespace {
/// The shape of a weight: columns (filters), rows (channels) and taps, with the
/// distances of their elements.
struct BoundedShape {
  BoundedShape(RankedTensorType type, int sum) {
    LayoutAttr::Block block = getLayout(type).getBlocks().front();
    const int64_t rowAxis = 1 - block.axis;
    columns = type.getDimSize(block.axis);
    rows = type.getDimSize(rowAxis);
    taps = product(type.getShape().drop_front(2));
    columnStep = block.axis == 0 ? rows * taps : taps;
    rowStep = block.axis == 0 ? taps : columns * taps;
    // A convolution over one axis has filters of one row.
    const int kw = type.getRank() > 2 ? type.getShape().back() : 1;
    stored = {static_cast<int>(block.size),
              static_cast<int>(llvm::divideCeil(rows, 8)),
              static_cast<int>(taps) / kw, kw, sum};
    blocks = llvm::divideCeil(columns, block.size);
  }

  /// Returns the weight of column k and row c for a tap, which is 0 behind the
  /// last column and the last row.
  template <class Read>
  int read(int64_t k, int64_t c, int r, int s, Read read) const {
    if (k >= columns || c >= rows)
      return 0;
    return static_cast<int>(
        read(k * columnStep + c * rowStep + r * stored.kw + s));
  }

  /// Calls put(position, byte) for the bytes of all blocks. read(element)
  /// returns an element of the weight. Returns false if a block does not fit.
  template <class Read, class Put> bool store(Read read, Put put) const {
    for (int64_t block = 0; block < blocks; ++block) {
      auto weight = [&](int column, int64_t c, int r, int s) {
        return this->read(block * stored.width + column, c, r, s, read);
      };
      if (!stored.store(weight, [&](int64_t at, int byte) {
            put(block * stored.bytes() + at, byte);
          }))
        return false;
    }
    return true;
  }

  int64_t columns, rows, taps, columnStep, rowStep, blocks;
  bounded_weights stored;
};

/// The stored form of bounded2 and bounded4: a matrix with a row for each
/// block.
class Bounded : public WeightEncoding {
public:
  Bounded(StringRef spelling, int sum) : WeightEncoding(spelling), sum(sum) {}

  LogicalResult verifyBlocks(LayoutAttr layout,
                             EmitError emitError) const override {
    SmallVector<LayoutAttr::Block> blocks = layout.getBlocks();
    SmallVector<unsigned> axes = layout.getOuterAxes();
    if (blocks.size() == 2 && blocks[0].axis + blocks[1].axis == 1 &&
        blocks[1].size == 8 &&
        blocks[0].size <= bounded_weights::most_columns &&
        axes[0] == blocks[0].axis && axes[1] == blocks[1].axis)
      return success();
    return emitError() << "needs the axes in the order of filters, channels "
                          "and taps, and blocks of filters and 8 channels";
  }

  bool takes(Type element) const override {
    return element.isSignlessInteger(8);
  }

  LogicalResult verify(LayoutAttr, ArrayRef<int64_t> shape, Type,
                       EmitError emitError) const override {
    if (llvm::isInt<28>(product(shape)) && shape[0] < 131072 &&
        shape[1] < 131072 &&
        llvm::all_of(shape.drop_front(2), [](int64_t n) { return n < 256; }))
      return success();
    return emitError() << "is for less than 2^17 filters and channels, filters "
                          "of less than 256 rows and columns, and 2^27 "
                          "elements";
  }

  /// Returns a matrix type with one row for each block.
  RankedTensorType getStoredType(RankedTensorType type) const override {
    BoundedShape shape(type, sum);
    return RankedTensorType::get({shape.blocks, shape.stored.bytes()},
                                 type.getElementType());
  }

  void encode(RankedTensorType type, ArrayRef<float> weight,
              MutableArrayRef<float> stored) const override {
    std::fill(stored.begin(), stored.end(), 0.0f);
    BoundedShape(type, sum).store(
        [&](int64_t i) { return weight[i]; },
        [&](int64_t at, int byte) { stored[at] = byte; });
  }

  double getError(RankedTensorType type,
                  const TensorData &weight) const override {
    ArrayRef<int8_t> values = weight.getAs<int8_t>();
    bool fits = BoundedShape(type, sum).store(
        [&](int64_t i) { return values[i]; }, [](int64_t, int) {});
    return fits ? 0 : std::numeric_limits<double>::infinity();
  }

  bool needsValues() const override { return true; }

private:
  int sum;
};

/// The stored form of ordered2: one row of bytes.
class Ordered : public Bounded {
public:
  explicit Ordered(StringRef spelling) : Bounded(spelling, 2) {}

  RankedTensorType getStoredType(RankedTensorType type) const override {
    return RankedTensorType::get({1, getForm(type).bytes()},
                                 type.getElementType());
  }

  void encode(RankedTensorType type, ArrayRef<float> weight,
              MutableArrayRef<float> stored) const override {
    std::vector<int8_t> bytes;
    store(type, weight, bytes);
    llvm::copy(bytes, stored.begin());
  }

  double getError(RankedTensorType type,
                  const TensorData &weight) const override {
    std::vector<int8_t> bytes;
    return store(type, weight.getAs<int8_t>(), bytes)
               ? 0
               : std::numeric_limits<double>::infinity();
  }

  /// The blocks of a run share an order.
  int64_t getIndependentRows(RankedTensorType type) const override {
    return type.getDimSize(0);
  }

private:
  static ordered_weights getForm(RankedTensorType type) {
    BoundedShape shape(type, 2);
    ordered_weights form{shape.stored, static_cast<int>(shape.blocks)};
    form.form.ordered = true;
    return form;
  }

  template <class T>
  static bool store(RankedTensorType type, ArrayRef<T> weight,
                    std::vector<int8_t> &bytes) {
    BoundedShape shape(type, 2);
    bytes.assign(getForm(type).bytes(), 0);
    return getForm(type).store(
        [&](int64_t column, int64_t channel, int r, int s) {
          return shape.read(column, channel, r, s,
                            [&](int64_t i) { return weight[i]; });
        },
        bytes.data());
  }
};
} // namespace

std::unique_ptr<WeightEncoding> nn::makeBoundedEncoding(StringRef spelling) {
  if (spelling == "ordered2")
    return std::make_unique<Ordered>(spelling);
  for (int sum : {2, 4})
    if (spelling == "bounded" + std::to_string(sum))
      return std::make_unique<Bounded>(spelling, sum);
  return nullptr;
}
