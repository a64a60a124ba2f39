//===- ExecOps.td - The ops that codegen prints -------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Names are C identifiers, each given once in a program: the printer writes
// them as they are.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_EXEC_OPS
#define NNC_DIALECTS_EXEC_OPS

include "dialects/exec/ExecDialect.td"
include "dialects/exec/ExecInterfaces.td"
include "dialects/nn/NnDialect.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Exec_Op<string mnemonic, list<Trait> traits = []>
    : Op<Exec_Dialect, mnemonic, traits>;

/// Constraint on the parent of a step: a program, or a branch or loop in it.
def Exec_InSteps : ParentOneOf<["ProgramOp", "BranchOp", "LoopOp"]>;

def Exec_Tensor : TypeAttrBase<"::mlir::RankedTensorType", "a ranked tensor"> {
  let constBuilderCall = "::mlir::TypeAttr::get($0)";
}

/// Base class of the ops that define a place. `more` are the attributes and
/// operands besides its name and its tensor's type, `form` is the assembly
/// format between these two, and `writable` is 1 if calls may write to the
/// place.
class Exec_PlaceOp<string mnemonic, dag more, string form, bit writable,
                   list<Trait> traits = []>
    : Exec_Op<mnemonic, !listconcat([HasParent<"ProgramOp">,
        DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
        DeclareOpInterfaceMethods<Exec_PlaceOpInterface>], traits)> {
  let arguments = !con((ins StrAttr:$name, Exec_Tensor:$tensor), more);
  let results = (outs Exec_Place:$place);
  let assemblyFormat = "$name " # form # " `:` $tensor attr-dict";
  let extraClassDefinition = [{
    void $cppClass::getAsmResultNames(
        ::llvm::function_ref<void(::mlir::Value, ::llvm::StringRef)> setName) {
      setName(getPlace(), getName());
    }
    bool $cppClass::isWritable() { return }] # writable # [{; }
  }];
}

def Exec_ProgramOp : Exec_Op<"program", [
    IsolatedFromAbove, NoRegionArguments, NoTerminator, SingleBlock, Symbol]> {
  let summary = "A model: places in memory, and the steps of a run in order";
  let description = [{
    A whole model, from which `codegen` prints a module. The body defines places
    and holds the steps of a run: calls, copies, branches, loops.

    - `arena`: the size in bytes of the working memory that the caller provides,
      aligned to `align` bytes. `lower_bound` is the size of the largest set of
      values that are alive at the same time, below which no plan can go.
    - `weights`: the size of all weights in bytes.
    - `memories`: if given, the caller provides one part of the arena in each of
      these memories, each place in the arena names its memory, and `arena` is
      the sum of all parts. `weight_memories` is the same for weights.
    - `target`: the name of the target. `flags` are the compiler flags that the
      instruction sets of the routines need, and `features` the features, by
      LLVM's names, that a CPU must have to run code built with them.
    - `architectures`: the GPU architectures, by nvcc's names, for which the
      program is printed as CUDA; empty for a program that a CPU runs. All
      places of a CUDA program are in the GPU's memory.
    - `host_ports`: whether the caller of a CUDA program passes inputs and
      outputs in the CPU's memory. All of them then have an offset in the arena.
      A run copies the inputs there before its steps, and the outputs from
      there after them.
    - `headers`: headers of runtime/ that are included in front of those of the
      routines: the vectors that these are written for, and the functions of the
      expressions.
    - `model` and `sha256`: the file that the program was made from.
    - `sizes`: the sizes, within bounds, that the caller chooses for each run,
      followed by those that the program computes. All places, and the types of
      their tensors, are for the largest sizes.
    - `counter_bytes`: the size of the counters of a GPU's blocks, which are the
      last bytes of the arena. A run sets them to zero before the first step
      that counts blocks, and each launch leaves them zero, so that all launches
      share them.
    - `tiles`: whether routines multiply tiles of AMX. A run then asks the
      operating system for them, ends with an error if it does not get them,
      and configures and releases them.

    Example:
    ```mlir
    exec.program @tiny arena 64 lower_bound 64 align 64 weights 64 {
      %x = exec.input "x" : tensor<1x4xf32>
      %y = exec.output "y" : tensor<1x4xf32>
      exec.copy "copy_x" %x to %y
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$arena,
    I64Attr:$lower_bound, I64Attr:$align, I64Attr:$weights,
    DefaultValuedAttr<StrAttr, "\"portable\"">:$target,
    DefaultValuedAttr<StrArrayAttr, "{}">:$flags,
    DefaultValuedAttr<StrArrayAttr, "{}">:$features,
    DefaultValuedAttr<StrArrayAttr, "{}">:$architectures,
    UnitAttr:$host_ports,
    DefaultValuedAttr<StrArrayAttr, "{}">:$headers,
    DefaultValuedAttr<Exec_Memories, "{}">:$memories,
    DefaultValuedAttr<Exec_Memories, "{}">:$weight_memories,
    DefaultValuedAttr<StrAttr, "\"\"">:$model,
    DefaultValuedAttr<StrAttr, "\"\"">:$sha256,
    DefaultValuedAttr<Exec_Sizes, "{}">:$sizes,
    DefaultValuedAttr<I64Attr, "0">:$counter_bytes,
    UnitAttr:$tiles);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `arena` $arena `lower_bound` $lower_bound `align` $align
    `weights` $weights attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}

def Exec_InputOp : Exec_PlaceOp<"input",
    (ins OptionalAttr<StrAttr>:$model_name, OptionalAttr<I64Attr>:$offset,
         OptionalAttr<StrAttr>:$memory),
    "(`of` $model_name^)? (`in` $memory^)? (`at` $offset^)?", 0> {
  let summary = "An input of the model in memory of the caller, row-major, read in place";
  let description = [{
    The place of an input, which calls read and do not write. `model_name` is
    the input's name in the model if that is not `name`. An input with an
    `offset` lies that many bytes from the start of the arena, or of its part in
    `memory`; other values overwrite it after its last use.

    Examples: `%x = exec.input "x_0" of "x.0" : tensor<1x4xf32>`,
    `%x = exec.input "x" at 128 : tensor<1x4xf32>`,
    `%x = exec.input "x" in "dtcm" at 128 : tensor<1x4xf32>`.
  }];
}

def Exec_OutputOp : Exec_PlaceOp<"output",
    (ins OptionalAttr<StrAttr>:$model_name, OptionalAttr<I64Attr>:$offset,
         OptionalAttr<StrAttr>:$memory, OptionalAttr<StrAttr>:$size),
    "(`of` $model_name^)? (`tells` $size^)? (`in` $memory^)? (`at` $offset^)?", 1> {
  let summary = "The place of a result in memory of the caller, row-major";
  let description = [{
    The place of a result. Until the result is written, calls may use the place
    as a buffer. `model_name`, `memory` and `offset` are as in `exec.input`. An
    output that `tells` a size holds one i32: the value of that size, which the
    program has computed.

    Examples: `%y = exec.output "prob" : tensor<1x1000xf32>`,
    `%y = exec.output "prob" at 0 : tensor<1x1000xf32>`.
  }];
}

def Exec_StateOp : Exec_PlaceOp<"state",
    (ins OptionalAttr<StrAttr>:$model_name, OptionalAttr<ElementsAttr>:$initial),
    "(`of` $model_name^)? (`=` $initial^)?", 1> {
  let summary = "State that the caller keeps between runs, row-major";
  let description = [{
    The place of a value that passes from one run to the next. When a run begins
    it holds the value that the previous run left, or `initial` in the first
    run, where all elements are zero if that is not given. When the run ends it
    holds the value for the next one.

    Examples: `%h = exec.state "h" : tensor<1x20xf32>`,
    `%c = exec.state "c" = dense<-1> : tensor<4xi8> : tensor<4xi8>`.
  }];
}

def Exec_WeightOp : Exec_PlaceOp<"weight",
    (ins I64Attr:$offset, ElementsAttr:$value, UnitAttr:$encoded,
         OptionalAttr<StrAttr>:$memory),
    "(`in` $memory^)? `at` $offset `=` (`encoded` $encoded^)? $value", 0> {
  let summary = "A constant tensor among the weights of the program";
  let description = [{
    The place of a constant, `offset` bytes from the start of the weights, or of
    the weights in `memory`. `value` holds the elements in row-major order,
    whatever the layout, until `nnc-encode-weights` makes the weight `encoded`:
    then it holds the bytes that the compiled model stores, padding included.
    The bytes behind them, up to the next multiple of the program's `align`, are
    zero and belong to the weight, so that routines may read whole vectors.

    Example:
    ```mlir
    %w = exec.weight "w" at 0 = dense<1.0> : tensor<8x4x1x1xf32>
        : tensor<8x4x1x1xf32, #nn.layout<KCRS8k>>
    %e = exec.weight "e" at 128 = encoded dense<[0, 0, -128, 63]> : tensor<4xi8>
        : tensor<1xf32>
    ```
  }];
}

def Exec_BufferOp : Exec_PlaceOp<"buffer",
    (ins I64Attr:$offset, OptionalAttr<StrAttr>:$memory),
    "(`in` $memory^)? `at` $offset", 1> {
  let summary = "A place in the arena";
  let description = [{
    The place of an intermediate value, `offset` bytes from the start of the
    arena, or of its part in `memory`. Buffers whose values are not needed at
    the same time may overlap.

    Examples: `%b = exec.buffer "conv1_out" at 4096 : tensor<1x8x4x4xf32>`,
    `%b = exec.buffer "conv1_out" in "dtcm" at 0 : tensor<1x8x4x4xf32>`.
  }];
}

def Exec_ViewOp : Exec_PlaceOp<"view", (ins Exec_Place:$base, I64Attr:$offset),
    "`of` $base `at` $offset", 0> {
  let summary = "A part of another place, or the place with another shape";
  let description = [{
    The place that begins `offset` bytes from the start of the place `base`.
    Calls may write to it if they may write to `base`.

    Example: `%v = exec.view "flat" of %b at 0 : tensor<1x128xf32>`.
  }];
  // isWritable() depends on the base and is defined in Exec.cpp.
  let extraClassDefinition = [{
    void $cppClass::getAsmResultNames(
        ::llvm::function_ref<void(::mlir::Value, ::llvm::StringRef)> setName) {
      setName(getPlace(), getName());
    }
  }];
  let hasVerifier = 1;
}

def Exec_CallOp : Exec_Op<"call", [
    Exec_InSteps, AttrSizedOperandSegments, IsolatedFromAbove,
    SingleBlock]> {
  let summary = "One call of a routine";
  let description = [{
    A step that calls `routine`, a class template of the file `header`, for one
    layer. `params` holds its template arguments by name, and `shape` the shape
    of the call. The routine reads `inputs` and writes `outputs`, with the bytes
    of `scratch` as working memory.

    `expression` is arithmetic on scalars that yields the elements to be stored.
    Without `pointwise` it is the routine's epilogue: its first argument is the
    element that the routine computed, and the others are elements of `extras`,
    each read as its entry in `kinds` says. With `pointwise` the routine only
    applies the expression, whose arguments are elements of the inputs. `form`
    says with which values the expression's code computes. An expression that
    `requantizes` sums is an `nn.requantize` to i8 with `double_rounding`: its
    operand is the sum of the first two arguments, and its multiplier and shift
    are the third and the fourth. Routines may have special code for it.

    A call runs `on` a device, or on the host if it names none; all its places
    are on that device. The calls of another device run in their order,
    concurrently with those of the host; `exec.wait` waits for them. A `serial`
    call is computed by one thread, even if there are several.

    For comments and reports, `name` is the layer's name, `what` says in words
    what it computes, and the attributes of
    `dialects/nn/description/Description.h` say it in parts. `work` is the
    number of operations, where a multiply-add counts as two, and
    `multiply_adds` the number of multiply-adds. `launch` says how many blocks of
    a GPU's threads compute it, at the largest sizes if they vary. These blocks
    count each other with `counters` integers of 32 bits.

    A call that is `like` an earlier one has the same routine, parameters,
    shape, element types, expression and kinds, and uses that call's function in
    the emitted code. `sized` names fields of the shape that this function gets
    as arguments: calls that share it may differ in them. They name the same
    fields, whose values are all integers of 16 bits, or on a GPU of 32 bits.

    In a program with `sizes`, `varying` has an affine map for each field of the
    shape that depends on them. The symbols of the map are the sizes, and its
    results are the field, the entries of the list, or the entries of all rows
    of the list of lists. `shape` holds the values for the largest sizes.
    `sized` names all fields of `varying`.

    Example:
    ```mlir
    exec.call "conv1" conv2d_f32_portable of "runtime/routines/convolution/conv2d/portable.h"
        inputs(%x, %w) extras(channel %b) outputs(%y)
        shape <n = 1, c = 4, h = 4, w = 4, k = 8, kh = 1, kw = 1, sh = 1, sw = 1,
               dh = 1, dw = 1, pt = 0, pl = 0, oh = 4, ow = 4, groups = 1>
        attributes {what = "1 x 1 convolution", multiply_adds = 512 : i64, work = 1280 : i64} {
    ^bb0(%v: f32, %bias: f32):
      %0 = nn.add %v, %bias : f32, f32
      exec.yield %0 : f32
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, StrAttr:$routine, StrAttr:$header,
    Nn_ShapeAttr:$params, Variadic<Exec_Place>:$inputs, Variadic<Exec_Place>:$extras,
    Variadic<Exec_Place>:$outputs, Optional<Exec_Place>:$scratch,
    DefaultValuedAttr<Exec_OperandKinds, "{}">:$kinds, Nn_ShapeAttr:$shape, UnitAttr:$pointwise,
    OptionalAttr<StrAttr>:$like, OptionalAttr<StrArrayAttr>:$sized,
    OptionalAttr<DictionaryAttr>:$varying, UnitAttr:$serial,
    DefaultValuedAttr<Exec_ExpressionFormAttr,
        "::nnc::exec::ExpressionForm::scalars">:$form,
    UnitAttr:$requantizes,
    DefaultValuedAttr<StrAttr, "\"\"">:$what,
    DefaultValuedAttr<I64Attr, "0">:$multiply_adds,
    DefaultValuedAttr<I64Attr, "0">:$work, DefaultValuedAttr<StrAttr, "\"\"">:$launch,
    DefaultValuedAttr<I64Attr, "0">:$counters, OptionalAttr<StrAttr>:$device);
  let regions = (region AnyRegion:$expression);
  let assemblyFormat = [{
    $name custom<Routine>($routine, $params) `of` $header (`on` $device^)?
    (`inputs` `(` $inputs^ `)`)?
    (`extras` `(` custom<Extras>($extras, $kinds)^ `)`)?
    `outputs` `(` $outputs `)` (`scratch` `(` $scratch^ `)`)?
    `shape` $shape (`like` $like^)? (`pointwise` $pointwise^)?
    (`sized` $sized^)? (`varying` $varying^)? (`serial` $serial^)?
    attr-dict-with-keyword ($expression^)?
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns true if the call stores the elements that the routine computes
    /// unchanged.
    bool hasEmptyExpression();
    /// Returns the widest form that the code of the expression can have in a
    /// program with or without the vectors of runtime/simd/bytes.h.
    ::nnc::exec::ExpressionForm findForm(bool withVectors);
    /// Returns the requantization of sums that is the expression, as
    /// `requantizes` describes it, or null.
    ::nnc::nn::RequantizeOp findRequantization();
    /// Returns true if both calls can share one function of the emitted code.
    bool isLike(CallOp other);
    /// Returns true if both calls could share one function if all fields in
    /// which their shapes differ were its arguments.
    bool isLikeButForShape(CallOp other);
    /// Returns the map of `varying` that gives the field `field` of the shape
    /// for the program's sizes, or null if the field does not depend on them.
    ::mlir::AffineMap getVaryingField(::llvm::StringRef field);
    /// Returns true if `sized` names the field `field` of the shape.
    bool isSizedBy(::llvm::StringRef field);
  }];
}

def Exec_CustomOp : Exec_Op<"custom", [
    Exec_InSteps, AttrSizedOperandSegments]> {
  let summary = "One call of a C function of the user";
  let description = [{
    A step that calls the user's C function `function`, which the file `header`
    declares, for the model's operator `operator_name`. `inputs` are the places
    of the operands, and all results are in the place `output`, one behind the
    other. `reads`, `writes`, `options` and `model_attributes` are as in
    `nn.custom`. The function works in the bytes of `scratch`. `id` is that of
    the `nn.custom` from which the op was made.

    Example:
    ```mlir
    exec.custom "rev" "reverse" of "reverse.h" inputs(%x) output(%y)
        {operator_name = "Reverse",
         reads = [#nn.described<tensor<4xf32>, scales = [], zero_points = [], axis = -1>],
         writes = [#nn.described<tensor<4xf32>, scales = [], zero_points = [], axis = -1>],
         options = array<i8>, model_attributes = {}, id = 0 : i64}
    ```
  }];
  let arguments = (ins StrAttr:$name, StrAttr:$function, StrAttr:$header,
    StrAttr:$operator_name, Variadic<Exec_Place>:$inputs, Exec_Place:$output,
    Optional<Exec_Place>:$scratch, ArrayAttr:$reads, ArrayAttr:$writes,
    DenseI8ArrayAttr:$options, DictionaryAttr:$model_attributes, I64Attr:$id);
  let assemblyFormat = [{
    $name $function `of` $header (`inputs` `(` $inputs^ `)`)?
    `output` `(` $output `)` (`scratch` `(` $scratch^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

def Exec_CopyOp : Exec_Op<"copy", [Exec_InSteps]> {
  let summary = "Copies a tensor from one place to another without changing its layout";
  let description = [{
    A step that copies the bytes of the tensor at `source` to `target`. With
    `by_run`, the target consists of parts of the source's size, one for each
    run of the loop around the copy, and the part of the current run is written.

    Examples: `exec.copy "copy_x" %x to %y`, `exec.copy "copy_h" %h to %all by_run`.
  }];
  let arguments = (ins StrAttr:$name, Exec_Place:$source, Exec_Place:$target,
    UnitAttr:$by_run);
  let assemblyFormat = "$name $source `to` $target (`by_run` $by_run^)? attr-dict";
  let hasVerifier = 1;
}

def Exec_TransferOp : Exec_Op<"transfer", [Exec_InSteps]> {
  let summary = "Copies a tensor to a place of another device without changing its layout";
  let description = [{
    A step that copies a tensor between the host and another device: one of the
    places `source` and `target` is the host's. The transfer runs in order with
    the calls of the other device, while the host continues at once. An
    `exec.wait` for that device has to stand between the transfer and a step of
    the host that accesses the places.

    Example:
    ```mlir
    exec.transfer "transfer_x" %x to %x_gpu
    ```
  }];
  let arguments = (ins StrAttr:$name, Exec_Place:$source, Exec_Place:$target);
  let assemblyFormat = "$name $source `to` $target attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the device that is not the host.
    ::llvm::StringRef getDevice();
  }];
}

def Exec_WaitOp : Exec_Op<"wait", [Exec_InSteps]> {
  let summary = "Waits until a device has completed all earlier calls and transfers";
  let description = [{
    A step of the host that continues when the device `device` has completed all
    its calls and transfers in front of this op.

    Example: `exec.wait "gpu"`.
  }];
  let arguments = (ins StrAttr:$device);
  let assemblyFormat = "$device attr-dict";
}

def Exec_MeasureOp : Exec_Op<"measure", [HasParent<"ProgramOp">]> {
  let summary = "Sets a size of the program to a number that it has computed";
  let description = [{
    A step that sets the size `size`, one of the program's sizes that are
    `found`, to the i32 at the place `count`. All steps that depend on the size
    follow the op. If the number is out of the size's bounds, the run ends with
    an error.

    Example: `exec.measure "boxes" %count`.
  }];
  let arguments = (ins StrAttr:$size, Exec_Place:$count);
  let assemblyFormat = "$size $count attr-dict";
}

def Exec_BranchOp : Exec_Op<"branch", [
    Exec_InSteps, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "Steps that run if a condition holds, and steps that run otherwise";
  let description = [{
    A step that runs the steps of the first region if the bool at the place
    `condition` is true, and those of the second region otherwise. The regions
    hold calls, copies, branches and loops, and define no places.

    Example:
    ```mlir
    exec.branch "gate" on %c {
      exec.copy "copy_a" %a to %y
    } else {
      exec.copy "copy_b" %b to %y
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, Exec_Place:$condition);
  let regions = (region SizedRegion<1>:$then_steps, SizedRegion<1>:$else_steps);
  let assemblyFormat = [{
    $name `on` $condition attr-dict-with-keyword $then_steps `else` $else_steps
  }];
  let hasVerifier = 1;
}

def Exec_LoopOp : Exec_Op<"loop", [
    Exec_InSteps, AttrSizedOperandSegments, NoTerminator, SingleBlock,
    NoRegionArguments]> {
  let summary = "Steps that run several times";
  let description = [{
    A step that runs `steps` repeatedly: at most `max` times and, if the place
    `count` is given, at most as often as the i64 there says. If the place
    `condition` is given, the bool there is read before each run, and false ends
    the loop. If the place `counter` is given, the number of the run, from 0 on,
    is written there as an i64 before each run. In a program with `sizes`,
    `varying_max` may be an affine map from the sizes to the largest number of
    runs; `max` is then the number for the largest sizes.

    Example:
    ```mlir
    exec.loop "decode" max 10 while %go counter %i {
      exec.copy "next_h" %h_next to %h
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$max, Optional<Exec_Place>:$count,
    Optional<Exec_Place>:$condition, Optional<Exec_Place>:$counter,
    OptionalAttr<AffineMapAttr>:$varying_max);
  let regions = (region SizedRegion<1>:$steps);
  let assemblyFormat = [{
    $name `max` $max (`count` $count^)? (`while` $condition^)?
    (`counter` $counter^)? attr-dict-with-keyword $steps
  }];
  let hasVerifier = 1;
}

def Exec_YieldOp : Exec_Op<"yield", [
    Pure, Terminator, ReturnLike, HasParent<"CallOp">]> {
  let summary = "Terminator of an expression, with the element to store";
  let description = [{Example: `exec.yield %0 : f32`.}];
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // NNC_DIALECTS_EXEC_OPS
