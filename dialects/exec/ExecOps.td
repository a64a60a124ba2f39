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

/// A list of steps: a program, or one that runs only sometimes or repeatedly.
def Exec_InSteps : ParentOneOf<["ProgramOp", "BranchOp", "LoopOp"]>;

def Exec_Tensor : TypeAttrBase<"::mlir::RankedTensorType", "a ranked tensor"> {
  let constBuilderCall = "::mlir::TypeAttr::get($0)";
}

/// Base of the ops that define a place; `form` is the assembly format between
/// its name and its type.
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
  let summary = "A model: places in memory, and calls in the order they run";
  let description = [{
    `arena` is the working memory in bytes that a caller provides, aligned to
    `align`; `lower_bound` is a size below which no plan can go: that of the
    largest set of values that are alive at the same time. `weights` is the size
    in bytes of all weights. `flags` are the compiler flags that the routines'
    ISA needs, and `features` what a CPU must have for code built so. With
    `memories`, the caller provides the arena in one part for each of these, and
    each place in the arena names its memory; `arena` is then the sum of all
    parts. The same holds for `weight_memories`, the places of weights and
    `weights`. `headers` of runtime/ come before those of the calls' routines:
    the vectors that these are written for, and the functions of the
    expressions. `model` and `sha256` say which file the program was made from.
    `sizes` are the sizes that the caller chooses for each run or that the
    program computes, within bounds; those of the caller come first. All places
    and the types of their tensors are for the largest ones.

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
    DefaultValuedAttr<StrArrayAttr, "{}">:$headers,
    DefaultValuedAttr<Exec_Memories, "{}">:$memories,
    DefaultValuedAttr<Exec_Memories, "{}">:$weight_memories,
    DefaultValuedAttr<StrAttr, "\"\"">:$model,
    DefaultValuedAttr<StrAttr, "\"\"">:$sha256,
    DefaultValuedAttr<Exec_Sizes, "{}">:$sizes);
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
    `model_name` is the input's name in the model where that is not `name`. An
    input with an `offset` lies there in the arena, and is overwritten when it
    is not needed any more.

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
    Calls may use it as they use a buffer before the result is written. An
    output with an `offset` lies there in the arena. One that `tells` a size is
    an i32: the value of that size that the program has computed.

    Examples: `%y = exec.output "prob" : tensor<1x1000xf32>`,
    `%y = exec.output "prob" at 0 : tensor<1x1000xf32>`.
  }];
}

def Exec_StateOp : Exec_PlaceOp<"state",
    (ins OptionalAttr<StrAttr>:$model_name, OptionalAttr<ElementsAttr>:$initial),
    "(`of` $model_name^)? (`=` $initial^)?", 1> {
  let summary = "State that the caller keeps between runs, row-major";
  let description = [{
    Holds the value of the last run when a run begins, and that of this run when
    it ends. `initial` is the value before the first run; without it, all
    elements are zero.

    Examples: `%h = exec.state "h" : tensor<1x20xf32>`,
    `%c = exec.state "c" = dense<-1> : tensor<4xi8> : tensor<4xi8>`.
  }];
}

def Exec_WeightOp : Exec_PlaceOp<"weight",
    (ins I64Attr:$offset, ElementsAttr:$value, UnitAttr:$encoded,
         OptionalAttr<StrAttr>:$memory),
    "(`in` $memory^)? `at` $offset `=` (`encoded` $encoded^)? $value", 0> {
  let summary = "A tensor known when the program is printed";
  let description = [{
    Lies `offset` bytes from the start of the weights, or of those in `memory`.
    `value` holds the
    elements, row-major whatever the layout, until `nnc-encode-weights` makes it
    `encoded`: then it holds the bytes that the compiled model stores, padding
    included. The bytes from there up to the next multiple of the program's
    `align` are zero and belong to the weight: routines read whole vectors.

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
  let summary = "A place in the arena, `offset` bytes from its start";
  let description = [{
    Buffers overlap where what they hold is not needed at the same time. In a
    program with several memories, `offset` counts from the start of `memory`.

    Examples: `%b = exec.buffer "conv1_out" at 4096 : tensor<1x8x4x4xf32>`,
    `%b = exec.buffer "conv1_out" in "dtcm" at 0 : tensor<1x8x4x4xf32>`.
  }];
}

def Exec_ViewOp : Exec_PlaceOp<"view", (ins Exec_Place:$base, I64Attr:$offset),
    "`of` $base `at` $offset", 0> {
  let summary = "Part of another place, or the same under another shape";
  let description = [{
    `offset` is in bytes from the start of `base`. May be written if `base` may.

    Example: `%v = exec.view "flat" of %b at 0 : tensor<1x128xf32>`.
  }];
  // isWritable() depends on the base: it is written out in Exec.cpp.
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
    Calls `routine` of `header` with its `params`, its template arguments by
    name, on a shape. It reads `inputs`
    and writes `outputs`, with `scratch`, bytes, as working memory. `expression` is
    arithmetic on scalars, and what it yields is stored. Without `pointwise` it
    is the routine's epilogue: its first argument is the element that the
    routine computed, the others are elements of `extras`, each read as its kind
    says. With `pointwise` the routine does nothing but apply it, and its
    arguments are elements of the inputs. `form` says what its code computes
    with. A routine may have code of its own for an expression that `requantizes`
    sums: an `nn.requantize` that rounds twice to i8, of the sum of the first two
    arguments by the third and the fourth.

    A call runs `on` a device, or on the host if it names none, and all its places
    are on that device. The calls of a device run in their order, beside those of
    the host; `exec.wait` waits for them.

    `name` is the layer's; `what` says in words what it computes, and the attributes
    of `dialects/nn/description/Description.h` say it in parts; `work` counts
    its operations, `multiply_adds` those of them that come in such pairs. One
    thread computes a `serial` call, however many there are. A call that is `like`
    an earlier one has the same routine, parameters, shape, element types,
    expression and kinds: its code is printed once. With `sized`, names of fields of
    the shape, this code gets these as an argument, and calls that are like it may
    have other values of them; they name the same fields, all integers of 16 bits.

    In a program with `sizes`, `varying` holds what depends on these: for each
    such field an affine map whose symbols are the sizes, with a result for the
    field, for each entry of a list, or for each entry of all its rows. `shape`
    holds the values for the largest sizes. `sized` names all fields of `varying`.

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
    DefaultValuedAttr<I64Attr, "0">:$work, OptionalAttr<StrAttr>:$device);
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
    /// Returns true if the call stores the routine's results unchanged.
    bool hasEmptyExpression();
    /// Returns the widest form that the code of the expression can have in a
    /// program with or without the vectors of runtime/simd/bytes.h.
    ::nnc::exec::ExpressionForm findForm(bool withVectors);
    /// Returns the requantization of sums that is the expression, as
    /// `requantizes` describes it, or null.
    ::nnc::nn::RequantizeOp findRequantization();
    /// Returns true if both calls can share one function of the emitted code.
    bool isLike(CallOp other);
    /// Returns true if they can where shapes may differ.
    bool isLikeButForShape(CallOp other);
    /// Returns the entries of `field` as expressions of the program's sizes, or
    /// null if they are constants.
    ::mlir::AffineMap getVaryingField(::llvm::StringRef field);
    /// Returns true if `field` of the shape is an argument of the function.
    bool isSizedBy(::llvm::StringRef field);
  }];
}

def Exec_CustomOp : Exec_Op<"custom", [
    Exec_InSteps, AttrSizedOperandSegments]> {
  let summary = "One call of a C function of the user";
  let description = [{
    Calls `function`, which the file `header` declares, for an operator of the
    model, `operator_name`. `reads` and `writes` describe its operands and
    results, and `options` and `model_attributes` say what the model says of it, as in
    `nn.custom`. All results are in `output`. The function works in `scratch`,
    bytes. `id` tells which `nn.custom` it was.

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
    With `by_run`, the target consists of one part of the source's size for each
    run of the loop that the copy is in, and the run's own part is written.

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
    One of the two places is the host's. The transfer runs in the order of the
    calls of the other device, and the host continues at once: its accesses of
    the memory must follow an `exec.wait` for that device.

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
    Example: `exec.wait "gpu"`.
  }];
  let arguments = (ins StrAttr:$device);
  let assemblyFormat = "$device attr-dict";
}

def Exec_MeasureOp : Exec_Op<"measure", [HasParent<"ProgramOp">]> {
  let summary = "Sets a size of the program to a number that it has computed";
  let description = [{
    `size` names one of the program's sizes that are found, and `count` is the
    place of an i32. Everything that depends on the size follows the op. If the
    number is out of the size's bounds, the program ends with an error.

    Example: `exec.measure "boxes" %count`.
  }];
  let arguments = (ins StrAttr:$size, Exec_Place:$count);
  let assemblyFormat = "$size $count attr-dict";
}

def Exec_BranchOp : Exec_Op<"branch", [
    Exec_InSteps, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "Steps that run if a condition holds, and steps that run otherwise";
  let description = [{
    `condition` is the place of one bool. The regions hold calls, copies,
    branches and loops; all places are defined by the program.

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
    Runs `steps` at most `max` times, and at most as often as the i64 in `count`
    if that is given; `condition`, the place of one bool, is read before each
    run, and ends the loop where it is false. Before each run its number, from 0
    on, is written to `counter`, the place of one i64, if that is there. In a
    program with `sizes`, `varying_max` may be a map from these to the largest
    number of runs; `max` is then that for the largest sizes.

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
  let summary = "The value that a call's expression stores";
  let description = [{Example: `exec.yield %0 : f32`.}];
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // NNC_DIALECTS_EXEC_OPS
