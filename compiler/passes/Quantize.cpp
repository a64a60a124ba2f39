//===- Quantize.cpp - Layers of floats become layers of integers ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "compiler/quantize/Insert.h"
#include "dialects/qnn/Qnn.h"
#include "dialects/qnn/Ranges.h"

namespace nnc {
#define GEN_PASS_DEF_QUANTIZE
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;

namespace {
struct QuantizePass : nnc::impl::QuantizeBase<QuantizePass> {
  using QuantizeBase::QuantizeBase;
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    quantize::PlanOptions options;
    options.unrounded = unrounded;
    for (const std::string &name : exclude)
      options.exclude.insert(name);
    quantize::Plan plan = quantize::planByRanges(main, options);
    auto storage = isUnsigned ? quantize::Storage::u8 : quantize::Storage::s8;
    auto scales = quantize::assignScales(plan, storage);
    // Ranges are removed before the plan erases ops that carry them.
    qnn::dropRanges(main);
    quantize::insertQuantizations(plan, scales, {perChannel, reduceRange});
  }
};
} // namespace
