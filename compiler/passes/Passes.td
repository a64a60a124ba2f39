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

def QnnCanonicalize : Pass<"nnc-qnn-canonicalize", "::mlir::func::FuncOp"> {
  let summary = "Quantized ops become nn ops on integers and floats";
  let description = [{
    Each op of `qnn` says what it computes, bit for bit as its framework defines
    it. Afterwards no quantized type is left.

    ```mlir
    %0 = qnn.quantize half_even %x : tensor<4xf32> -> tensor<4x!quant.uniform<u8:f32, 2.0e-02:128>>
    %1 = qnn.reinterpret %0 : tensor<4x!quant.uniform<u8:f32, 2.0e-02:128>> -> tensor<4xui8>
    ==>
    %0 = nn.div %x, %scale : tensor<4xf32>, tensor<f32>
    %1 = nn.round %0 : tensor<4xf32>
    %2 = nn.add %1, %zero_point : tensor<4xf32>, tensor<f32>
    %3 = nn.clip %2 {min = 0.0 : f64, max = 255.0 : f64} : tensor<4xf32>
    %4 = nn.cast %3 : tensor<4xf32> to tensor<4xui8>
    ```
  }];
  let dependentDialects = ["::nnc::nn::NnDialect"];
}

def Simplify : Pass<"nnc-simplify", "::mlir::func::FuncOp"> {
  let summary = "Canonicalise, fold constants and batch norms, drop dead code";
  let description = [{
    To a fixed point: equal values become one; the ops' own folders and
    canonicalisation patterns; ops on constants become constants, computed by
    the portable routines (unless that would grow the model: a folded constant
    has at most as many elements as what it is made of, or 64 KiB); x + 0, x * 1
    and other identities go; batch normalisation goes into the weights before it,
    or becomes a multiply and an add.

    ```mlir
    %0 = nn.conv %x, %w {...} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
    %1 = nn.batch_norm %0, %scale, %bias, %mean, %variance {...} : ...
    ==>
    %0 = nn.conv %x, %w_scaled {...} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
    %1 = nn.add %0, %shift : tensor<1x4x6x6xf32>, tensor<1x4x1x1xf32>
    ```
  }];
  let dependentDialects = ["::nnc::nn::NnDialect"];
}

def Recompose : Pass<"nnc-recompose", "::mlir::func::FuncOp"> {
  let summary = "One op for what exporters write as several";
  let description = [{
    Hard-sigmoid, hard-swish, GELU (with erf or tanh), SiLU, mish, sigmoid, clip,
    layer norm, softmax and the pooling of whole planes come back as one op,
    whatever the order of the factors, and whether a number divides or
    multiplies. Numbers must be an activation's own to a relative 1e-6.
    So does attention, where nothing else uses the scores: its operands are what
    was there before views, transposes and slices told the heads apart.

    Then chains of scales and shifts become one scale and one shift; scales go
    into the weights before or behind them, shifts through a convolution without
    padding. Average pooling behind a 1 x 1 convolution goes before it.

    ```mlir
    %0 = nn.add %x, %three : tensor<1x8x4x4xf32>, tensor<f32>
    %1 = nn.clip %0 {min = 0.0 : f64, max = 6.0 : f64} : tensor<1x8x4x4xf32>
    %2 = nn.mul %x, %1 : tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>
    %3 = nn.div %2, %six : tensor<1x8x4x4xf32>, tensor<f32>
    ==>
    %3 = nn.hard_swish %x : tensor<1x8x4x4xf32>
    ```
  }];
  let dependentDialects = ["::nnc::nn::NnDialect"];
}

def Legalize : Pass<"nnc-legalize", "::mlir::func::FuncOp"> {
  let summary = "Ops in the forms that routines take";
  let description = [{
    A reduction over axes that are not neighbours is transposed first; an
    operand of a matrix product gets the result's whole batch, unless it has
    none; transposes of the last two axes become the product's flags; batch
    normalisation by statistics that are not constant becomes elementwise ops;
    a transposed convolution to few channels whose taps do not overlap becomes a
    convolution whose results are put in their places.

    ```mlir
    %0 = nn.reduce sum %x {axes = array<i64: 0, 2>, keepdims = false} : (tensor<2x3x4xf32>) -> tensor<3xf32>
    ==>
    %0 = nn.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
    %1 = nn.reduce sum %0 {axes = array<i64: 1, 2>, keepdims = false} : (tensor<3x2x4xf32>) -> tensor<3xf32>
    ```
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

def FuseLayers : Pass<"nnc-fuse-layers", "::mlir::ModuleOp"> {
  let summary = "One layer in the place of two, where that is faster";
  let description = [{
    Where a convolution is the only reader of another layer, one layer may compute
    both, so that only a part of the value between them is ever in memory. There
    are three forms, tried in this order:

    - `expanded`: a 1 x 1 convolution of stride 1 and the depthwise convolution that
      reads it become `nn.expanded_conv`, which keeps just the rows that one row of
      the result needs. Where the depthwise convolution could form a `separable`
      layer with its own reader, the form that saves more time wins.
    - `separable`: a depthwise convolution and the 1 x 1 convolution of stride 1 that
      reads it become `nn.separable_conv`, which keeps one strip.
    - `scaling`: a layer that multiplies channels by a value, adds a value, or both,
      and the 1 x 1 convolution of stride 1 that reads it become `nn.scaled_conv`. The
      values may be computed when the code runs.

    Between the two parts there may be an activation: relu, clip, hard_swish or silu;
    in the first two forms also a constant bias. The fused forms read weights or
    inputs more often and have no faster method for the product, so costs decide:
    those of the cheapest candidate of the one layer against those of the two,
    whatever their layouts. Where a tuning file has chosen routines, these decide
    instead. The one layer, or the second of two that stay apart, has both costs as
    an attribute: `nn.expanded`, `nn.separable` or `nn.scaling`.

    ```mlir
    %0 = nn.layer "depthwise" inputs(%x, %w : ...) extras(%b : ...) ... nn.conv, nn.add, nn.clip
    %1 = nn.layer "project" inputs(%0, %v : ...) extras(%c : ...) ... nn.conv, nn.add
    ==>
    %1 = nn.layer "project" inputs(%x, %w, %b, %v : ...) extras(%c : ...)
        attributes {nn.separable = {apart_ns = 281030, one_ns = 177520}}
        ... nn.separable_conv clip, nn.add
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           "row of targets.inc, or native; else the module's nn.target">,
    Option<"maxError", "max-error", "double", /*default=*/"5e-6",
           "as of nnc-choose-routines">,
    ListOption<"forms", "forms", "std::string",
               "expanded, separable, scaling; all unless given">,
  ];
  let dependentDialects = ["::nnc::nn::NnDialect",
                           "::nnc::target::TargetDialect"];
}

def UseHalves : Pass<"nnc-use-halves", "::mlir::ModuleOp"> {
  let summary = "Have layers of floats compute with halves";
  let description = [{
    A layer of sums of products takes halves if the target has a routine for it
    that does; pooling, softmax, copies, elementwise and other layers then take
    what they are given. Weights are rounded, values between two kinds of layers
    are cast by layers of their own, and arguments and results of functions stay
    floats: cast before a last layer where that is not more to cast than behind.
    An epilogue computes with floats all the same: it casts what it loads, and
    what it stores. A constant too large for a half leaves its layer as it is.

    ```mlir
    %y = nn.layer "conv" inputs(%x, %w : tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>)
        -> tensor<1x8x4x4xf32> ...
    return %y : tensor<1x8x4x4xf32>
    ==>
    %0 = nn.layer "input_f16" extras(%x : tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf16> ...
    %y = nn.layer "conv" inputs(%0, %w : tensor<1x8x4x4xf16>, tensor<8x8x1x1xf16>)
        -> tensor<1x8x4x4xf16> ...
    %1 = nn.layer "conv_f32" extras(%y : tensor<1x8x4x4xf16>) -> tensor<1x8x4x4xf32> ...
    return %1 : tensor<1x8x4x4xf32>
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           "row of targets.inc, or native; else the module's nn.target">,
  ];
  let dependentDialects = ["::nnc::nn::NnDialect",
                           "::nnc::target::TargetDialect"];
}

def ChooseRoutines : Pass<"nnc-choose-routines", "::mlir::ModuleOp"> {
  let summary = "Give each layer a routine and layouts, and adapts between them";
  let description = [{
    For each layer the catalogue and the target give candidates: a routine, its
    parameters, the layouts of operands and result, a cost. Candidates are
    picked so that all layers and the adapts between them together cost least.
    `routine` and `params` that stand in a layer already are kept. Constants are
    packed by their type alone; arguments and results of functions stay
    row-major. The function says in `nn.plan` how the search went.

    Methods that compute less may lose more to rounding (`ERROR` in
    routines.inc): the estimates of all layers together stay below `max-error`.

    `layouts` other than `global` leave a part of the search out, to show what
    that is worth. With `local` every adapt is there that a layer by itself
    needs; nnc-propagate-layout would cancel those between two layers.

    ```mlir
    %y = nn.layer "conv1" inputs(%x, %w : tensor<1x64x56x56xf32>, tensor<64x64x1x1xf32>)
        -> tensor<1x64x56x56xf32>
    ==>
    %0 = nn.adapt %x {routine = "adapt_portable"} : tensor<1x64x56x56xf32>
        -> tensor<1x64x56x56xf32, #nn.layout<NCHW16c>>
    %y = nn.layer "conv1" inputs(%0, %w : ...#nn.layout<NCHW16c>>, ...#nn.layout<KCRS16c16k>>)
        -> tensor<1x64x56x56xf32, #nn.layout<NCHW16c>>
        attributes {routine = "conv2d_f32_nchw16c_pointwise_avx512", params = array<i64: 28, 1>}
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           "row of targets.inc, or native; else the module's nn.target">,
    Option<"states", "states", "int64_t", /*default=*/"65536",
           "entries of the largest table of the exact search">,
    Option<"maxError", "max-error", "double", /*default=*/"5e-6",
           "most that the rounding errors of fast methods may sum up to, root "
           "mean square, relative">,
    Option<"layouts", "layouts", "::nnc::LayoutScope",
           /*default=*/"::nnc::LayoutScope::global",
           "what layouts values between layers may have",
           [{::llvm::cl::values(
             clEnumValN(::nnc::LayoutScope::plain, "plain", "row-major order"),
             clEnumValN(::nnc::LayoutScope::local, "local",
                        "any inside a layer, row-major order between two"),
             clEnumValN(::nnc::LayoutScope::fixed, "fixed",
                        "row-major order, or blocks of the widest vector"),
             clEnumValN(::nnc::LayoutScope::global, "global", "any"))}]>,
    Option<"tuning", "tuning", "std::string", /*default=*/"",
           "file of measured costs and choices, as nnc tune writes it">,
  ];
  let dependentDialects = ["::nnc::nn::NnDialect",
                           "::nnc::target::TargetDialect"];
}

def PropagateLayout : Pass<"nnc-propagate-layout", "::mlir::ModuleOp"> {
  let summary = "Cancel, merge and move adapts";
  let description = [{
    Adapts that undo each other go, equal ones are one, constants take layouts
    as their own. A layer whose routine follows any layout (elementwise, concat,
    slice, pad, reductions over whole planes) runs in another one where the
    adapts around it become cheaper: they pass from its operands to its result,
    or the other way. After nnc-choose-routines little is left to do; this is
    for IR that other passes or a person have changed.

    ```mlir
    %1 = nn.adapt %0 : tensor<1x32x8x8xf32, #nn.layout<NCHW16c>> -> tensor<1x32x8x8xf32>
    %2 = nn.layer "relu" extras(%1 : tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> ...
    %3 = nn.adapt %2 : tensor<1x32x8x8xf32> -> tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>
    ==>
    %3 = nn.layer "relu" extras(%0 : tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>)
        -> tensor<1x32x8x8xf32, #nn.layout<NCHW16c>> ...
    ```
  }];
  let dependentDialects = ["::nnc::nn::NnDialect"];
}

def CheckRoutines : Pass<"nnc-check-routines", "::mlir::ModuleOp"> {
  let summary = "Check that each layer can be computed as it says";
  let description = [{
    Every routine is in the catalogue, runs on the target, applies to the
    layer's shape with its params, and agrees with the layouts of the operands
    and the result. For IR that a person has edited.

    ```mlir
    %y = nn.layer "a" ... attributes {routine = "conv2d_f32_nchw32c_direct"}
    ==>
    error: 'nn.layer' op names the routine 'conv2d_f32_nchw32c_direct', which is
    not in the catalogue; of its family there are ...
    ```
  }];
}

def AssignThreads : Pass<"nnc-assign-threads", "::mlir::ModuleOp"> {
  let summary = "Keep layers too short to share on one thread";
  let description = [{
    What two threads would save by sharing a layer or an adapt is less than it
    takes to hand a share over: `exec.serial` says so. By estimates alone, so
    that it does not depend on what a tuning file has measured. All else is
    shared, and which thread computes what the routine decides.

    ```mlir
    %1 = nn.layer "squeeze" inputs(%0, %w : tensor<1x16xf32>, tensor<16x8xf32>) ...
    ==>
    %1 = nn.layer "squeeze" inputs(%0, %w : tensor<1x16xf32>, tensor<16x8xf32>) ...
        attributes {exec.serial}
    ```
  }];
  let dependentDialects = ["::nnc::exec::ExecDialect"];
}

def PlanMemory : Pass<"nnc-plan-memory", "::mlir::func::FuncOp"> {
  let summary = "Give every value a place in one arena or the caller's buffers";
  let description = [{
    Writes `exec.place` on every op that is not a constant, `exec.scratch` where
    a routine wants working memory, `exec.arena` and `exec.lower_bound` (bytes)
    on the function. All of it may be edited; `nnc-verify-memory` checks it.

    Nothing is moved that need not be: reshapes and slices of the outermost axis
    lie within their operand, operands of a concat along it are produced within
    its result, results of the function in the caller's buffers; elementwise
    layers and residual additions write over an operand that dies there.

    ```mlir
    %0 = nn.layer "relu" extras(%x : tensor<4xf32>) -> tensor<4xf32> ...
    %1 = nn.reshape %0 : tensor<4xf32> -> tensor<2x2xf32>
    ```
    ==>
    ```mlir
    %0 = nn.layer "relu" extras(%x : tensor<4xf32>) -> tensor<4xf32>
        attributes {exec.place = #exec.place<arena at 0>} ...
    %1 = nn.reshape %0 {exec.place = #exec.place<arena at 0>} : tensor<4xf32> -> tensor<2x2xf32>
    ```
  }];
  let options = [
    Option<"threads", "threads", "int", /*default=*/"1",
           "how many may share the work of a layer, with scratch for each">,
  ];
  let dependentDialects = ["::nnc::exec::ExecDialect"];
}

def VerifyMemory : Pass<"nnc-verify-memory", "::mlir::func::FuncOp"> {
  let summary = "Check that no value is overwritten before its last use";
  let description = [{
    Runs the function on bytes that know which value they belong to, with the
    places that the function states, and reports the first op that would read
    something else than it should, or reach out of the arena or a buffer.
  }];
}

def LowerToExec : Pass<"nnc-lower-to-exec", "::mlir::ModuleOp"> {
  let summary = "Turn the planned function into an exec program";
  let description = [{
    Checks the places first, as `nnc-verify-memory` does, since they may have
    been edited. Values, layers and weights keep the model's names as far as C
    allows. Calls that compute the same as an earlier one share its code.

    ```mlir
    %0 = nn.layer "relu" extras(%x : tensor<4xf32>) -> tensor<4xf32>
        attributes {exec.place = #exec.place<output at 0>, routine = "elementwise_portable", ...}
    return %0 : tensor<4xf32>
    ```
    ==>
    ```mlir
    %x = exec.input "x" : tensor<4xf32>
    %y = exec.output "y" : tensor<4xf32>
    exec.call "relu" elementwise_portable of "runtime/routines/elementwise/elementwise.h"
        inputs(%x) outputs(%y) shape <rank = 1, dims = [4], strides = [[1]]> pointwise ...
    ```
  }];
  let dependentDialects = ["::nnc::exec::ExecDialect"];
}

def EncodeWeights : Pass<"nnc-encode-weights", "::mlir::ModuleOp"> {
  let summary = "Compute the bytes of every weight of an exec program";
  let description = [{
    Each `exec.weight` holds the elements of a constant before, and the bytes
    that are written for it after: packed as its layout says, padding being zero,
    and encoded where the layout has an encoding (`#nn.encoding`). Nothing is
    left to decide for codegen, which writes encoded weights only. A row-major
    weight in a resource keeps that resource; others get one with the weight's
    name. Weights that are encoded already stay as they are.

    One weight is encoded at a time. With `release`, what the model holds of a
    weight is freed as soon as no other weight of the module needs it, so that
    there is hardly more than one copy of all. Nothing else in the context, such
    as another module, may use the model's weights then.

    ```mlir
    %w = exec.weight "w" at 0 = dense<1.0> : tensor<2x2xf32>
        : tensor<2x2xf32, #nn.layout<NK2n>>
    ```
    ==>
    ```mlir
    %w = exec.weight "w" at 0 = encoded dense<[0, 0, -128, 63, ...]> : tensor<16xi8>
        : tensor<2x2xf32, #nn.layout<NK2n>>
    ```
  }];
  let options = [
    Option<"release", "release", "bool", /*default=*/"false",
           "free what the model holds of weights that are encoded">,
  ];
}

#endif // NNC_COMPILER_PASSES
