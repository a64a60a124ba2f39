//===- Moves.td - Ops that move data -----------------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Results hold elements of the operands in other places, or values between them.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_MOVES_MOVES
#define NNC_DIALECTS_NN_MOVES_MOVES

include "dialects/nn/NnBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"

def Nn_ConstantOp : Nn_Op<"constant", [
    ConstantLike,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "A weight or another known tensor";
  let description = [{
    `value` holds the elements in row-major order, whatever the layout of the
    result; they are packed into that layout once, when the weights are written.
    The type of `value` is that of the result without the layout.

    Example: `%w = nn.constant dense<1.0> : tensor<64x3x7x7xf32> -> tensor<64x3x7x7xf32, #nn.layout<KCRS16k>>`.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Nn_Tensor:$y);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasFolder = 1;
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value), [{
    build($_builder, $_state, value.getShapedType(), value);
  }]>];
}

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
    routine. Further apart lies a path of adapts.

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

def Nn_DecodeOp : Nn_Op<"decode", [
    DeclareOpInterfaceMethods<Nn_RoutineOpInterface>,
    DeclareOpInterfaceMethods<Nn_CostOpInterface>]> {
  let summary = "A weight in its layout, of the fewer bytes that are stored of it";
  let description = [{
    `x` holds the bytes that `runtime/routines/stored_weights/decode/plan.h` describes, and `shape`
    says how they are read. The result has the elements of a weight as its layout
    stores them, padding and encoding included. `nnc-choose-routines` makes the op in
    front of the layer that reads the weight. `routine` is as in `nn.layer`.

    Example: `%w = nn.decode %x, <form = 0, elements = 36, block = 36, values = 16, value_bits = 4, gaps = 0, gap_bits = 0, entries = 0> {routine = "decode_codes_portable"} : tensor<42xui8> -> tensor<4x1x3x3xi8>`.
  }];
  let arguments = (ins Nn_Tensor:$x, Nn_ShapeAttr:$shape, OptionalAttr<StrAttr>:$routine);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$x `,` $shape attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The decode_form in which the weight is stored.
    int64_t getForm();
    /// Returns why no weight with elements of so many bytes can be decoded from
    /// so many bytes by `shape`, as the rest of a sentence; "" if one can.
    static std::string findShapeProblem(::nnc::nn::ShapeAttr shape, int64_t bytes,
                                        int64_t elementBytes);
  }];
}

def Nn_ReshapeOp : Nn_Op<"reshape", [
    DeclareOpInterfaceMethods<Nn_RoutineOpInterface, ["keepsSamples"]>,
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

def Nn_TransposeOp : Nn_RoutineOp<"transpose", [], ["keepsSamples"]> {
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
    DeclareOpInterfaceMethods<Nn_RoutineOpInterface, ["keepsSamples"]>,
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

def Nn_ConcatOp : Nn_RoutineOp<"concat", [],
    ["getRoutineCallsOn", "keepsSamples"]> {
  let summary = "Tensors one behind the other along an axis";
  let description = [{
    Example: `%y = nn.concat %a, %b {axis = 1 : i64} : (tensor<1x4xf32>, tensor<1x3xf32>) -> tensor<1x7xf32>`.
  }];
  let arguments = (ins Variadic<Nn_Tensor>:$xs, I64Attr:$axis);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$xs attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def Nn_SliceOp : Nn_RoutineOp<"slice", [],
    ["getRoutineCallsOn", "keepsSamples", "takeSamples"]> {
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

def Nn_PadOp : Nn_RoutineOp<"pad", [],
    ["getRoutineCallsOn", "keepsSamples"]> {
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

def Nn_GatherOp : Nn_RoutineOp<"gather", [], ["keepsSamples"]> {
  let summary = "Slices of an axis picked by indices";
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
    The result is `x` after each slice of `updates` has been put at its position
    along the first axis, in row-major order of `positions` (i64). The shape of
    `updates` is that of `positions`, then that of `x` without its first axis.
    Positions out of range are left out.

    Example: `%y = nn.scatter add %x, %p, %u : (tensor<10x8xf32>, tensor<3xi64>, tensor<3x8xf32>) -> tensor<10x8xf32>`.
  }];
  let arguments = (ins Nn_ScatterKindAttr:$kind, Nn_Tensor:$x,
                       Nn_Tensor:$positions, Nn_Tensor:$updates);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$kind operands attr-dict `:` functional-type(operands, results)";
}

def Nn_SampleMode : I32EnumAttr<"SampleMode", "interpolation between elements", [
    I32EnumAttrCase<"nearest", 0>, I32EnumAttrCase<"linear", 1>,
    I32EnumAttrCase<"cubic", 2>]> {
  let cppNamespace = "::nnc::nn";
  let genSpecializedAttr = 0;
}
def Nn_SampleModeAttr : EnumAttr<Nn_Dialect, Nn_SampleMode, "sample_mode">;
def Nn_SamplePadding : I32EnumAttr<"SamplePadding",
    "what lies outside of an image", [
    I32EnumAttrCase<"zeros", 0>, I32EnumAttrCase<"border", 1>,
    I32EnumAttrCase<"reflection", 2>]> {
  let cppNamespace = "::nnc::nn";
  let genSpecializedAttr = 0;
}
def Nn_SamplePaddingAttr
    : EnumAttr<Nn_Dialect, Nn_SamplePadding, "sample_padding">;

def Nn_GridSampleOp : Nn_RoutineOp<"grid_sample", [], ["keepsSamples"]> {
  let summary = "Images sampled at given places";
  let description = [{
    `x` is n x c and two or three axes of an image, `grid` n, the axes of the
    result, and as many coordinates as the image has axes, that of its last axis
    first. Coordinates of -1 and 1 are the ends of the image: the centres of the
    elements there with `align_corners`, else their outer edges.

    Example: `%y = nn.grid_sample linear zeros %x, %g {align_corners = false} : (tensor<1x3x8x8xf32>, tensor<1x4x5x2xf32>) -> tensor<1x3x4x5xf32>`.
  }];
  let arguments = (ins Nn_SampleModeAttr:$mode, Nn_SamplePaddingAttr:$padding,
                       Nn_Float:$x, Nn_Float:$grid, BoolAttr:$align_corners);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "$mode $padding operands attr-dict `:` functional-type(operands, results)";
}

def Nn_ResizeMode : I32EnumAttr<"ResizeMode", "interpolation", [
    I32EnumAttrCase<"nearest", 0>, I32EnumAttrCase<"linear", 1>,
    I32EnumAttrCase<"cubic", 2>]> {
  let cppNamespace = "::nnc::nn";
  let genSpecializedAttr = 0;
}
def Nn_ResizeModeAttr : EnumAttr<Nn_Dialect, Nn_ResizeMode, "resize_mode">;
def Nn_ResizeCoordinates : I32EnumAttr<"ResizeCoordinates",
    "where an output element lies in the input", [
    I32EnumAttrCase<"half_pixel", 0>, I32EnumAttrCase<"asymmetric", 1>,
    I32EnumAttrCase<"align_corners", 2>,
    I32EnumAttrCase<"pytorch_half_pixel", 3>,
    I32EnumAttrCase<"half_pixel_symmetric", 4>]> {
  let cppNamespace = "::nnc::nn";
  let genSpecializedAttr = 0;
}
def Nn_ResizeCoordinatesAttr
    : EnumAttr<Nn_Dialect, Nn_ResizeCoordinates, "resize_coordinates">;
def Nn_ResizeNearest : I32EnumAttr<"ResizeNearest", "how nearest rounds", [
    I32EnumAttrCase<"round_prefer_floor", 0>,
    I32EnumAttrCase<"round_prefer_ceil", 1>, I32EnumAttrCase<"floor", 2>,
    I32EnumAttrCase<"ceil", 3>]> {
  let cppNamespace = "::nnc::nn";
  let genSpecializedAttr = 0;
}
def Nn_ResizeNearestAttr
    : EnumAttr<Nn_Dialect, Nn_ResizeNearest, "resize_nearest">;

def Nn_ResizeOp : Nn_Op<"resize", [
    DeclareOpInterfaceMethods<Nn_RoutineOpInterface,
                              ["isLayoutTolerant", "keepsSamples"]>,
    DeclareOpInterfaceMethods<Nn_CostOpInterface>]> {
  let summary = "Interpolate the two spatial axes of a 4-D tensor to another size";
  let description = [{
    `scales` are the ratios of output size to input size as the model gives
    them. The coordinates follow the ONNX specification of Resize.

    Example:
    ```mlir
    %y = nn.resize nearest asymmetric floor %x {scales = array<f64: 2.0, 2.0>,
        cubic_a = -7.5e-01 : f64, exclude_outside = false}
        : tensor<1x8x4x4xf32> -> tensor<1x8x8x8xf32>
    ```
  }];
  let arguments = (ins Nn_ResizeModeAttr:$mode,
    Nn_ResizeCoordinatesAttr:$coordinates, Nn_ResizeNearestAttr:$nearest,
    Nn_Tensor:$x, DenseF64ArrayAttr:$scales, F64Attr:$cubic_a,
    BoolAttr:$exclude_outside);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = [{
    $mode $coordinates $nearest $x attr-dict `:` type($x) `->` type($y)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Nn_FixedResizeOp : Nn_RoutineOp<"fixed_resize", [], ["keepsSamples"]> {
  let summary = "Bilinear resize of images of integers, in fixed point";
  let description = [{
    Images are batch x height x width x channels, of integers of 8 or 16 bits.
    Rows and columns of the result, `sizes` of them, lie `steps` / 1024 apart in
    x, which TFLite rounds; with `half_pixel` they are pixels, not points. Sums
    round halves up with `single`, else away from zero
    (`runtime/routines/resampling/fixed_resize/portable.h`).

    Example: `%y = nn.fixed_resize %x {sizes = array<i64: 8, 6>, steps = array<i64: 512, 512>, half_pixel = true, single = false} : (tensor<1x4x3x5xi8>) -> tensor<1x8x6x5xi8>`.
  }];
  let arguments = (ins Nn_Tensor:$x, DenseI64ArrayAttr:$sizes,
                       DenseI64ArrayAttr:$steps, BoolAttr:$half_pixel,
                       BoolAttr:$single);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // NNC_DIALECTS_NN_MOVES_MOVES
