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
    The last axis of x holds the parts of numbers: one of real numbers, two of
    complex ones. Lines of `length` elements along `axis` begin every `step`
    elements and end in x, or with a step of 0 there is one, whose elements
    behind the end of x are zeros. Elements are multiplied by those of `window`,
    if it has `length` of them and not a single one. `roots`, length x 2, holds
    cos(2 pi i / length) and -sin(2 pi i / length).

    Without `onesided` the result has all elements, complex. Onesided, it has
    the first length / 2 + 1 of them, or of the `inverse`, whose x has these, the
    real parts of all. The inverse is divided by the length. With a step the
    lines are an axis in front of `axis`.

    Example: `%y = nn.dft %x, %w, %r {axis = 1 : i64, length = 4 : i64, step = 0 : i64, inverse = false, onesided = true} : (tensor<2x4x1xf32>, tensor<1xf32>, tensor<4x2xf32>) -> tensor<2x3x2xf32>`.
  }];
  let arguments = (ins Nn_Float:$x, Nn_Float:$window, Nn_Float:$roots,
                       I64Attr:$axis, I64Attr:$length, I64Attr:$step,
                       BoolAttr:$inverse, BoolAttr:$onesided);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_FilterOp : Nn_RoutineOp<"filter"> {
  let summary = "Sums along an axis, each with weights of its own";
  let description = [{
    Element i of the result along `axis` is the sum over t of weights[i, t]
    times element starts[i] + t of x; starts (i64) are moved so far that all
    taps lie in x.

    Example: `%y = nn.filter %x, %s, %w {axis = 1 : i64} : (tensor<2x9x3xf32>, tensor<4xi64>, tensor<4x3xf32>) -> tensor<2x4x3xf32>`.
  }];
  let arguments = (ins Nn_Float:$x, Nn_Tensor:$starts, Nn_Float:$weights,
                       I64Attr:$axis);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // NNC_DIALECTS_NN_SIGNAL_SIGNAL
