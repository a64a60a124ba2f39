//===- Recurrent.td - Recurrent layers and queues ----------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_RECURRENT_RECURRENT
#define NNC_DIALECTS_NN_RECURRENT_RECURRENT

include "dialects/nn/NnBase.td"
include "mlir/IR/EnumAttr.td"

def Nn_PushOp : Nn_RoutineOp<"push"> {
  let summary = "A queue along an axis with elements appended to its end";
  let description = [{
    The queue `x` after `f` was appended to its end along `axis` and as many
    elements were removed from its start, so that the result has the type of
    `x`. `f` has the shape of `x` except along `axis`, where it may be smaller.
    The result may take the place of `x` in memory: a queue that is state
    (`dialects/nn/attributes/State.h`) is updated in place.

    Example: `%y = nn.push %x, %f {axis = 1 : i64} : (tensor<1x8x4xf32>, tensor<1x1x4xf32>) -> tensor<1x8x4xf32>`.
  }];
  let arguments = (ins Nn_Tensor:$x, Nn_Tensor:$f, I64Attr:$axis);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_LstmOp : Nn_RoutineOp<"lstm"> {
  let summary = "A layer of LSTM cells over sequences";
  let description = [{
    The outputs of `units` LSTM cells for each step of each sequence, and their
    final states (`runtime/routines/recurrent/lstm/portable.h`). All operands
    have one float type:

    - `x`, the sequences: batch x steps x input, or with `time_major` steps x
      batch x input.
    - `w`, 4 x units x input, the weights of x; `r`, 4 x units x units, the
      weights of the previous outputs; and `bias`, 4 x units. Their first axis
      is the input gate, the forget gate, the cell and the output gate.
    - `h` and `c`, batch x units: the outputs and the states of the cells before
      the first step.

    States are clipped to [-clip, clip] unless `clip` is 0. The result is a
    matrix with rows of `units` elements: the outputs for each step of each
    sequence, in the order of x, then for each sequence the final states of its
    cells.

    Example: `%y = nn.lstm %x, %w, %r, %b, %h, %c {time_major = false, clip = 0.0 : f64} : (tensor<1x28x8xf32>, tensor<4x5x8xf32>, tensor<4x5x5xf32>, tensor<4x5xf32>, tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<29x5xf32>`.
  }];
  let arguments = (ins Nn_Float:$x, Nn_Float:$w, Nn_Float:$r, Nn_Float:$bias,
                       Nn_Float:$h, Nn_Float:$c, BoolAttr:$time_major,
                       F64Attr:$clip);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_FullLstmOp : Nn_RoutineOp<"full_lstm"> {
  let summary = "A layer of LSTM cells with peepholes, normalization, projection";
  let description = [{
    The layer of `nn.lstm` with further options, in f32
    (`runtime/routines/recurrent/full_lstm/portable.h`):

    - `coupled`: the input gate is 1 minus the forget gate. There are then 3
      gates with weights instead of 4: `w`, gates x units x input, `r`, gates x
      units x output, and `bias`, gates x units, lack the input gate's.
    - `normalized`: the sums of each gate are normalized over the cells.
    - `projected`: the outputs are multiplied by a matrix, output x units, and
      `output` offsets are added; the results are clipped to [-output_clip,
      output_clip] unless `output_clip` is 0. Otherwise `output` is equal to
      units.

    `extras` is a vector that holds, one behind the other, the peepholes of the
    input, forget and output gates, 3 x units; if `normalized`, the factors
    after normalization, gates x units; and if `projected`, the matrix and the
    offsets. `x`, `c` and `clip` are as in `nn.lstm`; `h` is batch x output.

    The result is a vector: the `output` outputs for each step of each sequence,
    in the order of x, then the final states of the cells, batch x units.

    Example: `%y = nn.full_lstm %x, %w, %r, %b, %e, %h, %c {time_major = false, coupled = true, normalized = false, projected = false, clip = 0.0 : f64, output_clip = 0.0 : f64} : (tensor<1x28x8xf32>, tensor<3x5x8xf32>, tensor<3x5x5xf32>, tensor<3x5xf32>, tensor<15xf32>, tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<145xf32>`.
  }];
  let arguments = (ins Nn_Float:$x, Nn_Float:$w, Nn_Float:$r, Nn_Float:$bias,
                       Nn_Float:$extras, Nn_Float:$h, Nn_Float:$c,
                       BoolAttr:$time_major, BoolAttr:$coupled,
                       BoolAttr:$normalized, BoolAttr:$projected,
                       F64Attr:$clip, F64Attr:$output_clip);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_IntegerLstmOp : Nn_RoutineOp<"integer_lstm"> {
  let summary = "A layer of LSTM cells on integers, in fixed point";
  let description = [{
    The layer of `nn.lstm` on quantized numbers, with the bits that TFLite
    computes (`runtime/routines/recurrent/integer_lstm/portable.h`). Shapes are
    as in `nn.lstm`. `w` and `r` are i8; `x`, `h`, `c` and the result are all i8
    or all i16. `bias` is added to the sums of x, and `rbias` to those of h;
    both include the zero points of x or h, and are i32, or i64 if x is i16.
    `factors` holds eleven pairs of a multiplier and a shift (i32), and `table`,
    256 ui16, the logistic function.

    The state of a cell has 16 bits. If results are i8, each state is stored as
    two i8, the low byte first: `c` is then batch x (2 units), and the result
    ends with two rows for each sequence. Outputs have the zero point `zero`.
    States are clipped to [-clip, clip] unless `clip` is 0.

    A state times `multiplier / 2^shift` is the argument of tanh in units of
    `1 / 12288`. A `multiplier` of 0 selects gates that are computed in 16 bits,
    with states of `shift` integer bits. Products are rounded once with
    `single`, and twice otherwise; TFLite has builds that do either.

    Example: `%y = nn.integer_lstm %x, %w, %r, %b, %d, %f, %t, %h, %c {time_major = false, zero = -3 : i64, clip = 0 : i64, multiplier = 6 : i64, shift = 0 : i64, single = false} : (tensor<1x9x8xi8>, tensor<4x5x8xi8>, tensor<4x5x5xi8>, tensor<4x5xi32>, tensor<4x5xi32>, tensor<22xi32>, tensor<256xui16>, tensor<1x5xi8>, tensor<1x10xi8>) -> tensor<11x5xi8>`.
  }];
  let arguments = (ins Nn_Tensor:$x, Nn_Tensor:$w, Nn_Tensor:$r,
                       Nn_Tensor:$bias, Nn_Tensor:$rbias, Nn_Tensor:$factors,
                       Nn_Tensor:$table, Nn_Tensor:$h, Nn_Tensor:$c,
                       BoolAttr:$time_major, I64Attr:$zero, I64Attr:$clip,
                       I64Attr:$multiplier, I64Attr:$shift, BoolAttr:$single);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_CellKind : I32EnumAttr<"CellKind", "a kind of recurrent cells", [
    I32EnumAttrCase<"rnn", 0>, I32EnumAttrCase<"gru", 1>,
    I32EnumAttrCase<"lstm", 2>]> {
  let cppNamespace = "::nnc::nn";
  let genSpecializedAttr = 0;
}
def Nn_CellKindAttr : EnumAttr<Nn_Dialect, Nn_CellKind, "cell_kind">;

def Nn_CellActivation : I32EnumAttr<"CellActivation",
    "an activation of recurrent cells", [
    I32EnumAttrCase<"affine", 0>, I32EnumAttrCase<"relu", 1>,
    I32EnumAttrCase<"leaky_relu", 2>, I32EnumAttrCase<"thresholded_relu", 3>,
    I32EnumAttrCase<"tanh", 4>, I32EnumAttrCase<"scaled_tanh", 5>,
    I32EnumAttrCase<"sigmoid", 6>, I32EnumAttrCase<"hard_sigmoid", 7>,
    I32EnumAttrCase<"elu", 8>, I32EnumAttrCase<"softsign", 9>,
    I32EnumAttrCase<"softplus", 10>]> {
  let cppNamespace = "::nnc::nn";
  let genSpecializedAttr = 0;
}
def Nn_CellActivationAttr
    : EnumAttr<Nn_Dialect, Nn_CellActivation, "cell_activation">;

def Nn_RecurrentOp : Nn_RoutineOp<"recurrent"> {
  let summary = "A layer of RNN, GRU or LSTM cells, as ONNX defines them";
  let description = [{
    The outputs of `units` recurrent cells for each step of each sequence, in
    one direction (`runtime/routines/recurrent/recurrent/portable.h` has the
    formulas). The gates, in ONNX's order, are z, r, h for a GRU, i, o, f, c for
    an LSTM, and a single one for an RNN. All operands but `lengths` have one
    float type:

    - `sums`, steps x batch x gates x units: the products of the inputs and
      their weights, which a matrix product computes before, plus the biases.
    - `r`, gates x units x units: the weights of the previous outputs.
    - `extras`, a vector: for an LSTM the peepholes of i, o and f, 3 x units;
      for a GRU, units elements that `reset_after` adds to the product of the
      gate h's weights and the previous outputs; for an RNN, units zeros.
    - `h` and `c`, batch x units: the outputs and the states of the cells before
      the first step. Only an LSTM reads c; for others it is h.
    - `lengths`, batch, i64: the number of steps of each sequence; a number
      above steps means all. Outputs behind these steps are 0.

    `f`, `g` and `h_activation` are ONNX's activations f, g and h; `numbers`
    holds alpha and beta of each, six numbers. The arguments of f and g are
    clipped to [-clip, clip] unless `clip` is 0. With `reverse`, a sequence is
    processed from its last step to its first. With `reset_after`, a GRU
    multiplies the gate r by the product of the weights and the outputs,
    otherwise by the outputs. A `coupled` LSTM has 1 - i as its forget gate.

    The result is a matrix with rows of `units` elements: the outputs for each
    step of each sequence, in the order of `sums`, then the last outputs of each
    sequence and, for an LSTM, the final states of each sequence.

    Example: `%y = nn.recurrent rnn %s, %r, %e, %h, %h, %l {f = #nn<cell_activation tanh>, g = #nn<cell_activation tanh>, h_activation = #nn<cell_activation tanh>, numbers = array<f64: 0.0, 0.0, 0.0, 0.0, 0.0, 0.0>, clip = 0.0 : f64, reverse = false, reset_after = false, coupled = false} : (tensor<7x1x1x5xf32>, tensor<1x5x5xf32>, tensor<5xf32>, tensor<1x5xf32>, tensor<1x5xf32>, tensor<1xi64>) -> tensor<8x5xf32>`.
  }];
  let arguments = (ins Nn_CellKindAttr:$kind, Nn_Float:$sums, Nn_Float:$r,
                       Nn_Float:$extras, Nn_Float:$h, Nn_Float:$c,
                       Nn_Tensor:$lengths, Nn_CellActivationAttr:$f,
                       Nn_CellActivationAttr:$g,
                       Nn_CellActivationAttr:$h_activation,
                       DenseF64ArrayAttr:$numbers, F64Attr:$clip,
                       BoolAttr:$reverse, BoolAttr:$reset_after,
                       BoolAttr:$coupled);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "$kind operands attr-dict `:` functional-type(operands, results)";
}

#endif // NNC_DIALECTS_NN_RECURRENT_RECURRENT
