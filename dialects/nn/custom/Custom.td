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
    `type` is the tensor's type, row-major. If integers represent real numbers,
    these are `(x - zero_points[i]) * scales[i]`, with one scale for all
    elements and `axis = -1`, or with one for each index of `axis`.

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
    Calls `function`, which the file `header` declares. It computes the model's
    operator `operator_name`. `reads` describes the operator's operands in their
    order: each is a `#nn.described`, or `unit` for an optional operand that the
    model leaves out; `xs` are those that are there. `writes` describes the
    results. If there is one, it is the op's result. If there are several, the
    op's result is a tensor of bytes that holds all of them one behind the
    other, and `nn.part` takes them out of it; `getOffsets` tells where they are.

    `options` and `model_attributes` are the operator's attributes in the model:
    the bytes of a TFLite custom operator's options, and ONNX's attributes,
    which are integers, reals, texts, or lists of integers or reals. The
    function may use `scratch` bytes of memory. No two ops have the same `id`,
    so that none are merged. No pass knows what the function computes: nothing
    is folded or fused, and operands and result are row-major.

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
    The bytes from `offset` on, as a row-major tensor. A part is a view, for
    which no routine runs.

    Example: `%y = nn.part %all at 16 : tensor<32xui8> -> tensor<4xf32>`.
  }];
  let arguments = (ins Nn_Tensor:$x, I64Attr:$offset);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$x `at` $offset attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
}

#endif // NNC_DIALECTS_NN_CUSTOM_CUSTOM
