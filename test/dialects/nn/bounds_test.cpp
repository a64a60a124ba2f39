//===- bounds_test.cpp - Shape inference with bounds ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Nn.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace nnc::nn;

/// The bounds of the one op of `text` for those of its operands.
static std::optional<ShapeBound> infer(llvm::StringRef text,
                                       ArrayRef<ShapeBound> operands) {
  MLIRContext context;
  context.loadDialect<NnDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(module);
  SmallVector<ShapeBound> results;
  auto function = *module->getOps<func::FuncOp>().begin();
  if (failed(inferShapeBounds(&function.front().front(), operands, results)))
    return std::nullopt;
  return results.front();
}

static std::vector<std::pair<int64_t, int64_t>> list(const ShapeBound &bound) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (DimBound dim : bound)
    pairs.push_back({dim.min, dim.max});
  return pairs;
}

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

TEST_CASE("a convolution's width is bound by its input's") {
  auto bound = infer(R"(
    func.func @f(%x: tensor<1x3x48x320xf32>, %w: tensor<16x3x3x3xf32>) {
      %0 = nn.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
        pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64}
        : (tensor<1x3x48x320xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x24x160xf32>
      return
    })",
                     {{{1, 4}, {3, 3}, {48, 48}, {32, 640}},
                      {{16, 16}, {3, 3}, {3, 3}, {3, 3}}});
  REQUIRE(bound);
  CHECK(list(*bound) == Pairs{{1, 4}, {16, 16}, {24, 24}, {16, 320}});
}

TEST_CASE("broadcasting takes the larger bound") {
  auto bound = infer(R"(
    func.func @f(%x: tensor<4x5xf32>, %y: tensor<5xf32>) {
      %0 = nn.add %x, %y : tensor<4x5xf32>, tensor<5xf32>
      return
    })",
                     {{{1, 9}, {2, 7}}, {{2, 7}}});
  REQUIRE(bound);
  CHECK(list(*bound) == Pairs{{1, 9}, {2, 7}});
}

TEST_CASE("concatenation adds bounds") {
  auto bound = infer(R"(
    func.func @f(%x: tensor<4x5xf32>, %y: tensor<4x5xf32>) {
      %0 = nn.concat %x, %y {axis = 1 : i64}
        : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x10xf32>
      return
    })",
                     {{{4, 4}, {2, 7}}, {{4, 4}, {0, 3}}});
  REQUIRE(bound);
  CHECK(list(*bound) == Pairs{{4, 4}, {2, 10}});
}

TEST_CASE("a reshape's bounds do not follow from its operand's") {
  CHECK_FALSE(infer(R"(
    func.func @f(%x: tensor<4x5xf32>) {
      %0 = nn.reshape %x : tensor<4x5xf32> -> tensor<20xf32>
      return
    })",
                    {{{1, 4}, {5, 5}}}));
}
