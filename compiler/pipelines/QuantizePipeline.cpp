//===- QuantizePipeline.cpp - From a float module to a quantized one ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/pipelines/QuantizePipeline.h"

#include "compiler/passes/Passes.h"

using namespace mlir;

void nnc::buildObservedPipeline(OpPassManager &manager) {
  OpPassManager &function = manager.nest<func::FuncOp>();
  function.addPass(createSimplify());
  // Computing the matrix products of attention with integers saves more time
  // than fusing them.
  RecomposeOptions recompose;
  recompose.attention = false;
  function.addPass(createRecompose(recompose));
  // Recomposition leaves behind unused values and equal values.
  function.addPass(createSimplify());
}

void nnc::buildQuantizePipeline(OpPassManager &manager,
                                const std::vector<std::string> &ranges,
                                const ModuleQuantization &options) {
  CalibrateOptions calibrate;
  calibrate.ranges = ranges;
  manager.addPass(createCalibrate(calibrate));
  QuantizeOptions quantize;
  quantize.perChannel = options.perChannel;
  quantize.reduceRange = options.reduceRange;
  quantize.isUnsigned = options.isUnsigned;
  quantize.unrounded = options.unrounded;
  quantize.exclude = options.exclude;
  manager.addPass(createQuantize(quantize));
}
