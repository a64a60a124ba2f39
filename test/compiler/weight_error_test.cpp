//===- weight_error_test.cpp - What encodings change of weights -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/WeightError.h"

#include <catch2/catch.hpp>

#include <limits>

using namespace mlir;
using namespace nnc;

namespace {
/// A constant matrix of floats.
struct Weight {
  Weight(int64_t rows, int64_t columns) : values(rows * columns) {
    context.loadDialect<nn::NnDialect>();
    type = RankedTensorType::get({rows, columns}, Float32Type::get(&context));
  }

  /// Returns the error of the matrix in a layout. If it is not known to be
  /// constant, its values are left out.
  std::optional<double> getError(StringRef layout, bool isKnown = true) {
    RankedTensorType stored = nn::withLayout(type, layout);
    if (!isKnown) {
      Block block;
      return getWeightError(block.addArgument(type, UnknownLoc::get(&context)),
                            stored);
    }
    OpBuilder builder(&context);
    auto constant = builder.create<nn::ConstantOp>(
        builder.getUnknownLoc(), type,
        DenseElementsAttr::get(type, ArrayRef<float>(values)));
    std::optional<double> error = getWeightError(constant, stored);
    constant->erase();
    return error;
  }

  MLIRContext context;
  RankedTensorType type;
  std::vector<float> values;
};
} // namespace

TEST_CASE("weights in a codebook are the model's, or do not fit") {
  Weight weight(40, 37);
  // The panels that begin with columns 0, 16 and 32 have 16 values each.
  for (size_t i = 0; i < weight.values.size(); ++i)
    weight.values[i] = static_cast<float>(i % 37 / 16 * 100 + i / 37 % 16);
  CHECK(weight.getError("NK16n_codebook16") == 0.0);
  // Without an encoding any value fits.
  weight.values[37 * 20 + 17] = 0.5f;
  CHECK(weight.getError("NK16n") == 0.0);
  CHECK(weight.getError("NK4n_codebook16").value() ==
        std::numeric_limits<double>::infinity());
  CHECK(weight.getError("NK16n_codebook16").value() ==
        std::numeric_limits<double>::infinity());
}

TEST_CASE("the error of weights whose values are not known") {
  Weight weight(32, 32);
  CHECK(!weight.getError("NK16n_codebook16", /*isKnown=*/false));
  CHECK(weight.getError("NK16n", /*isKnown=*/false) == 0.0);
}
