//===- Moves.td - Ops that move elements -------------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Their results hold elements of the operands at other positions.
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
    The same elements in another layout. An adapt changes one thing: either the
    order of the elements on a device, or the device. A change of the device is
    a transfer; the host is one of the two devices, and no routine runs. A
    change of both is a sequence of adapts.

    `routine` and `params` are as in `nn.layer`. An adapt between layouts with
    the same order of elements is a view: no routine runs for it.

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
    /// Returns true if operand and result are on different devices.
    bool isTransfer();
  }];
}

def Nn_ReshapeOp : Nn_Op<"reshape", [
    DeclareOpInterfaceMethods<Nn_RoutineOpInterface>, Nn_Axes,
    DeclareOpInterfaceMethods<Nn_CostOpInterface>]> {
  let summary = "The same elements, row-major, in another shape";
  let description = [{
    The elements of `x`, in row-major order, as a tensor of another shape with
    as many elements. The op is a view: no routine runs for it. Squeeze,
    unsqueeze and flatten are imported as reshapes.

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
    `x` with its axes in another order. The op is a view, for which no routine
    runs, if the layouts of operand and result put the elements into the same
    order in memory: a row-major image with the axes N, H, W, C has the bytes of
    an image with the axes N, C, H, W in the layout NHWC.

    Example: `%y = nn.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<1x4x5xf32>) -> tensor<1x5x4xf32>`.
  }];
  let arguments = (ins Nn_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = [{
    /// Returns true if the memory of the operand, read in the result's layout,
    /// holds the result.
    bool isView();
    /// Returns true if isView() would be true for an operand of type `x` and a
    /// result of type `y`.
    static bool isViewBetween(::mlir::RankedTensorType x,
                              ::mlir::RankedTensorType y,
                              ::llvm::ArrayRef<int64_t> permutation);
  }];
}

def Nn_ExpandOp : Nn_Op<"expand", [
    DeclareOpInterfaceMethods<Nn_RoutineOpInterface>, Nn_Axes,
    DeclareOpInterfaceMethods<Nn_CostOpInterface>]> {
  let summary = "Elements repeated along broadcast axes (NumPy's broadcast_to)";
  let description = [{
    `x` with its elements repeated along the axes that are 1 or missing in its
    shape, up to the shape of the result, to which it broadcasts as in NumPy.

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
    The tensors `xs`, one behind the other along `axis`. They have one element
    type and the same dimensions along the other axes.

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
  let summary = "A regular part of a tensor along each axis";
  let description = [{
    Along axis i, the `sizes[i]` elements with the indices `starts[i]`,
    `starts[i] + steps[i]`, `starts[i] + 2 * steps[i]` and so on. All of them
    lie in `x`. Steps may be negative. A split is imported as one slice for each
    part.

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
    `x` with `pads[i]` elements added in front of axis i and `pads[rank + i]`
    behind it; a negative number removes elements. `mode` says what the added
    elements hold: `constant`, the number `value`; `edge`, the nearest element
    of x; `reflect`, x mirrored at its first and last elements, which are not
    repeated; `wrap`, x repeated.

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
    The slices of `x` along `axis` at the positions `indices`, which are
    integers; negative ones count from the end, and those out of range are
    clamped. In the result's shape, the axes of `indices` replace `axis`.

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
  let summary = "A tensor with slices of its first axis replaced or updated";
  let description = [{
    `x` after each slice of `updates` has been combined with the slice of x at
    its position along the first axis, in row-major order of `positions` (i64).
    `kind` is the operation: the slice is replaced by the update, or is its sum,
    product, maximum or minimum with it. The shape of `updates` is that of
    `positions` followed by that of `x` without its first axis. Updates at
    positions out of range are skipped.

    Example: `%y = nn.scatter add %x, %p, %u : (tensor<10x8xf32>, tensor<3xi64>, tensor<3x8xf32>) -> tensor<10x8xf32>`.
  }];
  let arguments = (ins Nn_ScatterKindAttr:$kind, Nn_Tensor:$x,
                       Nn_Tensor:$positions, Nn_Tensor:$updates);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$kind operands attr-dict `:` functional-type(operands, results)";
}

#endif // NNC_DIALECTS_NN_MOVES_MOVES
