//===- Recurrent.td - Ops that carry values from step to step -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_RECURRENT_RECURRENT
#define NNC_DIALECTS_NN_RECURRENT_RECURRENT

include "dialects/nn/NnBase.td"
include "mlir/IR/EnumAttr.td"

def Nn_PushOp : Nn_RoutineOp<"push"> {
  let summary = "A queue along an axis, to whose end elements are appended";
  let description = [{
    `f` has the shape of `x` except along `axis`, where it may be smaller. It is
    appended to the end of `x`, and the same number of elements is removed from
    the start, so that the result has the type of `x`. It may take the place of
    `x` in memory: a queue that is state (`dialects/nn/attributes/State.h`) is
    moved on in place.

    Example: `%y = nn.push %x, %f {axis = 1 : i64} : (tensor<1x8x4xf32>, tensor<1x1x4xf32>) -> tensor<1x8x4xf32>`.
  }];
  let arguments = (ins Nn_Tensor:$x, Nn_Tensor:$f, I64Attr:$axis);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_LstmOp : Nn_RoutineOp<"lstm"> {
  let summary = "A layer of LSTM cells over sequences";
  let description = [{
    The sequences x are batch x steps x input, or with `time_major` steps x
    batch x input. The weights w, 4 x units x input, r, 4 x units x units, and
    bias, 4 x units, are those of the input gate, the forget gate, the cell and
    the output gate. h and c, batch x units, are the output and the state of the
    cells before the first step; states are clipped to [-clip, clip] unless clip
    is 0.

    The result has a row of `units` elements for each step of each sequence, in
    the order of x, and behind them a row for each sequence with the final state
    of its cells (`runtime/routines/recurrent/lstm/portable.h`).

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
    As nn.lstm, of f32, but the weights w, gates x units x input, r, gates x
    units x output, and bias, gates x units, lack those of the input gate where
    it is `coupled` to the forget gate. `extras` is a vector that holds the
    peepholes, 3 x units, then gates x units factors if gates are `normalized`,
    then the output x units matrix and the `output` offsets if results are
    `projected` (`runtime/routines/recurrent/full_lstm/portable.h`). h is batch x output.

    The result is a vector: `output` elements for each step of each sequence, in
    the order of x, and behind them the cells, batch x units.

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
    As nn.lstm, with i8 for w and r, and i8 or i16 for x, h, c and the result.
    Sums of x and sums of h have separate biases, in i32, or in i64 if x is i16,
    which include the zero points of x and h. `factors` holds eleven pairs of a
    multiplier and a shift, and `table` the logistic function;
    `runtime/routines/recurrent/integer_lstm/portable.h` explains both. Cell
    states have 16 bits. If results are i8, each state is stored as two i8, the
    low half first: c is batch x 2 units, and the result ends with two rows for
    each sequence. Results have the zero point `zero`. A cell times `multiplier`
    over 2^shift is the argument of tanh in units of 1 / 12288; a `multiplier`
    of 0 stands for gates in 16 bits, where cells have `shift` integer bits.
    With `single`, products are rounded once, else twice, as TFLite does.

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
    `sums`, steps x batch x gates x units, holds the products of the vectors of
    the sequences and the weights, with the biases; r, gates x units x units,
    the weights of the previous output of the cells. Gates have ONNX's order: z,
    r, h of a GRU, i, o, f, c of an LSTM. h and c, batch x units, are the output
    and the state of the cells before the first step, and `lengths`, batch, i64,
    is the number of vectors of each sequence; a number above steps means all
    steps. `extras` is a vector of the peepholes of i, o and f of an LSTM, 3 x
    units, or of the bias beside the product of h and the last gate of a GRU,
    units; an RNN has units zeros there, and c, which only an LSTM reads, is h.

    f, g and h_activation are applied to sums limited to [-clip, clip] unless clip
    is 0; `numbers` holds alpha and beta of each. With `reverse` the last vector
    comes first, with `reset_after` a GRU multiplies r and a product, and a
    `coupled` LSTM has 1 - i as forget gate.

    The result has a row of `units` elements for each step of each sequence, in
    the order of `sums`, then for each sequence a row with its last output and,
    for an LSTM, a row with the final states
    (`runtime/routines/recurrent/recurrent/portable.h`).

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
