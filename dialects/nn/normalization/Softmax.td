//===- Softmax.td - Softmax of floats and of integers ------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_NORMALIZATION_SOFTMAX
#define NNC_DIALECTS_NN_NORMALIZATION_SOFTMAX

include "dialects/nn/NnBase.td"

def Nn_SoftmaxOp : Nn_RoutineOp<"softmax", [Nn_Axes]> {
  let summary = "Softmax of floats along an axis";
  let description = [{
    e^x divided by the sum of e^x along `axis`, or with `log` the natural
    logarithm of that quotient.

    Example: `%y = nn.softmax %x {axis = 1 : i64, log = false} : (tensor<1x10xf32>) -> tensor<1x10xf32>`.
  }];
  let arguments = (ins Nn_Float:$x, I64Attr:$axis, BoolAttr:$log);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Nn_TableSoftmaxOp : Nn_RoutineOp<"table_softmax", [Nn_Axes]> {
  let summary = "Softmax of i16 along the last axis, by tables";
  let description = [{
    The softmax of each row of `x`, an i16 tensor with rows of 1 to 65535
    elements, with the bits that TFLite computes. Results are i16 with 15
    fraction bits.

    The difference of an element from the largest one of its row, times
    `multiplier * 2^(shift - 31)`, is an exponent in units of 10 / 65535. The
    product is rounded once with `single`, and twice otherwise; TFLite has
    builds that do either. The shift is from -31 to 30. `exponentials` and
    `reciprocals` are tables of 513 i16, from which e^d, for an exponent d of at
    most 0, and 1 / (1 + a), for an a in [0, 1], are interpolated
    (`runtime/routines/normalization/table_softmax/portable.h`).

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
    The softmax of each row of `x`, a tensor of 8-bit integers, with the bits
    that TFLite computes. An element that is d less than the largest one of its
    row has the exponential `exponentials[d]`, an i32 with 31 fraction bits, or
    0 if the vector has no such entry. The result is the quotient of this
    exponential and the sum of those of the row, as an integer r of 8 bits or an
    i16: the quotient is `(r - m) * 2^-8` or `(r - m) * 2^-16`, where m is the
    least integer of the type
    (`runtime/routines/normalization/integer_softmax/portable.h`).

    Example: `%y = nn.integer_softmax %x, %e : (tensor<1x10xi8>, tensor<200xi32>) -> tensor<1x10xi8>`.
  }];
  let arguments = (ins Nn_Tensor:$x, Nn_Tensor:$exponentials);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // NNC_DIALECTS_NN_NORMALIZATION_SOFTMAX
