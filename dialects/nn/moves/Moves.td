//===- Moves.td - Ops that move elements -------------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Results hold elements of the operands in other places.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_MOVES_MOVES
#define NNC_DIALECTS_NN_MOVES_MOVES

include "dialects/nn/NnBase.td"
include "mlir/IR/EnumAttr.td"

def Nn_AdaptOp : Nn_Op<"adapt", [
    DeclareOpInterfaceMethods<Nn_RoutineOpInterface>,
    DeclareOpInterfaceMethods<Nn_CostOpInterface>]> {
  let summary = "SoftNeuro's adapt layer: the same tensor in another schema";
  let description = [{
    `routine` and `params` are those chosen for the adapt, as in `nn.layer`. An
    adapt between layouts in which the elements are in the same order is a view,
    for which no routine runs.

    An adapt changes one thing: the order of the elements on a device, or the
    device, from the host or to it. The latter is a transfer, which needs no
    routine. A change of both is a sequence of adapts.

    Examples: `%y = nn.adapt %x : tensor<1x64x56x56xf32> -> tensor<1x64x56x56xf32, #nn.layout<NCHW16c>>`,
    `%y = nn.adapt %x : tensor<4x50xf32> -> tensor<4x50xf32, #nn.layout<AB on gpu>>`.
  }];
  let arguments = (ins Nn_Tensor:$x, OptionalAttr<StrAttr>:$routine,
                       OptionalAttr<DenseI64ArrayAttr>:$params);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$x), [{
    build($_builder, $_state, type, x, nullptr, nullptr);
  }]>];
  let extraClassDeclaration = [{
    /// Returns true if the operand's memory, read in the result's layout, holds
    /// the result.
    bool isView();
    /// Returns true if the adapt moves its operand to another device.
    bool isTransfer();
  }];
}

def Nn_ReshapeOp : Nn_Op<"reshape", [
    DeclareOpInterfaceMethods<Nn_RoutineOpInterface>, Nn_Axes,
    DeclareOpInterfaceMethods<Nn_CostOpInterface>]> {
  let summary = "The same elements, row-major, in another shape";
  let description = [{
    Squeeze, unsqueeze and flatten are reshapes too. A reshape is a view, for
    which no routine runs.

    Example: `%y = nn.reshape %x : tensor<1x512x1x1xf32> -> tensor<1x512xf32>`.
  }];
  let arguments = (ins Nn_Tensor:$x);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Nn_TransposeOp : Nn_RoutineOp<"transpose", [Nn_Axes]> {
  let summary = "Axes in another order: axis i of the result is axis permutation[i]";
  let description = [{
    A transpose is a view, for which no routine runs, if the layouts of operand
    and result order the elements alike: an image whose axes are N, H, W, C is
    one of N, C, H, W in the layout NHWC.

    Example: `%y = nn.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<1x4x5xf32>) -> tensor<1x5x4xf32>`.
  }];
  let arguments = (ins Nn_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = [{
    /// Returns true if the memory of the operand, read in the result's layout,
    /// is the result.
    bool isView();
    /// Returns whether a transpose of an operand of type `x` to a result of
    /// type `y` moves no element.
    static bool isViewBetween(::mlir::RankedTensorType x,
                              ::mlir::RankedTensorType y,
                              ::llvm::ArrayRef<int64_t> permutation);
  }];
}

def Nn_ExpandOp : Nn_Op<"expand", [
    DeclareOpInterfaceMethods<Nn_RoutineOpInterface>, Nn_Axes,
    DeclareOpInterfaceMethods<Nn_CostOpInterface>]> {
  let summary = "Repeat along broadcast axes (NumPy's broadcast_to)";
  let description = [{
    Example: `%y = nn.expand %x : tensor<4x1xf32> -> tensor<2x4x5xf32>`.
  }];
  let arguments = (ins Nn_Tensor:$x);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def Nn_ConcatOp : Nn_RoutineOp<"concat", [Nn_Axes], ["getRoutineCallsOn"]> {
  let summary = "Concatenation of tensors along an axis";
  let description = [{
    Example: `%y = nn.concat %a, %b {axis = 1 : i64} : (tensor<1x4xf32>, tensor<1x3xf32>) -> tensor<1x7xf32>`.
  }];
  let arguments = (ins Variadic<Nn_Tensor>:$xs, I64Attr:$axis);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$xs attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def Nn_SliceOp : Nn_RoutineOp<"slice",
    [DeclareOpInterfaceMethods<Nn_AxisOpInterface, ["updateAxisSize"]>],
    ["getRoutineCallsOn"]> {
  let summary = "Every steps[i]-th element from starts[i] on, sizes[i] of them";
  let description = [{
    Steps may be negative. A split is a slice for each part.

    Example: `%y = nn.slice %x {starts = array<i64: 0, 2>, sizes = array<i64: 1, 3>,
    steps = array<i64: 1, 1>} : (tensor<1x7xf32>) -> tensor<1x3xf32>`.
  }];
  let arguments = (ins Nn_Tensor:$x, DenseI64ArrayAttr:$starts,
                       DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$steps);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def Nn_PadMode : I32EnumAttr<"PadMode", "what padding holds", [
    I32EnumAttrCase<"constant", 0>, I32EnumAttrCase<"reflect", 1>,
    I32EnumAttrCase<"edge", 2>, I32EnumAttrCase<"wrap", 3>]> {
  let cppNamespace = "::nnc::nn";
  let genSpecializedAttr = 0;
}

def Nn_PadModeAttr : EnumAttr<Nn_Dialect, Nn_PadMode, "pad_mode">;

def Nn_PadOp : Nn_RoutineOp<"pad", [Nn_PaddedAxes], ["getRoutineCallsOn"]> {
  let summary = "Elements added (or, where negative, removed) at both ends of each axis";
  let description = [{
    Example: `%y = nn.pad constant %x {pads = array<i64: 0, 1, 0, 1>, value = 0.0 : f64}
    : (tensor<2x3xf32>) -> tensor<2x5xf32>`.
  }];
  let arguments = (ins Nn_PadModeAttr:$mode, Nn_Tensor:$x,
                       DenseI64ArrayAttr:$pads, F64Attr:$value);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$mode $x attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Nn_GatherOp : Nn_RoutineOp<"gather", [Nn_Axes]> {
  let summary = "Slices of an axis selected by indices";
  let description = [{
    Negative indices count from the end. In the result's shape, the axes of
    `indices` replace `axis`.

    Example: `%y = nn.gather %x, %i {axis = 0 : i64} : (tensor<1000x8xf32>, tensor<1x5xi64>) -> tensor<1x5x8xf32>`.
  }];
  let arguments = (ins Nn_Tensor:$x, Nn_Tensor:$indices, I64Attr:$axis);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$x `,` $indices attr-dict `:` functional-type(operands, results)";
}

def Nn_ScatterKind : I32EnumAttr<"ScatterKind",
    "what an update does to the element at its place", [
    I32EnumAttrCase<"replace", 0>, I32EnumAttrCase<"add", 1>,
    I32EnumAttrCase<"mul", 2>, I32EnumAttrCase<"max", 3>,
    I32EnumAttrCase<"min", 4>]> {
  let cppNamespace = "::nnc::nn";
  let genSpecializedAttr = 0;
}

def Nn_ScatterKindAttr : EnumAttr<Nn_Dialect, Nn_ScatterKind, "scatter_kind">;

def Nn_ScatterOp : Nn_RoutineOp<"scatter"> {
  let summary = "Slices of the first axis replaced or changed by others";
  let description = [{
    The result is `x` after each slice of `updates` has replaced or changed the
    slice at its position along the first axis, in row-major order of
    `positions` (i64). The shape of `updates` is that of `positions`, then that
    of `x` without its first axis. Positions out of range are skipped.

    Example: `%y = nn.scatter add %x, %p, %u : (tensor<10x8xf32>, tensor<3xi64>, tensor<3x8xf32>) -> tensor<10x8xf32>`.
  }];
  let arguments = (ins Nn_ScatterKindAttr:$kind, Nn_Tensor:$x,
                       Nn_Tensor:$positions, Nn_Tensor:$updates);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$kind operands attr-dict `:` functional-type(operands, results)";
}

#endif // NNC_DIALECTS_NN_MOVES_MOVES
