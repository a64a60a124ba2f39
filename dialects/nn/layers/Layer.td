//===- Layer.td - Layers and their regions -----------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_LAYERS_LAYER
#define NNC_DIALECTS_NN_LAYERS_LAYER

include "dialects/nn/NnBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Nn_LayerOp : Nn_Op<"layer", [
    AttrSizedOperandSegments, IsolatedFromAbove,
    DeclareOpInterfaceMethods<Nn_CostOpInterface>]> {
  let summary = "SoftNeuro's layer: an anchor, its epilogue and, once chosen, a routine";
  let description = [{
    The unit of work that a routine computes: an anchor, such as a convolution,
    and elementwise arithmetic on its result. `name` is derived from the model's
    names.

    The region `anchor` holds the single op that is computed from `inputs`, on
    row-major types; it is empty in an elementwise layer, which has no inputs.
    The region `epilogue` is an expression on scalars, whose value is an element
    of the result: its first argument is the element of the anchor's result, and
    the others are elements of `extras`, broadcast as in NumPy. An elementwise
    layer has `extras` alone. Literals are `arith.constant`.

    The types of operands and result hold their layouts; extras are row-major or
    in the result's layout. `routine` is the name of a routine of the catalogue
    (`runtime/routines/catalogue/routines.inc`), and `params` are its template
    parameters; `nnc-choose-routines` sets both.

    Example:
    ```mlir
    %y = nn.layer "conv1" inputs(%x, %w : tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>)
        extras(%b : tensor<1x8x1x1xf32>) -> tensor<1x8x4x4xf32>
    anchor {
    ^bb0(%ax: tensor<1x8x4x4xf32>, %aw: tensor<8x8x1x1xf32>):
      %0 = nn.conv %ax, %aw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
          pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64}
          : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
      nn.yield %0 : tensor<1x8x4x4xf32>
    } epilogue {
    ^bb0(%e: f32, %eb: f32):
      %0 = nn.add %e, %eb : f32, f32
      %1 = nn.relu %0 : f32
      nn.yield %1 : f32
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<Nn_Tensor>:$inputs,
    Variadic<Nn_Tensor>:$extras, OptionalAttr<StrAttr>:$routine,
    OptionalAttr<DenseI64ArrayAttr>:$params);
  let results = (outs Nn_Tensor:$y);
  let regions = (region MaxSizedRegion<1>:$anchor, SizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    $name (`inputs` `(` $inputs^ `:` type($inputs) `)`)?
    (`extras` `(` $extras^ `:` type($extras) `)`)? `->` type($y)
    attr-dict-with-keyword
    (`anchor` $anchor^)? `epilogue` $epilogue
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the anchor op, or null for an elementwise layer.
    ::mlir::Operation *getAnchorOp();
    /// Returns true if the epilogue yields the anchor's element unchanged.
    bool hasEmptyEpilogue();
    /// Returns the calls, in order, that compute the layer: those of the
    /// anchor's family, or for an elementwise layer the one of the elementwise
    /// family, with the strides of the physical shapes. The list is empty if no
    /// routine can compute the anchor in these layouts.
    ::llvm::SmallVector<::nnc::nn::RoutineCall> getRoutineCalls();
    /// Like getRoutineCalls, but as if the operands (inputs, then extras) and
    /// the result had these types.
    ::llvm::SmallVector<::nnc::nn::RoutineCall>
    getRoutineCallsOn(::llvm::ArrayRef<::mlir::RankedTensorType> operands,
                      ::mlir::RankedTensorType result);
    /// Returns the axis along which operands of the epilogue may hold one value
    /// per channel, or nullopt.
    ::std::optional<int64_t> getChannelAxis();
    /// Returns how extra `i` broadcasts to the result.
    ::nnc::nn::ExtraKind getExtraKind(unsigned i);
  }];
}

def Nn_YieldOp : Nn_Op<"yield", [Terminator, ReturnLike, ParentOneOf<["LayerOp"]>]> {
  let summary = "Terminator of a region of nn.layer, with the region's value";
  let description = [{Example: `nn.yield %0 : f32`.}];
  let arguments = (ins Nn_ScalarOrTensor:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // NNC_DIALECTS_NN_LAYERS_LAYER
