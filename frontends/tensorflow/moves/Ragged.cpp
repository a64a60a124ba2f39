//===- Ragged.cpp - Rows of different lengths as one tensor ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

/// Returns where rows begin, and behind them where the last one ends, of
/// `values` values; nullopt after an error.
static std::optional<Sizes> readRows(Layer &layer, int64_t values) {
  SmallVector<StringRef> types = layer.getTexts("row_partition_types");
  auto known = [&](size_t i) {
    return layer.readInts(layer.getInput(i), "the lengths of rows");
  };
  auto fail = [&]() -> std::optional<Sizes> {
    layer.broken("has lengths of rows that do not fit " + Twine(values) +
                 " values");
    return std::nullopt;
  };
  Sizes starts;
  if (types.size() == 1 && types[0] == "ROW_SPLITS") {
    auto splits = known(3);
    if (!splits)
      return std::nullopt;
    starts.assign(splits->begin(), splits->end());
  } else if (types.size() == 2 && types[0] == "FIRST_DIM_SIZE" &&
             types[1] == "VALUE_ROWIDS" && layer.getNumInputs() > 4) {
    auto rows = known(3), ids = known(4);
    if (!rows || !ids)
      return std::nullopt;
    if (rows->size() != 1 || (*rows)[0] < 0 || (*rows)[0] > kMaxDim ||
        !llvm::is_sorted(*ids) ||
        (!ids->empty() && (ids->front() < 0 || ids->back() >= (*rows)[0])))
      return fail();
    for (int64_t row = 0; row <= (*rows)[0]; ++row)
      starts.push_back(llvm::lower_bound(*ids, row) - ids->begin());
  } else {
    layer.unsupported("has more than one axis of different lengths, which nnc "
                      "does not handle");
    return std::nullopt;
  }
  if (starts.empty() || starts.front() != 0 || !llvm::is_sorted(starts) ||
      starts.back() != values)
    return fail();
  return starts;
}

/// Converts RaggedTensorToTensor: rows of values whose lengths are known when
/// compiling, filled up with a default.
Value convertRaggedToTensor(Layer &layer) {
  Value values = layer.getInput(1), filling = layer.getInput(2);
  auto wanted = layer.readInts(layer.getInput(0), "a shape");
  if (!values || !filling || !wanted)
    return {};
  if (getRank(values) < 1)
    return layer.broken("needs a list of values");
  int64_t count = getShape(values)[0];
  auto starts = readRows(layer, count);
  if (!starts)
    return {};
  int64_t rows = int64_t(starts->size()) - 1, width = 0;
  for (int64_t row = 0; row < rows; ++row)
    width = std::max(width, (*starts)[row + 1] - (*starts)[row]);
  int64_t height = rows;
  // The shape may be of unknown rank, which is -1.
  if (wanted->size() > 1) {
    height = (*wanted)[0] >= 0 ? (*wanted)[0] : height;
    width = (*wanted)[1] >= 0 ? (*wanted)[1] : width;
  }
  if (height > kMaxDim || width > kMaxDim || height * width > 1 << 24)
    return layer.fail(ImportStatus::limit,
                      "makes a tensor of shape " + Twine(height) + "x" +
                          Twine(width) + "; nnc handles 16777216 elements");
  if (height * width == 0)
    return layer.unsupported("makes a tensor without elements");
  Sizes places;
  for (int64_t row = 0; row < height; ++row)
    for (int64_t i = 0; i < width; ++i) {
      bool isIn = row < rows && i < (*starts)[row + 1] - (*starts)[row];
      places.push_back(isIn ? (*starts)[row] + i : count);
    }
  Sizes one(getShape(values));
  one[0] = 1;
  Value padded = join(layer, {values, layer.expand(filling, one)}, 0);
  return layer.create<nn::GatherOp>(
      padded, layer.reshape(layer.constant(places), {height, width}),
      int64_t(0));
}

} // namespace nnc::tensorflow
