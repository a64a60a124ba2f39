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

def FormLayers : Pass<"nnc-form-layers", "::mlir::func::FuncOp"> {
  let summary = "Wrap every op in a layer: an anchor with its elementwise epilogue";
  let description = [{
    Afterwards a function holds nn.constant, nn.layer, nn.reshape and return.

    An anchor (convolution, pool, product) takes the elementwise ops behind it
    as its epilogue, as far as all that leaves the group is one value of the
    anchor's shape. Other operands of those ops become extras: full tensors, one
    value a channel, or one value. Of two anchors whose results meet in one op,
    the later takes it. What no anchor takes becomes layers of elementwise ops
    alone. Constants with one value become literals.

    ```mlir
    %0 = nn.conv %x, %w {...} : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
    %1 = nn.add %0, %b : tensor<1x8x4x4xf32>, tensor<1x8x1x1xf32>
    %2 = nn.relu %1 : tensor<1x8x4x4xf32>
    ==>
    %2 = nn.layer "conv1" inputs(%x, %w : ...) extras(%b : tensor<1x8x1x1xf32>) -> tensor<1x8x4x4xf32>
    anchor {...nn.conv...} epilogue {
    ^bb0(%e: f32, %eb: f32):
      %3 = nn.add %e, %eb : f32, f32
      %4 = nn.relu %3 : f32
      nn.yield %4 : f32
    }
    ```
  }];
  let dependentDialects = ["::nnc::nn::NnDialect", "::mlir::arith::ArithDialect"];
}

#endif // NNC_COMPILER_PASSES
