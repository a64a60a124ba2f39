//===- Softmax.td - Softmax of floats and of integers ------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_NORMALIZATION_SOFTMAX
#define NNC_DIALECTS_NN_NORMALIZATION_SOFTMAX

include "dialects/nn/NnBase.td"

def Nn_SoftmaxOp : Nn_RoutineOp<"softmax", [Nn_Axes]> {
  let summary = "Exponentials along an axis, divided by their sum";
  let description = [{
    With `log`, the result is the logarithm of that.

    Example: `%y = nn.softmax %x {axis = 1 : i64, log = false} : (tensor<1x10xf32>) -> tensor<1x10xf32>`.
  }];
  let arguments = (ins Nn_Float:$x, I64Attr:$axis, BoolAttr:$log);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Nn_TableSoftmaxOp : Nn_RoutineOp<"table_softmax", [Nn_Axes]> {
  let summary = "Softmax of i16 along the last axis, by tables";
  let description = [{
    Differences from the largest element of a row, which has fewer than 2^16
    elements, times multiplier * 2^(shift - 31) are in units of 10 / 65535;
    products are rounded once with `single`, else twice, as TFLite does. The
    tables, of 513 i16 each, give e^-d and 1 / (1 + a); results have 15 fraction
    bits (`runtime/routines/normalization/table_softmax/portable.h`).

    Example: `%y = nn.table_softmax %x, %e, %r {multiplier = 1073741824 : i64, shift = 2 : i64, single = false} : (tensor<1x10xi16>, tensor<513xi16>, tensor<513xi16>) -> tensor<1x10xi16>`.
  }];
  let arguments = (ins Nn_Tensor:$x, Nn_Tensor:$exponentials,
                       Nn_Tensor:$reciprocals, I64Attr:$multiplier,
                       I64Attr:$shift, BoolAttr:$single);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_IntegerSoftmaxOp : Nn_Op<"integer_softmax", [
    DeclareOpInterfaceMethods<Nn_RoutineOpInterface>, Nn_Axes,
    DeclareOpInterfaceMethods<Nn_CostOpInterface>]> {
  let summary = "Softmax of integers along the last axis, in fixed point";
  let description = [{
    An integer of 8 bits that is d less than the largest of its row has the
    exponential `exponentials[d]`, an i32 with 31 fraction bits, or 0 if there
    is no such entry. The result is its share of the sum of the row, in units of
    2^-8 or 2^-16 from the least integer of its type on, rounded as TFLite does
    (`runtime/routines/normalization/integer_softmax/portable.h`).

    Example: `%y = nn.integer_softmax %x, %e : (tensor<1x10xi8>, tensor<200xi32>) -> tensor<1x10xi8>`.
  }];
  let arguments = (ins Nn_Tensor:$x, Nn_Tensor:$exponentials);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // NNC_DIALECTS_NN_NORMALIZATION_SOFTMAX
