//===- Attention.td - Scaled dot-product attention ---------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_ATTENTION_ATTENTION
#define NNC_DIALECTS_NN_ATTENTION_ATTENTION

include "dialects/nn/NnBase.td"

def Nn_AttentionOp : Nn_RoutineOp<"attention", [Nn_Axes], ["takesHalf"]> {
  let summary = "softmax(scale * q . k + mask) . v, for each of several heads";
  let description = [{
    An operand of rank 3 is `[batch, rows, columns]` with the heads side by side
    in the columns. The heads of `q`, `k` and `v` begin at the columns `starts`,
    so that all three operands may be parts of one tensor. An operand of rank 4
    is `[batch, heads, rows, size]`. For each head, a row of q or k has `dim`
    elements, and a row of v has `value_dim`. The optional mask broadcasts to
    `[batch, heads, queries, keys]`, but must have all keys; if the other
    operands are f16, it may be f32. The result is
    `[batch, queries, heads * value_dim]`. If a mask hides all keys from a
    query, so that all its scores are -inf, its result is NaN, like that of the
    softmax.

    Example:
    ```mlir
    %y = nn.attention %qkv, %qkv, %qkv, %mask {heads = 8 : i64, dim = 15 : i64,
        value_dim = 15 : i64, starts = array<i64: 0, 120, 240>, scale = 0.25 : f64}
        : (tensor<1x40x360xf32>, tensor<1x40x360xf32>, tensor<1x40x360xf32>,
           tensor<1x1x1x40xf32>) -> tensor<1x40x120xf32>
    ```
  }];
  let arguments = (ins Nn_Float:$q, Nn_Float:$k, Nn_Float:$v,
                       Optional<Nn_Float>:$mask, I64Attr:$heads, I64Attr:$dim,
                       I64Attr:$value_dim, DenseI64ArrayAttr:$starts,
                       F64Attr:$scale);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // NNC_DIALECTS_NN_ATTENTION_ATTENTION
