//===- Passes.td - The compiler's passes --------------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// One pass, one file, one flag, one test, one name, in the order in which
// Pipeline.cpp runs them.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PASSES
#define NNC_COMPILER_PASSES

include "mlir/Pass/PassBase.td"

def Simplify : Pass<"nnc-simplify", "::mlir::func::FuncOp"> {
  let summary = "Canonicalise, fold constants, drop dead code";
  let description = [{
    Runs the ops' own folders and canonicalisation patterns to a fixed point.
  }];
  let dependentDialects = ["::nnc::nn::NnDialect"];
}

#endif // NNC_COMPILER_PASSES
