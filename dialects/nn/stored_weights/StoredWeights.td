//===- StoredWeights.td - Ops on weights in few bytes ------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_STORED_WEIGHTS_STOREDWEIGHTS
#define NNC_DIALECTS_NN_STORED_WEIGHTS_STOREDWEIGHTS

include "dialects/nn/NnBase.td"

def Nn_BlockMatMulOp : Nn_AnchorOp<"block_matmul",
    ["getRoutineCallsOn", "spellLayout"], [Nn_Axes]> {
  let summary = "Matrix product with weights of 4 or 8 bits and block-wise scales";
  let description = [{
    `y[..., m, n] = sum over k of x[..., m, k] * w[n, k]`, where `w[n, k]` is
    `(q[n, k] - zero_points[n, k / block]) * scales[n, k / block]`. `x`,
    `scales`, the sums and the result are f32. `q` and `zero_points` are ui8 and
    hold integers of `bits` bits, 4 or 8; in the compiled model each of `q`
    takes only `bits` bits, and routines decode them in registers. The `block`
    of weights that share a scale is a multiple of 8, or all k weights of a row
    of q. `zero_points` has the shape of `scales`, or is 1 x 1 for all weights.

    Example:
    ```mlir
    %y = nn.block_matmul %x, %q, %scales, %zero {bits = 4 : i64, block = 32 : i64}
        : (tensor<1x64xf32>, tensor<10x64xui8>, tensor<10x2xf32>, tensor<1x1xui8>)
          -> tensor<1x10xf32>
    ```
  }];
  let arguments = (ins Nn_Float:$x, Nn_Tensor:$q, Nn_Float:$scales,
                       Nn_Tensor:$zero_points, I64Attr:$bits, I64Attr:$block);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = [{
    $x `,` $q `,` $scales `,` $zero_points attr-dict `:`
    functional-type(operands, results)
  }];
}

def Nn_StoredMatMulOp : Nn_AnchorOp<"stored_matmul", ["getRoutineCallsOn",
                                                      "getAccumulatorType"]> {
  let summary = "Matrix product with compressed weights";
  let description = [{
    `y[..., m, n] = sum over k of x[..., m, k] * w[n, k]`, where `w`, a vector
    of ui8, holds the matrix of weights, with `rows` rows, in compressed form.
    The weights are i8 if `x` has 8-bit integers, and f32 otherwise. `shape`
    says how the bytes are decoded
    (`runtime/routines/stored_weights/decode/plan.h`), and `order` is the value
    of `stored_order` for the order of the matrix's elements
    (`runtime/routines/stored_weights/stored_matmul/shape.h`). The accumulator
    is as in `nn.conv`. `nnc-choose-routines` creates the op where it takes less
    time than to decode the whole matrix first.

    Example:
    ```mlir
    %y = nn.stored_matmul %x, %w, <form = 0, elements = 128, block = 128, values = 16,
        value_bits = 4, gaps = 0, gap_bits = 0, entries = 0>
        {rows = 8 : i64, order = 0 : i64}
        : (tensor<1x16xf32>, tensor<128xui8>) -> tensor<1x8xf32>
    ```
  }];
  let arguments = (ins Nn_Tensor:$x, Nn_Tensor:$w, Nn_ShapeAttr:$shape,
                       I64Attr:$rows, I64Attr:$order,
                       OptionalAttr<TypeAttr>:$accumulator);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = [{
    $x `,` $w `,` $shape attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// Returns the call for m rows of x, of k elements each, and n rows of
    /// weights that `shape` describes.
    static ::nnc::nn::RoutineCall makeCall(::nnc::nn::ShapeAttr shape, int64_t m,
                                           int64_t n, int64_t k, int64_t order);
    /// Returns the size of the weights in bytes if they were not compressed.
    int64_t getWeightBytes();
    /// Returns the number of multiply-adds for m rows of x.
    static int64_t countProducts(::nnc::nn::ShapeAttr shape, int64_t m);
  }];
}

def Nn_StoredConvOp : Nn_AnchorOp<"stored_conv", ["isLayoutTolerant",
                                                  "getAccumulatorType"]> {
  let summary = "Convolution with compressed weights";
  let description = [{
    The `nn.conv` of `x` with `filters` filters of size `kernel`, over one or
    two spatial axes, in one group. `w`, a vector of ui8, holds the filters in
    compressed form. Their weights are i8 if `x` has 8-bit integers, and f32
    otherwise. `shape` says how the bytes are decoded
    (`runtime/routines/stored_weights/decode/plan.h`), and `order` is the number
    of the order in which the filters are stored
    (`runtime/routines/stored_weights/stored_conv2d/shape.h`). Routines decode
    `strip` filters at a time. `nnc-choose-routines` creates the op where the
    memory for all decoded filters would increase the RAM that the model needs.

    Example:
    ```mlir
    %y = nn.stored_conv %x, %w, <form = 0, elements = 512, block = 512, values = 16,
        value_bits = 4, gaps = 0, gap_bits = 0, entries = 0>
        {filters = 32 : i64, kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>,
         dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, fill = -3 : i64,
         order = 1 : i64, strip = 8 : i64, accumulator = i32}
        : (tensor<1x16x5x5xi8>, tensor<272xui8>) -> tensor<1x32x5x5xi32>
    ```
  }];
  let arguments = (ins Nn_Tensor:$x, Nn_Tensor:$w, Nn_ShapeAttr:$shape,
                       I64Attr:$filters, DenseI64ArrayAttr:$kernel,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$pads, I64Attr:$order, I64Attr:$strip,
                       OptionalAttr<TypeAttr>:$accumulator,
                       DefaultValuedAttr<I64Attr, "0">:$fill);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = [{
    $x `,` $w `,` $shape attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// Returns the size of the weights in bytes if they were not compressed.
    int64_t getWeightBytes();
  }];
}

def Nn_DecodeOp : Nn_Op<"decode", [
    DeclareOpInterfaceMethods<Nn_RoutineOpInterface>,
    DeclareOpInterfaceMethods<Nn_CostOpInterface>]> {
  let summary = "Decodes a compressed weight into its layout";
  let description = [{
    The weight that the bytes `x`, a vector of ui8, hold in compressed form.
    `shape` says how they are decoded
    (`runtime/routines/stored_weights/decode/plan.h`). The result has the
    elements of the weight as its layout stores them, padding and encoding
    included. `nnc-choose-routines` creates the op in front of the layer that
    reads the weight. `routine` is as in `nn.layer`.

    Example: `%w = nn.decode %x, <form = 0, elements = 36, block = 36, values = 16, value_bits = 4, gaps = 0, gap_bits = 0, entries = 0> {routine = "decode_codes_portable"} : tensor<42xui8> -> tensor<4x1x3x3xi8>`.
  }];
  let arguments = (ins Nn_Tensor:$x, Nn_ShapeAttr:$shape, OptionalAttr<StrAttr>:$routine);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$x `,` $shape attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the decode_form in which the weight is stored.
    int64_t getForm();
    /// Checks that a weight whose elements have `elementBytes` bytes can be
    /// decoded by `shape` from `bytes` bytes. Returns "", or the reason why it
    /// cannot, as the end of a sentence about the shape.
    static std::string findShapeProblem(::nnc::nn::ShapeAttr shape, int64_t bytes,
                                        int64_t elementBytes);
  }];
}

#endif // NNC_DIALECTS_NN_STORED_WEIGHTS_STOREDWEIGHTS
