//===- PlanPasses.td - Passes that plan layers --------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The passes from the choice of routines on, in the order in which Pipeline.cpp
// runs them.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PLAN_PASSES
#define NNC_COMPILER_PLAN_PASSES

include "compiler/passes/WeightOptions.td"

include "mlir/Pass/PassBase.td"

def MarkVarying : Pass<"nnc-mark-varying", "::mlir::ModuleOp"> {
  let summary = "Mark what varies between layers at several sizes";
  let description = [{
    The module holds the layers of a network at several sizes (`nn.sample`). The
    pass fails if the layers are not the same at all sizes. Constants that
    differ become parts of one constant, or fields of a layer's shape. Ops of
    the network at the largest sizes whose numbers differ get `nn.varies`,
    together with the other shapes that their routines have to apply to
    (`nn.other_shapes`) and the axes whose sizes vary (`nn.varying_axes`). The
    main function gets the sizes as `exec.sizes`.

    ```mlir
    %y = nn.layer "fc" inputs(%x, %w : tensor<8x4xf32>, ...) -> tensor<8x4xf32> ...
    ==>
    %y = nn.layer "fc" inputs(%x, %w : tensor<8x4xf32>, ...) -> tensor<8x4xf32>
        attributes {nn.varies, nn.other_shapes = [#nn.shape<m = 7, ...>, ...], ...} ...
    ```
  }];
  let dependentDialects = ["::nnc::nn::NnDialect", "::nnc::exec::ExecDialect"];
}

def ChooseRoutines : Pass<"nnc-choose-routines", "::mlir::ModuleOp"> {
  let summary = "Choose routines, types and layouts of layers, and stored weights";
  let description = [{
    Each layer has candidates, which follow from the catalogue of routines and
    the target: a routine, its parameters, the schemas (element types and
    layouts) of operands and result, and a cost. The pass chooses one candidate
    for each layer so that the sum of the costs of all layers and of the adapts
    between them (changes of layout and casts) is least. A layer that has a
    `routine` and `params` already keeps them.
    Constants are packed at compile time and need no adapt; arguments and
    results of functions stay row-major. The attribute `nn.plan` of the function
    tells which solver ran, the cost that it found, and a lower bound.

    Methods with fewer multiplications, such as Winograd's, may have larger
    rounding errors (`ERROR` in routines.inc). The sum of the estimated errors of
    all layers stays below `max-error`. With `bound-rounding`, the rounding of
    factors, sums and results that are halves counts as well, and layers with too
    much of it compute with 32-bit floats.

    With `precision=f16`, layers have candidates that compute with halves
    (16-bit floats) beside those that compute with 32-bit floats. In such a
    candidate, the anchor reads its inputs as halves and stores halves, and its
    weights are rounded to halves; a layer with a weight that is too large for a
    half has no such candidates. The epilogue loads extras as halves where that
    is cheaper, but computes with 32-bit floats. An elementwise layer computes
    with these, too, and may store halves. Layers that only cast are inserted
    where a value is read in another type than it is stored in. Arguments and
    results of functions keep their types.

    `precision=bf16` does the same with bfloat16. With `precision=tf32`, layers
    that multiply floats have candidates whose routines round both factors to
    tf32.

    ```mlir
    %y = nn.layer "conv" inputs(%x, %w : tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>)
        -> tensor<1x8x4x4xf32> ...
    return %y : tensor<1x8x4x4xf32>
    ==>
    %0 = nn.layer "input_f16" extras(%x : tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf16> ...
    %y = nn.layer "conv" inputs(%0, %w : tensor<1x8x4x4xf16>, tensor<8x8x1x1xf16>)
        -> tensor<1x8x4x4xf16> ...
    %1 = nn.layer "conv_f32" extras(%y : tensor<1x8x4x4xf16>) -> tensor<1x8x4x4xf32> ...
    return %1 : tensor<1x8x4x4xf32>
    ```

    A layer that multiplies 8-bit integers has candidates that multiply floats,
    too, if its epilogue requantizes with a real factor, so that all of the
    layer can be computed with floats. Such a layer reads and stores floats that
    are the integers minus the number with which a convolution pads its input;
    its weights are the same integers as floats. The layers that can read or
    store these floats are such products, elementwise layers, and layers that
    move elements or select the largest ones. Sums of floats are equal to those
    of integers as long as they are below 2^24. `products` can exclude the
    candidates of one kind.

    ```mlir
    %y = nn.layer "depthwise" inputs(%x, %w : tensor<1x8x4x4xi8>, tensor<8x1x3x3xi8>)
        -> tensor<1x8x4x4xi8> ...
    return %y : tensor<1x8x4x4xi8>
    ==>
    %0 = nn.layer "input_f32" extras(%x : tensor<1x8x4x4xi8>) -> tensor<1x8x4x4xf32> ...
    %y = nn.layer "depthwise" inputs(%0, %w : tensor<1x8x4x4xf32>, tensor<8x1x3x3xf32>)
        -> tensor<1x8x4x4xf32> ...
    %1 = nn.layer "depthwise_integers" extras(%y : tensor<1x8x4x4xf32>)
        -> tensor<1x8x4x4xi8> ...
    return %1 : tensor<1x8x4x4xi8>
    ```

    `weights-encoding` limits which weights routines may read (`WeightRules.h`).

    The pass also chooses how weights are stored. A weight that only layers read
    is stored uncompressed or in fewer bytes: as a codebook, in a form like CSR,
    or with Huffman codes. An `nn.decode` in front of each layer that reads a
    compressed weight restores it, bit for bit. Instead, the layer's anchor may
    become an `nn.stored_matmul`, which reads the compressed weight, or, where
    the model would need more memory for all decoded filters, an
    `nn.stored_conv`, which decodes a strip of filters at a time. One of these
    options limits the choice:

    - `weights-encoding=codebook`, `csr` or `huffman`: each weight has the
      smallest form of this kind.
    - `max-weights`, the bytes that all weights may take together: the search
      gives each byte a price in seconds, and takes the price at which the
      fastest plan keeps to the limit. Then one or two weights at a time, with
      the layers that read them, change their form where that saves time.
    - `max-ns`, the time that a run may take: weights take the fewest bytes with
      which the plan keeps to it, which are found in the same way.

    Without any of them, weights that are mostly zero are stored as `csr` where
    that makes layers faster. Weights with `nn.byte_weights` are stored as
    `codebook`: always for targets without an operating system, and for others
    where decoding is estimated to take at most a tenth of the layer's time.

    ```mlir
    %w = nn.constant dense_resource<w> : tensor<64x3x7x7xi8>
    %1 = nn.layer "conv1" inputs(%0, %w : ...) ...
    ==>
    %s = nn.constant dense_resource<w_1> : tensor<4728xui8>
    %w = nn.decode %s, <form = 0, ...> {routine = "decode_codes_portable"}
        : tensor<4728xui8> -> tensor<64x3x7x7xi8>
    %1 = nn.layer "conv1" inputs(%0, %w : ...) ...
    ```

    With `max-ram`, the scratch memory and padding of a candidate have to fit
    into the bytes that are free beside the values in use while the layer runs.
    A candidate that needs more costs more than all candidates that fit, by an
    amount that grows with the excess. The choices of a tuning file, which may
    not fit, are then ignored.

    The values of `layouts` other than `global` restrict the search, to show what
    the layouts are worth. With `local`, every layer is surrounded by the adapts
    that it needs by itself; nnc-propagate-layout would remove those that cancel
    each other between two layers.

    ```mlir
    %y = nn.layer "conv1" inputs(%x, %w : tensor<1x64x56x56xf32>, tensor<64x64x1x1xf32>)
        -> tensor<1x64x56x56xf32>
    ==>
    %0 = nn.adapt %x {routine = "adapt_portable"} : tensor<1x64x56x56xf32>
        -> tensor<1x64x56x56xf32, #nn.layout<NCHW16c>>
    %y = nn.layer "conv1" inputs(%0, %w : ...#nn.layout<NCHW16c>>, ...#nn.layout<KCRS16c16k>>)
        -> tensor<1x64x56x56xf32, #nn.layout<NCHW16c>>
        attributes {routine = "conv2d_f32_nchw16c_pointwise_avx512", params = array<i64: 28, 1>}
    ```
  }];
  let options = !listconcat([
    Option<"target", "target", "std::string", /*default=*/"",
           "a row of targets.inc, or native (default: the module's nn.target)">,
    Option<"states", "states", "int64_t", /*default=*/"65536",
           "entries of the largest table of the exact search">,
    Option<"maxError", "max-error", "double", /*default=*/"5e-6",
           "largest sum of the rounding errors of fast methods: root mean square, "
           "relative to the result">,
    Option<"boundRounding", "bound-rounding", "bool", /*default=*/"false",
           "whether max-error bounds the rounding of halves, too">,
    Option<"layouts", "layouts", "::nnc::LayoutScope",
           /*default=*/"::nnc::LayoutScope::global",
           "layouts that values between layers may have",
           [{::llvm::cl::values(
             clEnumValN(::nnc::LayoutScope::plain, "plain", "row-major order"),
             clEnumValN(::nnc::LayoutScope::local, "local",
                        "any inside a layer, row-major order between layers"),
             clEnumValN(::nnc::LayoutScope::fixed, "fixed",
                        "row-major order, or blocks of the widest vector"),
             clEnumValN(::nnc::LayoutScope::global, "global", "any"))}]>,
    Option<"precision", "precision", "::nnc::Precision",
           /*default=*/"::nnc::Precision::f32",
           "what layers of floats may compute with",
           [{::llvm::cl::values(
             clEnumValN(::nnc::Precision::f32, "f32", "floats"),
             clEnumValN(::nnc::Precision::tf32, "tf32",
                        "floats, which products may round to tf32"),
             clEnumValN(::nnc::Precision::bf16, "bf16", "floats or bfloat16"),
             clEnumValN(::nnc::Precision::f16, "f16", "floats or halves"))}]>,
    Option<"products", "products", "::nnc::Products",
           /*default=*/"::nnc::Products::any",
           "what products of 8-bit integers may be computed with",
           [{::llvm::cl::values(
             clEnumValN(::nnc::Products::any, "any", "integers or floats"),
             clEnumValN(::nnc::Products::integers, "integers", "integers"),
             clEnumValN(::nnc::Products::floats, "floats",
                        "floats where they can be"))}]>,
    Option<"optimize", "optimize", "::nnc::Optimize",
           /*default=*/"::nnc::Optimize::balance",
           "what counts where routines' bytes of code are known",
           [{::llvm::cl::values(
             clEnumValN(::nnc::Optimize::size, "size", "few bytes of code"),
             clEnumValN(::nnc::Optimize::balance, "balance", "both"),
             clEnumValN(::nnc::Optimize::speed, "speed", "little time"))}]>,
    Option<"maxWeights", "max-weights", "int64_t",
           /*default=*/"std::numeric_limits<int64_t>::max()",
           "bytes that all weights may take">,
    Option<"maxNs", "max-ns", "int64_t",
           /*default=*/"std::numeric_limits<int64_t>::max()",
           "nanoseconds that a run may be estimated to take; weights take as few "
           "bytes as that allows">,
    Option<"decodeRam", "decode-ram", "int64_t",
           /*default=*/"std::numeric_limits<int64_t>::max()",
           "bytes that values may take; weights are not decoded into more">,
    Option<"weightsFront", "weights-front", "bool", /*default=*/"false",
           "record in nn.weights_front which bytes of weights cost which time">,
    Option<"tuning", "tuning", "std::string", /*default=*/"",
           "tuning file with measured costs and choices, written by nnc tune">,
    Option<"maxRam", "max-ram", "int64_t",
           /*default=*/"std::numeric_limits<int64_t>::max()",
           "bytes of RAM, with inputs, outputs and state, into which routines and "
           "layouts have to fit where they can">,
    Option<"threads", "threads", "int", /*default=*/"1",
           "as of nnc-plan-memory; counts with max-ram">,
    Option<"portsInArena", "ports-in-arena", "bool", /*default=*/"false",
           "as of nnc-plan-memory; counts with max-ram">,
  ], weightRuleOptions);
  let dependentDialects = ["::nnc::nn::NnDialect",
                           "::nnc::target::TargetDialect"];
}

def PropagateLayout : Pass<"nnc-propagate-layout", "::mlir::ModuleOp"> {
  let summary = "Remove, merge and move changes of layout (adapts)";
  let description = [{
    Two adapts that undo each other are removed, equal adapts of a value are
    merged, and the adapt of a constant becomes the constant's own layout. A
    layer whose routine works in any layout (elementwise, concat, slice, pad,
    reductions over whole planes) is moved to another layout if that makes the
    adapts around it cheaper; the adapts then move from its operands to its
    result, or the other way. nnc-choose-routines leaves little of this to do:
    the pass serves IR that other passes or a person have changed.

    ```mlir
    %1 = nn.adapt %0 : tensor<1x32x8x8xf32, #nn.layout<NCHW16c>> -> tensor<1x32x8x8xf32>
    %2 = nn.layer "relu" extras(%1 : tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> ...
    %3 = nn.adapt %2 : tensor<1x32x8x8xf32> -> tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>
    ==>
    %3 = nn.layer "relu" extras(%0 : tensor<1x32x8x8xf32, #nn.layout<NCHW16c>>)
        -> tensor<1x32x8x8xf32, #nn.layout<NCHW16c>> ...
    ```
  }];
  let dependentDialects = ["::nnc::nn::NnDialect"];
}

def MergeRounding : Pass<"nnc-merge-rounding", "::mlir::ModuleOp"> {
  let summary = "Write quantizations in the expressions of layers shorter";
  let description = [{
    Rewrites ops of quantization in the expressions of layers, without a change
    of any result:

    - The quotient of a float and a constant scale, rounded and stored as an
      integer of at most 16 bits, becomes a product with the two parts of the
      scale's reciprocal (`nn.requantize parts`), on devices whose multiply-add
      rounds only once. Divisions are among the slowest instructions of vectors.
      The pass compares both forms for the floats next to each point between two
      integers, where alone they can differ, and keeps the division where they
      do.
    - An integer that is only read as a float, less its zero point, is never
      made: `nn.requantize real` gives the float.

    It stands behind the choice of routines, since other passes look for the
    longer forms.

    ```mlir
    %1 = nn.div %0, %scale : f32, f32
    %2 = nn.round %1 : f32
    %3 = nn.cast %2 : f32 -> ui8
    ==>
    %3 = nn.requantize parts %0, %factor, %rest
        {element = ui8, low = 0 : i64, high = 255 : i64} : f32, f32, f32
    ```
  }];
  let dependentDialects = ["::nnc::nn::NnDialect", "::mlir::arith::ArithDialect",
                           "::nnc::target::TargetDialect"];
}

def CheckRoutines : Pass<"nnc-check-routines", "::mlir::ModuleOp"> {
  let summary = "Check the routine, parameters and layouts of each layer";
  let description = [{
    Reports an error for each layer whose routine is not in the catalogue, does
    not run on the target, does not apply to the layer's shape with these
    parameters, or expects other layouts of operands or result. The pass serves
    IR that a person has edited.

    ```mlir
    %y = nn.layer "a" ... attributes {routine = "conv2d_f32_nchw32c_direct"}
    ==>
    error: 'nn.layer' op names the routine 'conv2d_f32_nchw32c_direct', which is
    not in the catalogue; of its family there are ...
    ```
  }];
}

def AssignThreads : Pass<"nnc-assign-threads", "::mlir::ModuleOp"> {
  let summary = "Keep layers that are too short to be shared on one thread";
  let description = [{
    A layer, an adapt or a decode gets the attribute `exec.serial` if the time that two
    threads would save by sharing it is less than the time to hand work to
    another thread. Only estimates decide, never the measurements of a tuning
    file, so that tuning does not change which layers are shared. All other
    layers are shared, and their routines decide which thread computes what.

    ```mlir
    %1 = nn.layer "squeeze" inputs(%0, %w : tensor<1x16xf32>, tensor<16x8xf32>) ...
    ==>
    %1 = nn.layer "squeeze" inputs(%0, %w : tensor<1x16xf32>, tensor<16x8xf32>) ...
        attributes {exec.serial}
    ```
  }];
  let dependentDialects = ["::nnc::exec::ExecDialect"];
}

def PlanMemory : Pass<"nnc-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Place every value in the arena or in the caller's buffers";
  let description = [{
    Sets `exec.place` on every op that is not a constant, `exec.scratch` on the
    ops whose routine needs working memory, and `exec.arena` and
    `exec.lower_bound` (in bytes) on the function. These attributes may be
    edited; `nnc-verify-memory` checks them.

    Copies are avoided: reshapes and slices of the outermost axis lie within
    their operand, operands of a concat along that axis are computed within its
    result, results of the function are computed in the caller's buffers, and
    elementwise layers and residual additions overwrite an operand that is not
    used afterwards.

    Functions that nn.if and nn.loop run are planned together with the function
    that contains the op: their values get places of the same arena, and their
    arguments and results get an `exec.place`. The first value of a carried
    value of a loop, its value in each run and the loop's result share one place
    unless one of them would overwrite another that is still needed, so that
    nothing is copied between runs. The branches of an nn.if compute their
    results at the places of the op's results, and share memory.

    On a target without an operating system, or with `reorder`, layers are put
    into the order in which the fewest bytes are in use at a time, if that makes
    the arena smaller. The search for the order is exact where it is short.

    A function with `exec.memories` gets a part of its arena in each of these
    memories, and one with `exec.weight_memories` has its constants divided
    among them. The values and constants with the most accesses per byte are in
    the memories that are not slow. Each memory of the lists gets the number of
    `bytes` that are taken, which exceeds its size where no division fits.

    With `ports-in-arena`, the function gets `exec.ports_in_arena`, and its
    arguments and results get an `exec.place` in the arena. Other values may
    take the place of an argument after its last use; results stay up to the
    end. With `host-ports` besides, for a GPU, the function gets
    `exec.host_ports`: the places in the arena are those to and from which a run
    copies what is in the CPU's memory.

    ```mlir
    %0 = nn.layer "relu" extras(%x : tensor<4xf32>) -> tensor<4xf32> ...
    %1 = nn.reshape %0 : tensor<4xf32> -> tensor<2x2xf32>
    ```
    ==>
    ```mlir
    %0 = nn.layer "relu" extras(%x : tensor<4xf32>) -> tensor<4xf32>
        attributes {exec.place = #exec.place<arena at 0>} ...
    %1 = nn.reshape %0 {exec.place = #exec.place<arena at 0>} : tensor<4xf32> -> tensor<2x2xf32>
    ```
  }];
  let options = [
    Option<"threads", "threads", "int", /*default=*/"1",
           "number of threads that may share a layer, each with its own scratch">,
    Option<"portsInArena", "ports-in-arena", "bool", /*default=*/"false",
           "place inputs and results in the arena, not in the caller's buffers">,
    Option<"hostPorts", "host-ports", "bool", /*default=*/"false",
           "with ports-in-arena: copy inputs and results from and to the CPU's "
           "memory in each run">,
    Option<"reorder", "reorder", "bool", /*default=*/"false",
           "change the order of layers for any target">,
  ];
  let dependentDialects = ["::nnc::exec::ExecDialect"];
}

def VerifyMemory : Pass<"nnc-verify-memory", "::mlir::ModuleOp"> {
  let summary = "Check that no value is overwritten before its last use";
  let description = [{
    Simulates the function with the places that its attributes state, on a
    memory in which each byte records the value that it belongs to. Reports the
    first op that would read bytes of another value than its operand, or that
    would access memory outside of the arena or of a buffer.
  }];
}

def RetypeSamples : Pass<"nnc-retype-samples", "::mlir::ModuleOp"> {
  let summary = "Give the plan of the largest sizes the shapes of other sizes";
  let description = [{
    The module holds the planned layers of a network at its largest sizes, and
    the layers at other sizes (`nn.sample`), which have no plan. Each sample is
    replaced by a copy of the planned layers with the shapes of the sample.

    ```mlir
    module { ... nn.layer "fc" inputs(%x, %w : tensor<8x4xf32>, ...) {routine = "gemm_f32", ...} }
    nn.sample at [7] { builtin.module { ... nn.layer "fc" inputs(%x, %w : tensor<7x4xf32>, ...) } }
    ==>
    nn.sample at [7] { builtin.module { ... nn.layer "fc" inputs(%x, %w : tensor<7x4xf32>, ...) {routine = "gemm_f32", ...} } }
    ```
  }];
  let dependentDialects = ["::nnc::nn::NnDialect", "::nnc::exec::ExecDialect"];
}

def LowerToExec : Pass<"nnc-lower-to-exec", "::mlir::ModuleOp"> {
  let summary = "Turn the planned function into an exec program";
  let description = [{
    The places of values are checked first, as in `nnc-verify-memory`, since a
    person may have edited them. Values, layers and weights keep the model's
    names as far as C allows. Calls with the same routine, parameters, shape and
    epilogue share one function of the emitted code.

    ```mlir
    %0 = nn.layer "relu" extras(%x : tensor<4xf32>) -> tensor<4xf32>
        attributes {exec.place = #exec.place<output at 0>, routine = "elementwise_portable", ...}
    return %0 : tensor<4xf32>
    ```
    ==>
    ```mlir
    %x = exec.input "x" : tensor<4xf32>
    %y = exec.output "y" : tensor<4xf32>
    exec.call "relu" elementwise_portable of "runtime/routines/elementwise/elementwise.h"
        inputs(%x) outputs(%y) shape <rank = 1, dims = [4], strides = [[1]]> pointwise ...
    ```
  }];
  let dependentDialects = ["::nnc::exec::ExecDialect"];
}

def ShareCode : Pass<"nnc-share-code", "::mlir::ModuleOp"> {
  let summary = "Let calls that differ in their sizes share one function";
  let description = [{
    Calls of one routine with the same parameters, element types and expression,
    but with different shapes, become `sized`: one function computes them, and
    gets the sizes in which they differ as an argument. That takes fewer bytes
    of code but more time, since the bounds of the function's loops are not
    constants. `optimize` says how much time a byte is worth. The sizes of
    routines' code come from runtime/routines/costs/code.inc; with `size`, calls
    of routines that this table does not list share functions, too. Nothing
    changes if the target has an operating system, or with `speed`.

    On a GPU, whatever `optimize` is, kernels on blocks of threads share code if
    their windows are the same: nvcc takes long to compile each of them, and only
    windows are worth constant bounds.

    ```mlir
    exec.call "conv1" conv2d_f32_nhwc_fpu <INLINE = 0> ... shape <n = 1, c = 8, ...>
    exec.call "conv2" conv2d_f32_nhwc_fpu <INLINE = 0> ... shape <n = 1, c = 16, ...>
    ```
    ==>
    ```mlir
    exec.call "conv1" conv2d_f32_nhwc_fpu <INLINE = 0> ... shape <n = 1, c = 8, ...>
        sized ["n", "c"]
    exec.call "conv2" conv2d_f32_nhwc_fpu <INLINE = 0> ... shape <n = 1, c = 16, ...>
        like "conv1" sized ["n", "c"]
    ```
  }];
  let options = [
    Option<"optimize", "optimize", "::nnc::Optimize",
           /*default=*/"::nnc::Optimize::balance",
           "what counts where routines' bytes of code are known",
           [{::llvm::cl::values(
             clEnumValN(::nnc::Optimize::size, "size", "few bytes of code"),
             clEnumValN(::nnc::Optimize::balance, "balance", "both"),
             clEnumValN(::nnc::Optimize::speed, "speed", "little time"))}]>,
  ];
  let dependentDialects = ["::nnc::exec::ExecDialect"];
}

def Generalize : Pass<"nnc-generalize", "::mlir::ModuleOp"> {
  let summary = "Merge the programs of several sizes into one for all sizes";
  let description = [{
    The module holds the programs of a network at several sizes (`nn.sample`). A
    single program replaces them: numbers that differ between them become
    expressions of the sizes. The pass fails if the programs differ in more than
    numbers, if a routine does not apply to one of the sizes within the bounds,
    or if it then needs more scratch memory for `threads` threads than it has.

    ```mlir
    module { exec.program ... exec.call "fc" ... shape <m = 8, ...> }
    nn.sample at [7] { builtin.module { exec.program ... exec.call "fc" ... shape <m = 7, ...> } }
    ==>
    exec.program ... exec.call "fc" ... shape <m = 8, ...> varying {m = affine_map<()[s0] -> (s0)>}
    ```
  }];
  let options = [
    Option<"threads", "threads", "int", /*default=*/"1",
           "as of nnc-plan-memory">,
  ];
  let dependentDialects = ["::nnc::nn::NnDialect", "::nnc::exec::ExecDialect"];
}

def ForEachShape : Pass<"nnc-for-each-shape", "::mlir::ModuleOp"> {
  let summary = "Run other passes on the module of each shape";
  let description = [{
    The module holds a module for each shape of the inputs. Pipeline number i of
    `passes` runs on module number i. Limits of memory may ask for other routines
    or for strips at some shapes only; if all shapes have the same passes, a
    nested pipeline runs them.

    ```
    nnc-for-each-shape{passes=builtin.module(nnc-choose-routines{max-ram=65536}),
                              builtin.module(nnc-choose-routines)}
    ```

    ```mlir
    module { module { nn.layer ... }                  module { nn.layer ... } }
    ==>
    module { module { nn.layer ... routine "a" ... }  module { nn.layer ... routine "b" ... } }
    ```
  }];
  let options = [
    ListOption<"passes", "passes", "::mlir::OpPassManager",
               "a pipeline for each module, such as builtin.module(nnc-form-layers)">,
  ];
}

def JoinShapes : Pass<"nnc-join-shapes", "::mlir::ModuleOp"> {
  let summary = "Put the programs of several shapes into one module";
  let description = [{
    The module holds a module for each shape of the inputs, with one program each,
    and becomes one with all these programs. The first keeps its name; others get
    it with a number.

    ```mlir
    module { module { exec.program @net ... } module { exec.program @net ... } }
    ==>
    module { exec.program @net ...  exec.program @net_2 ... }
    ```
  }];
  let dependentDialects = ["::nnc::exec::ExecDialect"];
}

def EncodeWeights : Pass<"nnc-encode-weights", "::mlir::ModuleOp"> {
  let summary = "Compute the bytes of every weight of an exec program";
  let description = [{
    Before the pass, each `exec.weight` holds the elements of a constant; after
    it, the bytes that codegen writes: packed in the order of the weight's
    layout, with zeros as padding, and encoded if the layout has an encoding
    (`#nn.encoding`). Codegen accepts only encoded weights and decides nothing
    about them. A row-major weight in a resource keeps that resource; other
    weights get a resource with their name. Weights that are encoded already
    stay as they are.

    Weights are encoded one after the other. With `release`, the model's copy of
    a weight is freed as soon as no other weight of the module needs it, so that
    the weights are in memory hardly more than once. In that case nothing else
    in the context, such as another module, may use them.

    ```mlir
    %w = exec.weight "w" at 0 = dense<1.0> : tensor<2x2xf32>
        : tensor<2x2xf32, #nn.layout<NK2n>>
    ```
    ==>
    ```mlir
    %w = exec.weight "w" at 0 = encoded dense<[0, 0, -128, 63, ...]> : tensor<16xi8>
        : tensor<2x2xf32, #nn.layout<NK2n>>
    ```
  }];
  let options = [
    Option<"release", "release", "bool", /*default=*/"false",
           "free the model's copy of each weight once it is encoded">,
  ];
}

def ShareWeights : Pass<"nnc-share-weights", "::mlir::ModuleOp"> {
  let summary = "Give equal weights of several programs one place";
  let description = [{
    The programs of a module read one file of weights. Weights with the same bytes
    get the same place in it, and the others places behind those of the first
    program. All weights have to be encoded. The programs behind the first name it
    as the `exec.module` that they are a part of.

    ```mlir
    exec.program @net weights 64 ... { %w = exec.weight "w" at 0 = encoded dense<...> ... }
    exec.program @net_2 weights 64 ... { %w = exec.weight "w" at 32 = encoded dense<...> ... }
    ==>
    exec.program @net weights 64 ... { %w = exec.weight "w" at 0 = ... }
    exec.program @net_2 weights 64 ... { %w = exec.weight "w" at 0 = ... }
    ```
  }];
  let dependentDialects = ["::nnc::exec::ExecDialect"];
}

#endif // NNC_COMPILER_PLAN_PASSES
