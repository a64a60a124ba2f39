//===- Signal.td - Transforms and filters of lines ---------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_SIGNAL_SIGNAL
#define NNC_DIALECTS_NN_SIGNAL_SIGNAL

include "dialects/nn/NnBase.td"

def Nn_DftOp : Nn_RoutineOp<"dft"> {
  let summary = "Discrete Fourier transforms of lines along an axis";
  let description = [{
    The Fourier transform, or with `inverse` the inverse transform divided by
    `length`, of lines of `length` elements of `x` along `axis`
    (`runtime/routines/signal/dft/portable.h`).

    The last axis of x, which is not `axis`, holds the parts of a number: 1 for
    real, 2 for complex numbers. If `step` is 0, there is one line, from the
    start of the axis; elements behind the end of x are zeros. Otherwise a line
    begins every `step` elements, as long as it ends in x, and the result has an
    axis in front of `axis` that counts the lines. Each line is multiplied by
    `window`, a vector of `length` elements; for no window, it has one element,
    which is not read. `roots`, length x 2, holds cos(2 pi i / length) and
    -sin(2 pi i / length) for each i.

    Without `onesided`, a transformed line has `length` complex elements. With
    it, x is real and the result has the first length / 2 + 1 complex elements,
    from which the others follow; for the inverse, these are what x holds, and
    the result has `length` real elements.

    Example: `%y = nn.dft %x, %w, %r {axis = 1 : i64, length = 4 : i64, step = 0 : i64, inverse = false, onesided = true} : (tensor<2x4x1xf32>, tensor<1xf32>, tensor<4x2xf32>) -> tensor<2x3x2xf32>`.
  }];
  let arguments = (ins Nn_Float:$x, Nn_Float:$window, Nn_Float:$roots,
                       I64Attr:$axis, I64Attr:$length, I64Attr:$step,
                       BoolAttr:$inverse, BoolAttr:$onesided);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_FilterOp : Nn_RoutineOp<"filter"> {
  let summary = "Weighted sums of consecutive elements along an axis";
  let description = [{
    Element i of the result along `axis` is the sum over t of `weights[i, t]`
    times element `starts[i] + t` of `x`: a resampling with known taps, for
    example. `starts` is a vector of i64, which are clamped so that all taps lie
    in x, and `weights` a matrix with one row for each start.

    Example: `%y = nn.filter %x, %s, %w {axis = 1 : i64} : (tensor<2x9x3xf32>, tensor<4xi64>, tensor<4x3xf32>) -> tensor<2x4x3xf32>`.
  }];
  let arguments = (ins Nn_Float:$x, Nn_Tensor:$starts, Nn_Float:$weights,
                       I64Attr:$axis);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // NNC_DIALECTS_NN_SIGNAL_SIGNAL
