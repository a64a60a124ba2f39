//===- Custom.td - Operators that the user computes --------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_CUSTOM_CUSTOM
#define NNC_DIALECTS_NN_CUSTOM_CUSTOM

include "dialects/nn/NnBase.td"

def Nn_DescribedAttr : AttrDef<Nn_Dialect, "Described"> {
  let mnemonic = "described";
  let summary = "The description of an operand or result of nn.custom for the user's function";
  let description = [{
    The type of a tensor and, if it is quantized, the real numbers that its
    integers represent. `type` is row-major. An integer x of a quantized tensor
    represents `(x - zero_points[i]) * scales[i]`, where i is its index along
    `axis`, or 0 if `axis` is -1. The lists `scales` and `zero_points` have one
    entry for each such i, and are empty for a tensor that is not quantized.

    Example: `#nn.described<tensor<1x4xi8>, scales = [5.000000e-01], zero_points = [3], axis = -1>`.
  }];
  let parameters = (ins "::mlir::RankedTensorType":$type,
    "::mlir::DenseF32ArrayAttr":$scales,
    "::mlir::DenseI32ArrayAttr":$zero_points, "int64_t":$axis);
  let assemblyFormat = [{
    `<` $type `,` `scales` `=` $scales `,` `zero_points` `=` $zero_points `,`
    `axis` `=` $axis `>`
  }];
  let genVerifyDecl = 1;
}

def Nn_CustomOp : Nn_Op<"custom"> {
  let summary = "An operator that a C function of the user computes";
  let description = [{
    A call of the user's C function `function`, which the file `header` declares
    and which computes the model's operator `operator_name`. `reads` describes
    the operator's operands in order: each entry is a `#nn.described`, or `unit`
    for an optional operand that the model leaves out. `xs` are the operands
    that are given. `writes` describes the operator's results. A single one is
    the op's result. Of several, the op's result is a `ui8` tensor that holds
    one behind the other at the offsets that `getOffsets` computes (`Custom.h`),
    and an `nn.part` takes each out of it.

    `options` and `model_attributes` are the operator's attributes in the model:
    the bytes of the options of a TFLite custom operator, and the attributes of
    an ONNX operator, each an integer, a real, a string, or a list of integers
    or reals. `scratch` is the number of bytes of working memory that the
    function gets. `id` differs between any two ops, so that equal calls are not
    merged. No pass knows what the function computes: it is neither folded nor
    fused, and its operands and result are row-major.

    Example:
    ```mlir
    %y = nn.custom "reverse" of "reverse.h" (%x) {operator_name = "Reverse",
        reads = [#nn.described<tensor<4xf32>, scales = [], zero_points = [], axis = -1>],
        writes = [#nn.described<tensor<4xf32>, scales = [], zero_points = [], axis = -1>],
        options = array<i8>, model_attributes = {}, scratch = 0 : i64, id = 0 : i64}
        : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$function, StrAttr:$header,
    StrAttr:$operator_name, Variadic<Nn_Tensor>:$xs, ArrayAttr:$reads,
    ArrayAttr:$writes, DenseI8ArrayAttr:$options, DictionaryAttr:$model_attributes,
    I64Attr:$scratch, I64Attr:$id);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = [{
    $function `of` $header `(` $xs `)` attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Nn_PartOp : Nn_Op<"part"> {
  let summary = "One of the results of an nn.custom that has several";
  let description = [{
    The row-major tensor whose bytes begin `offset` bytes from the start of `x`.
    The op is a view: no routine runs for it.

    Example: `%y = nn.part %all at 16 : tensor<32xui8> -> tensor<4xf32>`.
  }];
  let arguments = (ins Nn_Tensor:$x, I64Attr:$offset);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$x `at` $offset attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
}

#endif // NNC_DIALECTS_NN_CUSTOM_CUSTOM
