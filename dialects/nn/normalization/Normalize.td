//===- Normalize.td - Layer and batch normalization --------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_NORMALIZATION_NORMALIZE
#define NNC_DIALECTS_NN_NORMALIZATION_NORMALIZE

include "dialects/nn/NnBase.td"

def Nn_LayerNormOp : Nn_RoutineOp<"layer_norm", [Nn_Axes],
    ["getAccumulatorType", "getChannelAxis"]> {
  let summary = "Layer normalization over the axes from `axis` on";
  let description = [{
    `(x - mean) / sqrt(variance + epsilon) * scale + bias`, where mean and
    variance are those of the elements of `x` that differ only in their indices
    along the axes from `axis` to the last. `scale` and `bias` have one element
    for each combination of these indices. With `accumulator = f32`, x holds
    integers of at most 32 bits, the result is f32, and the op can be the anchor
    of a layer with an epilogue. Without it, x and the result are floats of one
    type.

    Example:
    ```mlir
    %y = nn.layer_norm %x, %scale, %bias {axis = 2 : i64, epsilon = 1.0e-5 : f64}
        : (tensor<1x128x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<1x128x768xf32>
    ```
  }];
  let arguments = (ins Nn_Tensor:$x, Nn_Float:$scale, Nn_Float:$bias,
                       I64Attr:$axis, F64Attr:$epsilon,
                       OptionalAttr<TypeAttr>:$accumulator);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = [{
    $x `,` $scale `,` $bias attr-dict `:` functional-type(operands, results)
  }];
}

def Nn_BatchNormOp : Nn_InferredOp<"batch_norm"> {
  let summary = "Batch normalization by given statistics of each channel";
  let description = [{
    `(x - mean) / sqrt(variance + epsilon) * scale + bias`, where the other four
    operands are vectors with one element per channel, axis 1 of `x`.
    `nnc-simplify` multiplies the op into the weights of a convolution or matrix
    product in front of it, or else replaces it by a multiplication and an
    addition.

    Example:
    ```mlir
    %y = nn.batch_norm %x, %scale, %bias, %mean, %variance {epsilon = 1.0e-5 : f64}
        : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>,
           tensor<8xf32>) -> tensor<1x8x4x4xf32>
    ```
  }];
  let arguments = (ins Nn_Float:$x, Nn_Float:$scale, Nn_Float:$bias,
                       Nn_Float:$mean, Nn_Float:$variance, F64Attr:$epsilon);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // NNC_DIALECTS_NN_NORMALIZATION_NORMALIZE
