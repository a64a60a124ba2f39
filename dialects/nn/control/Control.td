//===- Control.td - Ops that run functions -----------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_CONTROL_CONTROL
#define NNC_DIALECTS_NN_CONTROL_CONTROL

include "dialects/nn/NnBase.td"
include "mlir/IR/SymbolInterfaces.td"

/// Base class of the ops that run private functions of their module. Each such
/// function is named by one op only, so that each value in it has one place in
/// memory, and uses no values but its arguments, so that passes treat it like
/// any other function.
class Nn_ControlOp<string mnemonic, list<Trait> traits = []>
    : Nn_Op<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<SymbolUserOpInterface>,
        DeclareOpInterfaceMethods<Nn_ControlOpInterface>], traits)>;

def Nn_IfOp : Nn_ControlOp<"if"> {
  let summary = "One of two functions, depending on a condition";
  let description = [{
    Runs the function `then_body` if `condition`, a tensor of one i1, is true,
    and `else_body` otherwise. `xs` are the arguments of both functions, and
    `ys` are the results of the one that runs.

    Example:
    ```mlir
    func.func @main(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
      %y = nn.if %c then @main_then else @main_else(%x)
          : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    func.func private @main_then(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = nn.relu %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func private @main_else(%x: tensor<4xf32>) -> tensor<4xf32> {
      return %x : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Nn_Tensor:$condition, Variadic<Nn_Tensor>:$xs,
    FlatSymbolRefAttr:$then_body, FlatSymbolRefAttr:$else_body);
  let results = (outs Variadic<Nn_Tensor>:$ys);
  let assemblyFormat = [{
    $condition `then` $then_body `else` $else_body `(` $xs `)` attr-dict `:`
    functional-type(operands, results)
  }];
}

def Nn_LoopOp : Nn_ControlOp<"loop", [AttrSizedOperandSegments]> {
  let summary = "A function that runs several times";
  let description = [{
    Runs the function `body` at most `max` times, and at most `count` times if
    that operand, a tensor of one i64, is given. Carried values, whose first
    values are `inits`, pass from one run to the next. In a `conditional` loop
    the first carried value is a tensor of one i1, and the loop ends before a
    run for which it is false.

    The arguments of `body` are the number of the run, `tensor<i64>`, from 0 on;
    the carried values; and `xs`, which are the same in every run. Its results
    are the carried values of the next run, with unchanged types, followed by
    values that are collected over all runs.

    The results of the loop are the last carried values, or `inits` if the body
    does not run at all, followed by one tensor for each collected value. Its
    first axis, of size `max`, counts the runs; slices of runs that did not take
    place are undefined.

    Example:
    ```mlir
    func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32>)
        -> (tensor<4xf32>, tensor<3x4xf32>) {
      %y:2 = nn.loop @main_body max 3 carry(%x) with(%w)
          : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>)
      return %y#0, %y#1 : tensor<4xf32>, tensor<3x4xf32>
    }
    func.func private @main_body(%i: tensor<i64>, %x: tensor<4xf32>, %w: tensor<4xf32>)
        -> (tensor<4xf32>, tensor<4xf32>) {
      %0 = nn.mul %x, %w : tensor<4xf32>, tensor<4xf32>
      return %0, %x : tensor<4xf32>, tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Optional<Nn_Tensor>:$count, Variadic<Nn_Tensor>:$inits,
    Variadic<Nn_Tensor>:$xs, FlatSymbolRefAttr:$body, I64Attr:$max,
    UnitAttr:$conditional);
  let results = (outs Variadic<Nn_Tensor>:$ys);
  let assemblyFormat = [{
    $body `max` $max (`count` `(` $count^ `)`)? (`conditional` $conditional^)?
    (`carry` `(` $inits^ `)`)? (`with` `(` $xs^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the results that hold the last values of the carried values.
    ::mlir::ResultRange getLast() {
      return getYs().take_front(getInits().size());
    }
    /// Returns the results that hold a value of every run.
    ::mlir::ResultRange getCollected() {
      return getYs().drop_front(getInits().size());
    }
    /// Returns the number of the body's first argument that is one of `xs`.
    unsigned getFirstCaptured() { return 1 + getInits().size(); }
  }];
}

def Nn_SampleOp : Op<Nn_Dialect, "sample", [
    IsolatedFromAbove, NoRegionArguments, NoTerminator, SingleBlock]> {
  let summary = "A network that was imported at other sizes";
  let description = [{
    The network imported once more, at the sizes `point`, one number for each of
    the module's `nn.sizes`, in order. A network whose sizes the caller chooses
    at run time, within bounds, is compiled as a module that holds a nested
    module, the network at the largest sizes, and one `nn.sample` for each
    further import (`compiler/sizes/SizedNetwork.h`). All are compiled alike,
    and `nnc-generalize` merges their programs into one.

    Example:
    ```mlir
    module attributes {nn.sizes = [#exec.size<name = "rows", low = 1, high = 8, step = 1>]} {
      module {
        func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
          return %x : tensor<8x4xf32>
        }
      }
      nn.sample at [7] {
        builtin.module {
          func.func @main(%x: tensor<7x4xf32>) -> tensor<7x4xf32> {
            return %x : tensor<7x4xf32>
          }
        }
      }
    }
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$point);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`at` $point attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the network at these sizes.
    ::mlir::ModuleOp getNetwork();
  }];
}

#endif // NNC_DIALECTS_NN_CONTROL_CONTROL
