//===- GridSample.td - Images sampled at given places ------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_RESAMPLING_GRIDSAMPLE
#define NNC_DIALECTS_NN_RESAMPLING_GRIDSAMPLE

include "dialects/nn/NnBase.td"
include "mlir/IR/EnumAttr.td"

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

def Nn_GridSampleOp : Nn_RoutineOp<"grid_sample", [Nn_Axes]> {
  let summary = "Images sampled at given places";
  let description = [{
    ONNX's GridSample: the values of the images `x` at the coordinates in
    `grid`. `mode` says how a value between elements is interpolated, and
    `padding` what the value outside of the image is.

    `x` is n x channels x the two or three axes of an image. `grid` is n x the
    axes of the result x 2 or 3 coordinates, of which the first belongs to the
    last axis of the image. The result is n x channels x its own axes.
    Coordinates of -1 and 1 are the two ends of an axis of the image: with
    `align_corners` the centres of the first and last elements, otherwise their
    outer edges.

    Example: `%y = nn.grid_sample linear zeros %x, %g {align_corners = false} : (tensor<1x3x8x8xf32>, tensor<1x4x5x2xf32>) -> tensor<1x3x4x5xf32>`.
  }];
  let arguments = (ins Nn_SampleModeAttr:$mode, Nn_SamplePaddingAttr:$padding,
                       Nn_Float:$x, Nn_Float:$grid, BoolAttr:$align_corners);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "$mode $padding operands attr-dict `:` functional-type(operands, results)";
}

#endif // NNC_DIALECTS_NN_RESAMPLING_GRIDSAMPLE
