//===- Codebook.cpp - Matrices with few distinct values -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// `codebook16` stores a matrix of floats as indices in tables of 16 values. The
// columns of one block form a panel, and each panel has its own table. Panels
// are stored one after the other. A `4096x4096` as `NK16n_codebook16` takes 256
// panels of 32832 bytes, an eighth of the size of `NK16n`. The encoding is for
// weights that share values, as nnc compress or training creates them. It is
// lossless: a panel with more than 16 distinct values cannot be stored.
// runtime/routines/matrix/matmul/codebook_plan.h defines the position of each
// byte.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/encodings/PanelMatrix.h"
#include "dialects/nn/encodings/WeightEncoding.h"
#include "runtime/routines/matrix/matmul/codebook_plan.h"

#include <cstring>
#include <limits>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

namespace {
/// The set of distinct values of a panel. Values are compared by their bits, so
/// that equal NaNs are one value and zeros of both signs are two.
class Values {
public:
  /// Returns the index of a value, which is added if it is new; nullopt if the
  /// table is full.
  std::optional<unsigned> add(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    for (unsigned at = 0; at < count; ++at)
      if (known[at] == bits)
        return at;
    if (count == codebook16::values)
      return std::nullopt;
    known[count] = bits;
    return count++;
  }
  const uint32_t *getBits() const { return known; }

private:
  uint32_t known[codebook16::values] = {};
  unsigned count = 0;
};

class Codebook : public WeightEncoding {
public:
  using WeightEncoding::WeightEncoding;

  LogicalResult verifyBlocks(LayoutAttr layout,
                             EmitError emitError) const override {
    if (layout.getRank() != 2)
      return emitError() << "has tables of values, which only a matrix may "
                            "have";
    if (layout.getBlocks().size() != 1)
      return emitError() << "needs one block, of the columns of the result";
    return success();
  }

  bool takes(Type element) const override { return element.isF32(); }

  StringRef getKind() const override { return "codebook"; }

  LogicalResult verify(LayoutAttr layout, ArrayRef<int64_t>, Type,
                       EmitError emitError) const override {
    if (layout.getBlocks().front().size % 4 == 0)
      return success();
    return emitError() << "needs blocks of a multiple of 4";
  }

  /// Returns a matrix type with one row for each panel. The row has the size of
  /// the panel, in floats.
  RankedTensorType getStoredType(RankedTensorType type) const override {
    Matrix matrix(type);
    int64_t panels = llvm::divideCeil(matrix.columns, matrix.width);
    return RankedTensorType::get(
        {panels, matrix.getPanel() / int64_t(sizeof(float))},
        type.getElementType());
  }

  void encode(RankedTensorType type, ArrayRef<float> weight,
              MutableArrayRef<float> stored) const override {
    Matrix matrix(type);
    std::fill(stored.begin(), stored.end(), 0.0f);
    auto *panel = reinterpret_cast<unsigned char *>(stored.data());
    for (int64_t first = 0; first < matrix.columns;
         first += matrix.width, panel += matrix.getPanel()) {
      Values values;
      matrix.visit(first, weight, [&](int64_t row, int64_t lane, float value) {
        // Routine selection chooses this encoding only if all values fit. A
        // layer whose routine was set explicitly may have more values, which
        // are replaced by the first one.
        unsigned at = values.add(value).value_or(0);
        panel[codebook16::codes(row & ~1, matrix.width) + lane] |=
            at << (row % 2 ? 4 : 0);
        return true;
      });
      std::memcpy(panel, values.getBits(), codebook16::table);
    }
  }

  double getError(RankedTensorType type,
                  const TensorData &weight) const override {
    Matrix matrix(type);
    for (int64_t first = 0; first < matrix.columns; first += matrix.width) {
      Values values;
      if (!matrix.visit(first, weight.getAs<float>(),
                        [&](int64_t, int64_t, float value) {
                          return values.add(value).has_value();
                        }))
        return std::numeric_limits<double>::infinity();
    }
    return 0;
  }

private:
  struct Matrix : PanelMatrix {
    using PanelMatrix::PanelMatrix;

    int64_t getPanel() const { return codebook16::panel(rows, width); }

    /// Calls untilFalse(row, lane, value) with each weight of the panel whose
    /// first column is `first`. Returns whether all calls returned true.
    template <class F>
    bool visit(int64_t first, ArrayRef<float> weight, F untilFalse) const {
      int64_t lanes = std::min(width, columns - first);
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t lane = 0; lane < lanes; ++lane)
          if (!untilFalse(row, lane,
                          weight[(first + lane) * columnStep + row * rowStep]))
            return false;
      return true;
    }
  };
};
} // namespace

std::unique_ptr<WeightEncoding> nn::makeCodebookEncoding(StringRef spelling) {
  if (spelling == "codebook16")
    return std::make_unique<Codebook>(spelling);
  return nullptr;
}
