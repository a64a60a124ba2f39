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
    Scaled dot-product attention of queries `q`, keys `k` and values `v` with
    `heads` heads. The result is `[batch, queries, heads * value_dim]`.

    `q`, `k` and `v` each have one of two shapes. Rank 4 is `[batch, heads,
    rows, size]`, where size is `dim` for q and k, and `value_dim` for v. Rank 3
    is `[batch, rows, columns]`: the heads stand side by side in the columns,
    from the column on that `starts` holds for q, k and v, so that all three
    operands may be parts of one tensor. The start of an operand of rank 4 is 0.

    The optional `mask`, whose elements are added to the scaled scores,
    broadcasts to `[batch, heads, queries, keys]`, but its last axis has all
    keys. All operands have one element type, except that the mask may be f32 if
    the others are f16. If the mask is -inf for all keys of a query, the result
    for the query is NaN, as that of a softmax is.

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
