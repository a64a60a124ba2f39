//===- TestEquivalence.cpp - Tests that passes keep results ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A pass for tests: --nnc-test-equivalence="passes=nnc-simplify tolerance=1e-5"
// runs the passes on every function, or with `whole` on the module, evaluates
// functions before and after on the same random arguments, and fails if results
// differ by more than `tolerance` times the largest. Large constants of a
// single value are made random first, so that a test can say `dense<1.0> :
// tensor<64x3x3x3xf32>`.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc-opt/Tests.h"

#include "dialects/evaluate/Evaluate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/Format.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace nnc;

/// Returns a random tensor. Its elements are around `centre`, or if that is 0,
/// on both sides of it and large enough for activations to saturate.
static TensorData makeRandom(RankedTensorType type, double centre,
                             std::mt19937 &random) {
  double low = centre == 0 ? -4 : centre * 0.5;
  double high = centre == 0 ? 4 : centre * 1.5;
  std::uniform_real_distribution<double> reals(std::min(low, high),
                                               std::max(low, high));
  TensorData data = TensorData::allocate(type);
  Type element = type.getElementType();
  unsigned width = element.getIntOrFloatBitWidth();
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    if (element.isF32())
      data.getMutable<float>()[i] = static_cast<float>(reals(random));
    else if (element.isF64())
      data.getMutable<double>()[i] = reals(random);
    else if (width == 64) // indices of small tensors
      data.getMutable<int64_t>()[i] = random() % 3;
    else if (width == 32)
      data.getMutable<int32_t>()[i] = static_cast<int32_t>(random()) >> 8;
    else
      data.getMutable<char>()[i] = width == 1 ? random() % 2 : random();
  }
  return data;
}

static void randomizeConstants(func::FuncOp function, std::mt19937 &random) {
  function.walk([&](nn::ConstantOp constant) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    auto type = cast<RankedTensorType>(constant.getValue().getType());
    if (!dense || !dense.isSplat() || type.getNumElements() <= 16 ||
        !isa<FloatType>(type.getElementType()))
      return;
    double centre = dense.getSplatValue<APFloat>().convertToDouble();
    constant.setValueAttr(
        makeRandom(type, centre, random).toAttribute("random"));
  });
}

/// Returns the largest difference relative to the largest expected magnitude,
/// or infinity if the types or the positions of NaNs differ.
static double compare(const TensorData &expected, const TensorData &found) {
  if (expected.getType() != found.getType())
    return INFINITY;
  double largest = 1e-30, error = 0;
  for (int64_t i = 0; i < expected.getNumElements(); ++i) {
    double a = expected.getReal(i), b = found.getReal(i);
    if (std::isnan(a) != std::isnan(b))
      return INFINITY;
    if (std::isnan(a) || a == b)
      continue;
    largest = std::max(largest, std::abs(a));
    error = std::max(error, std::abs(a - b));
  }
  for (int64_t i = 0; i < expected.getNumElements(); ++i)
    if (std::isfinite(expected.getReal(i)))
      largest = std::max(largest, std::abs(expected.getReal(i)));
  return error / largest;
}

namespace {
struct TestEquivalencePass
    : PassWrapper<TestEquivalencePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestEquivalencePass)

  TestEquivalencePass() = default;
  TestEquivalencePass(const TestEquivalencePass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "nnc-test-equivalence"; }
  StringRef getDescription() const override {
    return "Run passes and check that the functions compute the same";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<nn::NnDialect, arith::ArithDialect>();
  }

  void runOnOperation() override {
    std::vector<Run> runs;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      Run run{function, {}, {}};
      std::mt19937 random(seed);
      randomizeConstants(function, random);
      for (Type type : function.getArgumentTypes())
        run.arguments.push_back(
            makeRandom(cast<RankedTensorType>(type), 0, random));
      if (failed(evaluateFunction(function, run.arguments, run.results)))
        return signalPassFailure();
      runs.push_back(std::move(run));
    }
    if (failed(runPasses()) || !llvm::all_of(runs, [&](const Run &run) {
          return succeeded(check(run));
        }))
      signalPassFailure();
  }

private:
  /// A function with random arguments, and its results for them.
  struct Run {
    func::FuncOp function;
    SmallVector<TensorData> arguments, results;
  };

  LogicalResult runPasses() {
    OpPassManager pipeline(whole ? ModuleOp::getOperationName()
                                 : func::FuncOp::getOperationName());
    if (failed(parsePassPipeline(passes, pipeline)))
      return failure();
    if (whole)
      return runPipeline(pipeline, getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(runPipeline(pipeline, function)))
        return failure();
    return success();
  }

  LogicalResult check(Run run) {
    SmallVector<TensorData> after;
    if (failed(evaluateFunction(run.function, run.arguments, after)))
      return failure();
    double error = 0;
    for (auto [expected, found] : llvm::zip(run.results, after))
      error = std::max(error, compare(expected, found));
    if (!(error <= tolerance))
      return run.function.emitError("computes something else after ")
             << passes << ": the error is " << error
             << " of the largest value, the tolerance " << tolerance;
    return success();
  }

  Option<std::string> passes{*this, "passes",
                             llvm::cl::desc("passes on func.func")};
  Option<bool> whole{*this, "whole", llvm::cl::init(false),
                     llvm::cl::desc("the passes are on builtin.module")};
  Option<double> tolerance{*this, "tolerance", llvm::cl::init(1e-5),
                           llvm::cl::desc("error relative to the largest")};
  Option<unsigned> seed{*this, "seed", llvm::cl::init(1),
                        llvm::cl::desc("of arguments and constants")};
};
} // namespace

void nnc::registerTestPasses() { PassRegistration<TestEquivalencePass>(); }
