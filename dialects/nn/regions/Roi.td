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
    ONNX's RoiAlign: each region of interest is divided into `sizes[0]` x
    `sizes[1]` bins, and each bin gives the mean or the maximum of values
    interpolated on a grid of places in it
    (`runtime/routines/regions/roi_align/portable.h`). The result is regions x
    channels x sizes[0] x sizes[1].

    `x` holds images, n x channels x height x width. `rois` is regions x 4: the
    corners x1, y1, x2, y2, which are multiplied by `scale` and, with
    `half_pixel`, reduced by 1/2. `images` holds the number of each region's
    image as an i64. The grid has `samples` places along each axis of a bin or,
    if that is 0, as many as the bin has elements, rounded up.

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
    ONNX's MaxRoiPool: each region of interest is divided into `sizes[0]` x
    `sizes[1]` bins, and each bin gives its largest element, or 0 if it has none
    (`runtime/routines/regions/max_roi_pool/portable.h`). The result is regions
    x channels x sizes[0] x sizes[1].

    `x` holds images, n x channels x height x width. `rois` is regions x 5: the
    number of the image, then the corners x1, y1, x2, y2, which are multiplied
    by `scale` and rounded to integers.

    Example: `%y = nn.max_roi_pool %x, %r {sizes = array<i64: 3, 2>, scale = 0.5 : f64} : (tensor<1x8x9x9xf32>, tensor<4x5xf32>) -> tensor<4x8x3x2xf32>`.
  }];
  let arguments = (ins Nn_Float:$x, Nn_Float:$rois, DenseI64ArrayAttr:$sizes,
                       F64Attr:$scale);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // NNC_DIALECTS_NN_REGIONS_ROI
