//===- Resize.td - Images of other sizes -------------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_RESAMPLING_RESIZE
#define NNC_DIALECTS_NN_RESAMPLING_RESIZE

include "dialects/nn/NnBase.td"
include "mlir/IR/EnumAttr.td"

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
    DeclareOpInterfaceMethods<Nn_RoutineOpInterface, ["isLayoutTolerant"]>,
    Nn_Axes,
    DeclareOpInterfaceMethods<Nn_CostOpInterface>]> {
  let summary = "Images interpolated to another size";
  let description = [{
    ONNX's Resize of the last two axes of a tensor with four axes. `scales`
    holds for each of the two the positive ratio of output size to input size as
    the model states it, from which coordinates are computed; 0 stands for the
    ratio of the two sizes, which may vary. `coordinates` and
    `nearest` have the values of ONNX's attributes
    `coordinate_transformation_mode` and `nearest_mode`; only the mode `nearest`
    uses the latter. The mode `cubic` uses the coefficient `cubic_a` and, with
    `exclude_outside`, gives elements outside of the image no weight.

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

def Nn_FixedResizeOp : Nn_RoutineOp<"fixed_resize", [Nn_Axes]> {
  let summary = "Bilinear resize of images of integers, in fixed point";
  let description = [{
    The bilinear resize of images, with the bits that TFLite computes
    (`runtime/routines/resampling/fixed_resize/portable.h`). `x` is batch x
    height x width x channels, of 8-bit integers or i16. `sizes` holds the
    number of rows and of columns of the result, and `steps` their distances in
    x in units of 1/1024: row i lies at row `i * steps[0] / 1024` of x or, with
    `half_pixel`, at row `(i + 1/2) * steps[0] / 1024 - 1/2`; columns likewise.
    Results are rounded to nearest, halves up with `single`, and away from zero
    otherwise.

    Example: `%y = nn.fixed_resize %x {sizes = array<i64: 8, 6>, steps = array<i64: 512, 512>, half_pixel = true, single = false} : (tensor<1x4x3x5xi8>) -> tensor<1x8x6x5xi8>`.
  }];
  let arguments = (ins Nn_Tensor:$x, DenseI64ArrayAttr:$sizes,
                       DenseI64ArrayAttr:$steps, BoolAttr:$half_pixel,
                       BoolAttr:$single);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // NNC_DIALECTS_NN_RESAMPLING_RESIZE
