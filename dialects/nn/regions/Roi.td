//===- Roi.td - Ops on regions of images -------------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_REGIONS_ROI
#define NNC_DIALECTS_NN_REGIONS_ROI

include "dialects/nn/NnBase.td"
include "mlir/IR/EnumAttr.td"

def Nn_RoiMode : I32EnumAttr<"RoiMode", "what a bin of a region holds", [
    I32EnumAttrCase<"avg", 0>, I32EnumAttrCase<"max", 1>]> {
  let cppNamespace = "::nnc::nn";
  let genSpecializedAttr = 0;
}
def Nn_RoiModeAttr : EnumAttr<Nn_Dialect, Nn_RoiMode, "roi_mode">;

def Nn_RoiAlignOp : Nn_RoutineOp<"roi_align"> {
  let summary = "Regions of images resampled to one size";
  let description = [{
    A row of `rois` is x1, y1, x2, y2, which are multiplied by `scale` and, with
    `half_pixel`, moved by half an element; `images` (i64) holds the image of
    each. A bin of the result is the mean, or the largest, of `samples` places
    along each axis; with 0 of as many as a bin has elements
    (`runtime/routines/regions/roi_align/portable.h`).

    Example: `%y = nn.roi_align avg %x, %r, %i {sizes = array<i64: 3, 2>, samples = 2 : i64, scale = 0.5 : f64, half_pixel = true} : (tensor<1x8x9x9xf32>, tensor<4x4xf32>, tensor<4xi64>) -> tensor<4x8x3x2xf32>`.
  }];
  let arguments = (ins Nn_RoiModeAttr:$mode, Nn_Float:$x, Nn_Float:$rois,
                       Nn_Tensor:$images, DenseI64ArrayAttr:$sizes,
                       I64Attr:$samples, F64Attr:$scale, BoolAttr:$half_pixel);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "$mode operands attr-dict `:` functional-type(operands, results)";
}

def Nn_MaxRoiPoolOp : Nn_RoutineOp<"max_roi_pool"> {
  let summary = "Largest elements of the bins of regions of images";
  let description = [{
    A row of `rois` is the number of an image, then x1, y1, x2, y2, which are
    multiplied by `scale` and rounded.

    Example: `%y = nn.max_roi_pool %x, %r {sizes = array<i64: 3, 2>, scale = 0.5 : f64} : (tensor<1x8x9x9xf32>, tensor<4x5xf32>) -> tensor<4x8x3x2xf32>`.
  }];
  let arguments = (ins Nn_Float:$x, Nn_Float:$rois, DenseI64ArrayAttr:$sizes,
                       F64Attr:$scale);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // NNC_DIALECTS_NN_REGIONS_ROI
