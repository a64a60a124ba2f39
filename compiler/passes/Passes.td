//===- Passes.td - The compiler's passes --------------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// This file declares the passes up to layers without routines, and includes
// PlanPasses.td, which declares those from the choice of routines on. Both have
// the order in which Pipeline.cpp runs the passes. Each pass has a source file,
// a flag of nnc-opt and a test of the same name.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PASSES
#define NNC_COMPILER_PASSES

include "compiler/passes/WeightOptions.td"

include "mlir/Pass/PassBase.td"

def SetConstraints : Pass<"nnc-set-constraints", "::mlir::ModuleOp"> {
  let summary = "Record the target and the memories of a module";
  let description = [{
    The first of all passes. It records the target as an attribute of the module,
    and the memories that the arena and the weights are divided among as
    attributes of its functions. An option with its default value sets nothing.

    ```mlir
    func.func @main(%x: tensor<1x40xf32>) -> tensor<1x40xf32>
    ==>  memories=ram:65536
    func.func @main(%x: tensor<1x40xf32>) -> tensor<1x40xf32>
        attributes {exec.memories = [#exec.memory<name = "ram", size = 65536>]}
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           "row of targets.inc (default: the module's target)">,
    Option<"probe", "probe", "std::string", /*default=*/"",
           "file of nnc target-probe with figures that replace the target's">,
    ListOption<"memories", "memories", "std::string",
               "memories for the arena, each as NAME:BYTES or NAME:BYTES:slow">,
    ListOption<"weightMemories", "weight-memories", "std::string",
               "memories for the weights, likewise">,
  ];
  let dependentDialects = ["::nnc::exec::ExecDialect",
                           "::nnc::target::TargetDialect"];
}

def Calibrate : Pass<"nnc-calibrate", "::mlir::ModuleOp"> {
  let summary = "Record the ranges of float values";
  let description = [{
    Values of the main function get the attribute `qnn.range`
    (`dialects/qnn/Ranges.h`): the bounds between which integers are to represent
    them. Values are numbered: the arguments first, then the results of all ops
    that have one result, constants too. The command line finds the ranges by
    running the module on samples.

    Runs behind `nnc-simplify` and `nnc-recompose`, as the numbers are those of
    the ops that are quantized.

    ```mlir
    %y = nn.relu %x : tensor<1x8xf32>
    ==>  ranges=1:0:6.25
    %y = nn.relu %x {qnn.range = array<f64: 0.0, 6.25>} : tensor<1x8xf32>
    ```
  }];
  let options = [
    ListOption<"ranges", "ranges", "std::string",
               "ranges of values, each as NUMBER:LOW:HIGH">,
  ];
  let dependentDialects = ["::nnc::nn::NnDialect", "::nnc::qnn::QnnDialect"];
}

def Quantize : Pass<"nnc-quantize", "::mlir::ModuleOp"> {
  let summary = "Quantize layers of floats by the ranges of their values";
  let description = [{
    The module becomes one in QDQ form, of which `nnc-qnn-fuse` makes integer
    layers (`compiler/quantize/`):

    - Convolutions and matrix products with constant weights, and matrix products
      of two activations, with the bias and the `nn.relu` or `nn.clip` behind
      them. Weights are symmetric integers of 8 bits, biases integers of 32 bits
      of the scale of the sums.
    - Sums, products, concats, averages, `nn.relu`, `nn.clip`, and ops that only
      move elements, if their operands are quantized. The operands and the
      result of a concat share a scale if none of them loses more than one bit.
    - Constant tables that `nn.gather` reads.

    Each activation has one scale and one zero point. A value without
    `qnn.range`, or with a range that no scale fits, stays float, and so do the
    ops that compute and read it. All `qnn.range` are removed.

    ```mlir
    func.func @main(%x: tensor<1x4xf32> {qnn.range = array<f64: -1.0, 1.0>}) {
      %y = nn.matmul %x, %w {...,  qnn.range = array<f64: 0.0, 4.0>} : ...
    ==>
      %0 = qnn.quantize half_even %x : tensor<1x4xf32> -> tensor<1x4x!quant.uniform<i8:f32, 7.8e-03>>
      %1 = qnn.dequantize %0 : ...
      %2 = qnn.dequantize %integers : tensor<4x2x!quant.uniform<i8:f32, 1.0e-02>> -> tensor<4x2xf32>
      %3 = nn.matmul %1, %2 {...} : ...
      %4 = qnn.quantize half_even %3 : ...
      %y = qnn.dequantize %4 : ...
    ```
  }];
  let options = [
    Option<"perChannel", "per-channel", "bool", /*default=*/"true",
           "give weights a scale for each output channel">,
    Option<"isUnsigned", "unsigned", "bool", /*default=*/"false",
           "store activations as u8 instead of i8">,
    Option<"reduceRange", "reduce-range", "bool", /*default=*/"false",
           "give weights 7 bits, from -64 to 64">,
    Option<"unrounded", "unrounded", "bool", /*default=*/"false",
           "do not round results of products that only float ops read">,
    ListOption<"exclude", "exclude", "std::string",
               "the model's names of ops that stay float">,
  ];
  let dependentDialects = ["::nnc::nn::NnDialect", "::nnc::qnn::QnnDialect"];
}

def Compress : Pass<"nnc-compress", "::mlir::ModuleOp"> {
  let summary = "Prune weights and let them share values";
  let description = [{
    Changes constant weights, 32-bit floats or quantized 8-bit integers, of
    convolutions, matrix products and recurrent layers. Weights of small
    magnitude become zero (`sparsity`, `pattern`), and the others share a
    limited number of values (`clusters`). `nnc-choose-routines` chooses later
    how they are stored. A constant that other ops read, too, stays as it is.
    `nnc compress` does the same; if it is given samples, it uses a second-order
    method (`compiler/compression/`).

    Runs behind `nnc-simplify` and `nnc-recompose`: batch norms that are folded
    later would scale channels of weights that share values.

    ```mlir
    %w = nn.constant dense<[[0.9, 0.1], [0.2, -1.1]]> : tensor<2x2xf32>
    ==>  sparsity=0.5
    %w = nn.constant dense<[[0.9, 0.0], [0.0, -1.1]]> : tensor<2x2xf32>
    ```
  }];
  let options = [
    Option<"sparsity", "sparsity", "double", /*default=*/"-1",
           "share of the weights of each layer that become zero (-1: any)">,
    Option<"pattern", "pattern", "std::string", /*default=*/"\"\"",
           "how many weights of how many neighbours stay, as 2:4">,
    Option<"clusters", "clusters", "int64_t", /*default=*/"0",
           "most values that weights share, from 2 to 256 (0: any number)">,
    Option<"block", "block", "int64_t", /*default=*/"0",
           "output channels that share a table of values (0: all)">,
    ListOption<"exclude", "exclude", "std::string",
               "the model's names of ops whose weights stay as they are">,
  ];
  let dependentDialects = ["::nnc::nn::NnDialect"];
}

def Stream : Pass<"nnc-stream", "::mlir::func::FuncOp"> {
  let summary = "Make a model of a window of time read only the new frames";
  let description = [{
    The model reads a window of frames along `axis` of argument number `input`.
    The new model reads only the `hop` newest frames in each run, and keeps the
    elements of earlier runs that it needs in queues, which are states. Once the
    window has been filled, its results are those of the model on the window.

    Ops that treat all elements along the axis alike work on the new ones.
    Convolutions and pools read a queue with as many elements as the windows of
    their new results have. Other ops, and those that pad the axis or whose
    stride does not divide the new elements, read a queue of the whole window,
    as does all that follows. Of a result that grows along the axis, a run gives
    the newest part.

    Runs before any other pass, and not unless the user asks for it.

    ```mlir
    func.func @main(%x: tensor<1x4x98xf32>) -> tensor<1x8x96xf32> {
      %y = nn.conv %x, %w {...} : (tensor<1x4x98xf32>, tensor<8x4x3xf32>) -> tensor<1x8x96xf32>
      return %y : ...
    }
    ==>
    func.func @main(%x: tensor<1x4x1xf32>, %q: tensor<1x4x3xf32> {nn.state = 1 : i64})
        -> (tensor<1x8x1xf32>, tensor<1x4x3xf32>) {
      %next = nn.push %q, %x {axis = 2 : i64} : ...
      %y = nn.conv %next, %w {...} : (tensor<1x4x3xf32>, tensor<8x4x3xf32>) -> tensor<1x8x1xf32>
      return %y, %next : ...
    }
    ```
  }];
  let options = [
    Option<"input", "input", "unsigned", /*default=*/"0",
           "number of the argument that is a window">,
    Option<"axis", "axis", "int64_t", /*default=*/"1",
           "axis of time of that argument">,
    Option<"hop", "hop", "int64_t", /*default=*/"1",
           "frames that a run takes">,
  ];
  let dependentDialects = ["::nnc::nn::NnDialect", "::nnc::qnn::QnnDialect"];
}

def Patch : Pass<"nnc-patch", "::mlir::func::FuncOp"> {
  let summary = "Compute the first layers in strips of an image";
  let description = [{
    The result of op number `last` (constants and others count from 0) is
    computed in `strips` strips along axis `axis`, each by itself and one after
    the other, so that of the values between op number `first` and this one
    only the rows of a strip are in memory at a time. Where windows of two
    strips overlap, their rows are computed twice: the method is the
    patch-based inference of MCUNetV2 (Lin et al., 2021), with strips as wide
    as the image. Results are the same, bit for bit.

    Ops that are not local to rows, that lie before `first`, or whose results
    are read elsewhere as well are computed whole.

    Runs before any other pass, and where `--max-ram` needs it.

    ```mlir
    %y = nn.conv %x, %w {pads = array<i64: 0, 0, 0, 0>, ...} : (tensor<1x3x6x4xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x4x2xf32>
    ```
    ==> with two strips
    ```mlir
    %a = nn.slice %x {starts = array<i64: 0, 0, 0, 0>, ...} : ... -> tensor<1x3x4x4xf32>
    %0 = nn.conv %a, %w {...} : ... -> tensor<1x8x2x2xf32>
    %b = nn.slice %x {starts = array<i64: 0, 0, 2, 0>, ...} : ... -> tensor<1x3x4x4xf32>
    %1 = nn.conv %b, %w {...} : ... -> tensor<1x8x2x2xf32>
    %y = nn.concat %0, %1 {axis = 2 : i64} : ... -> tensor<1x8x4x2xf32>
    ```
  }];
  let options = [
    Option<"first", "first", "unsigned", /*default=*/"0",
           "number of the first op that may be computed in strips">,
    Option<"last", "last", "unsigned", /*default=*/"0",
           "number of the op whose result the strips make up">,
    Option<"axis", "axis", "int64_t", /*default=*/"2",
           "axis of that result that is cut into strips">,
    Option<"strips", "strips", "int64_t", /*default=*/"2",
           "number of strips, each but the last of the same height">,
  ];
  let dependentDialects = ["::nnc::nn::NnDialect", "::nnc::qnn::QnnDialect"];
}

def CountFromSizes : Pass<"nnc-count-from-sizes", "::mlir::ModuleOp"> {
  let summary = "Compute whole numbers that depend on sizes from the sizes";
  let description = [{
    The module holds a network at several sizes (`nn.sample`). Some of its
    integer constants are arithmetic progressions whose first number or step
    depends on a size, such as the positions of the tokens behind a cache. In
    all imports of the network, ops that compute these numbers from the sizes,
    and that no pass folds, replace such constants. Ops on constants whose
    results depend on the sizes are folded in all imports, or marked so that no
    pass folds them in some. Constants that are equal to each other at all sizes
    become one.

    ```mlir
    %p = nn.constant dense<[5, 6, 7]> : tensor<3xi64>   // with 5 rows in a cache
    ==>
    %first = nn.gather %starts, %rows {axis = 0 : i64} : ...
    %p = nn.add %first, %steps : tensor<1xi64>, tensor<3xi64>
    ```
  }];
  let dependentDialects = ["::nnc::nn::NnDialect", "::nnc::exec::ExecDialect"];
}

def QnnFuse : Pass<"nnc-qnn-fuse", "::mlir::ModuleOp"> {
  let summary = "Compute layers of QDQ models in integers";
  let description = [{
    Rewrites a QDQ model, in which float ops read dequantized values and their
    results are quantized. Results are within one unit of those of the float
    ops:

    - A convolution or matrix product of dequantized operands becomes `qnn.conv`
      or `qnn.matmul`, with the bias in the scale of the sums, and a
      `qnn.requantize` where the sums are quantized, else a `qnn.dequantize`. A
      transposed convolution becomes `nn.conv_transpose` on integers.
    - Averages and layer normalizations of dequantized values read the integers.
    - A dequantization moves behind ops that only move or select elements, such
      as reshapes, slices, concats, paddings and max pools, and a quantization
      moves before them: they work on the integers.
    - An activation is dropped if quantizing saturates wherever it would change
      a value.
    - A matrix product of floats with dequantized constant weights, of one scale,
      of one for each column of the result or of one for each block, becomes
      `nn.block_matmul`, whose weights stay compressed.
    - A convolution of floats with such weights multiplies by the integers, and its
      result by their scales; it gets `nn.byte_weights`, and its weights can be
      stored in a byte each.

    Elementwise ops stay: `nnc-form-layers` makes one layer of them and of the
    conversions around them. The attribute `qnn.stays_float` of an op holds the
    reason why it still computes with floats.

    A product stays in floats if the target has no routine for integers. If it
    has one, nnc-choose-routines decides later whether integers or floats are
    faster.

    ```mlir
    %0 = qnn.dequantize %x : tensor<2x3x!quant.uniform<u8:f32, 2.0e-02:128>> -> tensor<2x3xf32>
    %1 = qnn.dequantize %w : tensor<3x4x!quant.uniform<i8:f32, 1.0e-02>> -> tensor<3x4xf32>
    %2 = nn.matmul %0, %1 {...} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %3 = qnn.quantize half_even %2 : tensor<2x4xf32> -> tensor<2x4x!quant.uniform<u8:f32, 5.0e-02:3>>
    ==>
    %2 = qnn.matmul %x, %w : (...) -> tensor<2x4x!quant.uniform<i32:f32, 2.0e-04>>
    %3 = qnn.requantize real %2 : ... -> tensor<2x4x!quant.uniform<u8:f32, 5.0e-02:3>>
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           "a row of targets.inc, or native (default: the module's nn.target)">,
  ];
  let dependentDialects = ["::nnc::nn::NnDialect", "::nnc::qnn::QnnDialect",
                           "::nnc::target::TargetDialect"];
}

def QnnLegalize : Pass<"nnc-qnn-legalize", "::mlir::ModuleOp"> {
  let summary = "Give products of bytes the operands that the target multiplies";
  let description = [{
    Some instructions multiply unsigned bytes by signed ones (VNNI), others two
    signed bytes. If the best instruction set of the target has routines for
    only one kind of first operand, an operand of `qnn.conv` or `qnn.matmul` of
    the other kind is converted to this kind: 128 is added to, or subtracted
    from, its integers and its zero point, so that it represents the same real
    numbers. If a quantization computes the operand, perhaps with ops that only
    move elements in between, it gets the other type. Otherwise an addition
    converts the integers; it becomes a part of the layer that computes them.

    ```mlir
    %3 = qnn.matmul %x, %w : (tensor<2x3x!quant.uniform<i8:f32, 2.0e-02:5>>, ...
    ==>
    %2 = qnn.reinterpret ... : tensor<2x3xui8> -> tensor<2x3x!quant.uniform<u8:f32, 2.0e-02:133>>
    %3 = qnn.matmul %2, %w : (tensor<2x3x!quant.uniform<u8:f32, 2.0e-02:133>>, ...
    ```

    If that instruction set multiplies bytes alone, a product of two values that
    are not constant is written as four terms, each of which is a product of
    bytes or a constant; centring the operands would take 16 bits.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           "a row of targets.inc, or native (default: the module's nn.target)">,
  ];
  let dependentDialects = ["::nnc::nn::NnDialect", "::nnc::qnn::QnnDialect",
                           "::nnc::target::TargetDialect"];
}

def QnnCanonicalize : Pass<"nnc-qnn-canonicalize", "::mlir::func::FuncOp"> {
  let summary = "Replace quantized ops by nn ops on integers and floats";
  let description = [{
    Each op of the `qnn` dialect is replaced by the nn ops that compute it, bit
    for bit as the framework that it comes from defines it. No value has a
    quantized type afterwards.

    ```mlir
    %0 = qnn.quantize half_even %x : tensor<4xf32> -> tensor<4x!quant.uniform<u8:f32, 2.0e-02:128>>
    %1 = qnn.reinterpret %0 : tensor<4x!quant.uniform<u8:f32, 2.0e-02:128>> -> tensor<4xui8>
    ==>
    %0 = nn.div %x, %scale : tensor<4xf32>, tensor<f32>
    %1 = nn.round %0 : tensor<4xf32>
    %2 = nn.add %1, %zero_point : tensor<4xf32>, tensor<f32>
    %3 = nn.clip %2 {min = 0.0 : f64, max = 255.0 : f64} : tensor<4xf32>
    %4 = nn.cast %3 : tensor<4xf32> to tensor<4xui8>
    ```
  }];
  let dependentDialects = ["::nnc::nn::NnDialect"];
}

def Simplify : Pass<"nnc-simplify", "::mlir::func::FuncOp"> {
  let summary = "Canonicalize, fold constants and batch norms, remove dead code";
  let description = [{
    These rewrites are applied until none of them changes anything:

    - Equal values are merged, and values that nothing uses are removed.
    - The ops' own folders and canonicalization patterns run.
    - Ops on constants become constants, which the portable routines compute. A
      result is folded only if it has no more elements than its operands
      together, or at most 64 KiB, so that folding never makes a model larger.
    - Identities such as x + 0 and x * 1 are removed.
    - A batch normalization is multiplied into the weights of the convolution or
      matrix product before it, or else becomes a multiply and an add.

    ```mlir
    %0 = nn.conv %x, %w {...} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
    %1 = nn.batch_norm %0, %scale, %bias, %mean, %variance {...} : ...
    ==>
    %0 = nn.conv %x, %w_scaled {...} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
    %1 = nn.add %0, %shift : tensor<1x4x6x6xf32>, tensor<1x4x1x1xf32>
    ```
  }];
  let dependentDialects = ["::nnc::nn::NnDialect"];
}

def DropUnread : Pass<"nnc-drop-unread", "::mlir::ModuleOp"> {
  let summary = "Remove unread values that branches and loops compute";
  let description = [{
    Removes everything on which no result of the network depends: ops, results
    of functions that `nn.if` and `nn.loop` run, values that loops carry, and
    values that such functions capture.

    ```mlir
    func.func @main(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
      %y:2 = nn.if %c then @main_then else @main_else(%x)
          : (tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
      return %y#1 : tensor<4xf32>
    }
    func.func private @main_then(%x: tensor<4xf32>)
        -> (tensor<4xf32>, tensor<4xf32>) {
      %0 = nn.exp %x : tensor<4xf32>
      %1 = nn.relu %x : tensor<4xf32>
      return %0, %1 : tensor<4xf32>, tensor<4xf32>
    }
    ==>
      %y = nn.if %c then @main_then else @main_else(%x)
          : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    func.func private @main_then(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = nn.relu %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::nnc::nn::NnDialect"];
}

def Recompose : Pass<"nnc-recompose", "::mlir::func::FuncOp"> {
  let summary = "Recognize ops that exporters write as several";
  let description = [{
    A group of ops that computes hard-sigmoid, hard-swish, GELU (with erf or
    tanh), SiLU, mish, sigmoid, clip, layer normalization, softmax or the pooling
    of whole planes becomes that one op. Factors may stand in any order, and a
    constant may divide or multiply. The constants of an activation must agree
    with its definition to a relative 1e-6.

    Attention is recognized if nothing else uses its scores. The operands of
    `nn.attention` are the tensors before the views, transposes and slices that
    separate the heads.

    After that, a chain of multiplications and additions by constants becomes one
    multiplication and one addition. Multiplications move into the weights of the
    layer before or behind them, and additions move through a convolution that
    has no padding. An average pooling behind a 1 x 1 convolution moves before
    it, where there is less to convolve.

    With `attention=false` products and softmax stay apart, so that the products
    can be quantized.

    ```mlir
    %0 = nn.add %x, %three : tensor<1x8x4x4xf32>, tensor<f32>
    %1 = nn.clip %0 {min = 0.0 : f64, max = 6.0 : f64} : tensor<1x8x4x4xf32>
    %2 = nn.mul %x, %1 : tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>
    %3 = nn.div %2, %six : tensor<1x8x4x4xf32>, tensor<f32>
    ==>
    %3 = nn.hard_swish %x : tensor<1x8x4x4xf32>
    ```
  }];
  let options = [
    Option<"attention", "attention", "bool", /*default=*/"true",
           "recognize attention">,
  ];
  let dependentDialects = ["::nnc::nn::NnDialect"];
}

def Legalize : Pass<"nnc-legalize", "::mlir::func::FuncOp"> {
  let summary = "Rewrite ops into the forms that routines compute";
  let description = [{
    - The operand of a reduction over axes that are not neighbours is transposed
      first.
    - An operand of a matrix product that has some batch axes, but not all of
      the result's, is expanded to them.
    - A transpose of the last two axes of an operand becomes a flag of the matrix
      product.
    - A batch normalization whose statistics are not constant becomes elementwise
      ops.
    - A transposed convolution with few channels whose taps do not overlap
      becomes a convolution and a transpose that interleaves its channels.
    - A convolution over three axes becomes a sum of convolutions over two, with
      the elementwise ops behind it.

    ```mlir
    %0 = nn.reduce sum %x {axes = array<i64: 0, 2>, keepdims = false} : (tensor<2x3x4xf32>) -> tensor<3xf32>
    ==>
    %0 = nn.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
    %1 = nn.reduce sum %0 {axes = array<i64: 1, 2>, keepdims = false} : (tensor<3x2x4xf32>) -> tensor<3xf32>
    ```
  }];
  let dependentDialects = ["::nnc::nn::NnDialect"];
}

def Tabulate : Pass<"nnc-tabulate", "::mlir::ModuleOp"> {
  let summary = "Replace expressions of one 8-bit integer by tables";
  let description = [{
    Elementwise ops that compute an integer of 8 bits from a single integer of 8
    bits and constants alone, such as the sigmoid of a quantized value with the
    conversions to float and back, become `nn.lookup`, whose 256 entries the
    portable routines compute. Expressions of fewer than four ops stay as they
    are, and so do cheap ones that compute fewer than 256 elements. On targets
    with vector routines, an expression also stays if a vector of it takes fewer
    cycles than a lookup (LOOKUP in `isas.inc`), such as one without divisions.
    A table that only the expression reads becomes a part of its table and saves
    the time of a lookup.

    ```mlir
    %0 = nn.cast %x : tensor<1x512xui8> to tensor<1x512xf32>
    %1 = nn.mul %0, %scale : tensor<1x512xf32>, tensor<f32>
    %2 = nn.sigmoid %1 : tensor<1x512xf32>
    %3 = nn.mul %2, %other : tensor<1x512xf32>, tensor<f32>
    %4 = nn.round %3 : tensor<1x512xf32>
    %5 = nn.cast %4 : tensor<1x512xf32> to tensor<1x512xui8>
    ==>
    %5 = nn.lookup %x {table = dense<[128, 130, 132, ...]> : tensor<256xui8>}
        : tensor<1x512xui8> to tensor<1x512xui8>
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           "a row of targets.inc, or native (default: the module's nn.target)">,
  ];
  let dependentDialects = ["::nnc::nn::NnDialect", "::nnc::target::TargetDialect"];
}

def FormLayers : Pass<"nnc-form-layers", "::mlir::func::FuncOp"> {
  let summary = "Group ops into layers: an anchor and its elementwise epilogue";
  let description = [{
    Afterwards a function holds only nn.constant, nn.layer, nn.reshape and
    return.

    The elementwise ops behind an anchor (a convolution, pooling or matrix
    product) become its epilogue as long as only one value of the group is used
    outside of it and that value has the shape of the anchor's result. The other
    operands of these ops become the layer's extras: tensors of the result's
    shape, one value per channel, or a single value. If an op reads the results
    of two anchors, it joins the later one. Elementwise ops that join no anchor
    form layers of their own. Constants with a single value become literals in
    the epilogue.

    ```mlir
    %0 = nn.conv %x, %w {...} : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
    %1 = nn.add %0, %b : tensor<1x8x4x4xf32>, tensor<1x8x1x1xf32>
    %2 = nn.relu %1 : tensor<1x8x4x4xf32>
    ==>
    %2 = nn.layer "conv1" inputs(%x, %w : ...) extras(%b : tensor<1x8x1x1xf32>) -> tensor<1x8x4x4xf32>
    anchor {...nn.conv...} epilogue {
    ^bb0(%e: f32, %eb: f32):
      %3 = nn.add %e, %eb : f32, f32
      %4 = nn.relu %3 : f32
      nn.yield %4 : f32
    }
    ```
  }];
  let dependentDialects = ["::nnc::nn::NnDialect", "::mlir::arith::ArithDialect"];
}

def FuseLayers : Pass<"nnc-fuse-layers", "::mlir::ModuleOp"> {
  let summary = "Fuse two layers into one where that is estimated to be faster";
  let description = [{
    If a convolution is the only reader of another layer, one layer may compute
    both, so that only a part of the value between them is ever in memory. There
    are three forms, which are tried in this order:

    - `expanded`: a 1 x 1 convolution of stride 1 and the depthwise convolution that
      reads it become `nn.expanded_conv`, which keeps only the rows that one row of
      the result needs. If the depthwise convolution could form a `separable` layer
      with its own reader, the form that saves more time is chosen.
    - `separable`: a depthwise convolution and the 1 x 1 convolution of stride 1 that
      reads it become `nn.separable_conv`, which keeps one strip of pixels.
    - `scaling`: a layer that multiplies each channel by a value, adds a value to it,
      or both, and the 1 x 1 convolution of stride 1 that reads it become
      `nn.scaled_conv`. These values may be computed at run time.

    On GPUs there is one more form, `products`: products of one tensor with two or
    three constant matrices, of which an attention makes q, k and v, become one
    product with all columns, if it and the attention that reads them there cost
    less. It has no attribute with the costs.

    In the forms of two layers an activation may stand between them: relu, clip, hard_swish or
    silu. In the first two forms, a constant bias may stand there, too. The
    fused forms read weights or inputs more often, and cannot use Strassen's
    method, so the estimated costs decide: layers are fused if the cheapest
    candidate of the fused layer, in any layout, costs less than the cheapest
    candidates of the two layers. Layers whose routines a tuning file has chosen
    are fused, or not, as in that file. The fused layer, or the second of two
    layers that stay apart, gets both costs as an attribute: `nn.expanded`,
    `nn.separable` or `nn.scaling`.

    For a network at several sizes (`nn.sample`), the costs at the largest sizes
    decide, and the layers at the other sizes are fused in the same way.

    ```mlir
    %0 = nn.layer "depthwise" inputs(%x, %w : ...) extras(%b : ...) ... nn.conv, nn.add, nn.clip
    %1 = nn.layer "project" inputs(%0, %v : ...) extras(%c : ...) ... nn.conv, nn.add
    ==>
    %1 = nn.layer "project" inputs(%x, %w, %b, %v : ...) extras(%c : ...)
        attributes {nn.separable = {apart_ns = 281030, one_ns = 177520}}
        ... nn.separable_conv clip, nn.add
    ```
  }];
  let options = !listconcat([
    Option<"target", "target", "std::string", /*default=*/"",
           "a row of targets.inc, or native (default: the module's nn.target)">,
    Option<"maxError", "max-error", "double", /*default=*/"5e-6",
           "largest accuracy loss, as in nnc-choose-routines">,
    Option<"tuning", "tuning", "std::string", /*default=*/"",
           "as of nnc-choose-routines">,
    ListOption<"forms", "forms", "std::string",
               "forms to try: expanded, separable, scaling, products (default: all)">,
  ], weightRuleOptions);
  let dependentDialects = ["::nnc::nn::NnDialect",
                           "::nnc::target::TargetDialect"];
}

def Batch : Pass<"nnc-batch", "::mlir::ModuleOp"> {
  let summary = "Compute parts of a network on parts of a batch";
  let description = [{
    The first axis of all inputs holds `samples` samples. The layers are divided
    into segments; `cuts` holds, for each segment but the last, the number of
    ops in front of its end (constants do not count). Segment i runs on
    `sizes[i]` samples at a time, which divide `sizes[i + 1]`: it becomes the
    body of an `nn.loop`, together with the segments before it, whose loops are
    nested in it. Values that later segments read are collected over all runs of
    a loop. Layers with large activations then need little memory, and layers
    whose weights are read from memory read them once for many samples (Vooturi
    et al., 2018, section V-D). The whole function takes `count` samples.

    Each op has to keep samples apart (`AxisOpInterface`, along the first axis);
    the pass fails at the first one that may mix them. Results are those of
    `samples` runs with one sample each, up to the rounding of the routines.

    Runs on layers without routines, and with `--batch` alone.

    ```mlir
    func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
      %0 = nn.layer "a" inputs(%x : tensor<8x4xf32>) -> tensor<8x4xf32> ...
      %1 = nn.layer "b" inputs(%0 : tensor<8x4xf32>) -> tensor<8x4xf32> ...
      return %1 : tensor<8x4xf32>
    }
    ```
    ==> with samples=8 count=8 cuts=1 sizes=2,8
    ```mlir
    func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
      %all = nn.reshape %x : tensor<8x4xf32> -> tensor<4x2x4xf32>
      %y = nn.loop @main_samples max 4 with(%all) : (tensor<4x2x4xf32>) -> tensor<4x2x4xf32>
      %0 = nn.reshape %y : tensor<4x2x4xf32> -> tensor<8x4xf32>
      %1 = nn.layer "b" inputs(%0 : tensor<8x4xf32>) -> tensor<8x4xf32> ...
      return %1 : tensor<8x4xf32>
    }
    func.func private @main_samples(%run: tensor<i64>, %all: tensor<4x2x4xf32>) -> tensor<2x4xf32> {
      %x = nn.layer "take_x" inputs(%all, %run : ...) -> tensor<2x4xf32> ... nn.gather
      %0 = nn.layer "a" inputs(%x : tensor<2x4xf32>) -> tensor<2x4xf32> ...
      return %0 : tensor<2x4xf32>
    }
    ```
  }];
  let options = [
    Option<"samples", "samples", "int64_t", /*default=*/"1",
           "number of samples that the inputs hold">,
    Option<"count", "count", "int64_t", /*default=*/"0",
           "number of samples that the result takes (0: as many)">,
    ListOption<"cuts", "cuts", "int64_t",
               "number of ops in front of the end of each segment but the last">,
    ListOption<"sizes", "sizes", "int64_t",
               "samples that each segment takes at a time (default: all)">,
  ];
  let dependentDialects = ["::nnc::nn::NnDialect"];
}

include "compiler/passes/PlanPasses.td"

#endif // NNC_COMPILER_PASSES
