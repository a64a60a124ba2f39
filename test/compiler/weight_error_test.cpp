//===- weight_error_test.cpp - What rounding weights costs ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/WeightError.h"

#include "dialects/nn/encodings/WeightEncoding.h"
#include "runtime/routines/matrix/matmul/integers_plan.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
using namespace nnc;

namespace {
/// A constant matrix whose weights become integers.
class Weight {
public:
  Weight(int64_t rows, int64_t columns, const std::string &layout)
      : rows(rows), columns(columns), values(rows * columns) {
    context.loadDialect<nn::NnDialect>();
    type = nn::withLayout(
        RankedTensorType::get({rows, columns}, Float32Type::get(&context)),
        layout);
  }

  double estimate() {
    auto elements = DenseElementsAttr::get(nn::getLogicalType(type),
                                           llvm::ArrayRef<float>(values));
    OpBuilder builder(&context);
    auto constant = builder.create<nn::ConstantOp>(
        builder.getUnknownLoc(), elements.getType(), elements);
    std::optional<double> error = getWeightError(constant, type);
    constant->erase();
    REQUIRE(error);
    return *error;
  }

  /// Of what is written of it. `filters` is the axis in panels of 16.
  double measure(unsigned filters) {
    std::vector<char> packed(nn::getPhysicalBytes(type));
    ArrayRef<char> elements(reinterpret_cast<const char *>(values.data()),
                            values.size() * sizeof(float));
    nn::storeWeight(type, TensorData::borrow(type, elements), packed.data());
    auto *bytes = reinterpret_cast<const unsigned char *>(packed.data());
    int64_t terms = filters == 0 ? columns : rows;
    int64_t panels = llvm::divideCeil(filters == 0 ? rows : columns, 16);
    auto panel = [](int64_t k) { return integers::panel(k, 16); };
    REQUIRE(static_cast<int64_t>(packed.size()) == panels * panel(terms));
    double lost = 0, all = 0;
    for (int64_t i = 0; i < rows * columns; ++i) {
      int64_t filter = filters == 0 ? i / columns : i % columns;
      int64_t term = filters == 0 ? i % columns : i / columns;
      int64_t first = term / integers_group * integers_group;
      int64_t count = std::min<int64_t>(integers_group, terms - first);
      const unsigned char *group =
          bytes + filter / 16 * panel(terms) + panel(first);
      auto scales = group + panel(count) - 4 * 16;
      float scale;
      std::memcpy(&scale, scales + 4 * (filter % 16), 4);
      double written = double(scale) * read(group, term - first, filter % 16);
      lost += std::pow(values[i] - written, 2);
      all += std::pow(values[i], 2);
    }
    return std::sqrt(lost / all);
  }

  /// What stands for a weight, times 256.
  static int32_t read(const unsigned char *group, int64_t k, int64_t lane) {
    const unsigned char *at = group + 3 * (k * 16 + lane);
    return static_cast<int32_t>(uint32_t(at[0]) << 8 | uint32_t(at[1]) << 16 |
                                uint32_t(at[2]) << 24);
  }

  void fill(float deviation) {
    std::mt19937 random(7);
    std::normal_distribution<float> weight(0, deviation);
    for (float &value : values)
      value = weight(random);
  }

  MLIRContext context;
  int64_t rows, columns;
  RankedTensorType type;
  std::vector<float> values;
};
} // namespace

TEST_CASE("the estimate is what is lost of what is written") {
  Weight inColumns(1300, 37, "NK16n_int24");
  inColumns.fill(0.02f);
  double error = inColumns.estimate();
  CHECK(error == Approx(inColumns.measure(1)).epsilon(0.02));
  // As much as the table expects of such weights.
  CHECK(error == Approx(integers::error).epsilon(0.1));

  Weight inRows(37, 1301, "AB16a_int24");
  inRows.fill(0.02f);
  CHECK(inRows.estimate() == Approx(inRows.measure(0)).epsilon(0.02));

  // One large weight leaves the others of its group fewer bits.
  inColumns.values[37 * 600 + 3] = 20;
  CHECK(inColumns.estimate() == Approx(inColumns.measure(1)).epsilon(0.05));
  inColumns.values[37 * 600 + 3] = 0.02f;
  for (int64_t column = 0; column < 37; ++column)
    inColumns.values[37 * 600 + column] = column % 2 ? 2 : -2;
  double outliers = inColumns.estimate();
  CHECK(outliers == Approx(inColumns.measure(1)).epsilon(0.05));
  CHECK(outliers > 2 * error);
}

TEST_CASE("weights that integers cannot stand for") {
  Weight weight(520, 16, "NK16n_int24");
  CHECK(weight.estimate() == 0); // all zeros
  weight.fill(1e-35f);
  CHECK(weight.estimate() == Approx(1));
  CHECK(weight.measure(1) == Approx(1));
  weight.fill(1);
  weight.values[100] = std::numeric_limits<float>::infinity();
  CHECK(std::isinf(weight.estimate()));
  weight.values[100] = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isinf(weight.estimate()));
}
