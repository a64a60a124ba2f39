//===- NnInterfaces.td - What passes may ask of an op -------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_INTERFACES
#define NNC_DIALECTS_NN_INTERFACES

include "mlir/IR/OpBase.td"

def Nn_ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::nnc::nn";
  let description = [{
    An op that computes each element of its result from one element of each
    operand (after NumPy broadcasting). The arithmetic is the template of that
    name in `runtime/simd/elementwise.h`; the same op stands for it on scalars
    inside the epilogue of an `nn.layer`.
  }];
  let methods = [
    InterfaceMethod<"Name of the function in `runtime/simd/elementwise.h`.",
      "::llvm::StringRef", "getFunction">,
    InterfaceMethod<"Constant arguments that follow the operands.",
      "::llvm::SmallVector<double>", "getScalars">,
  ];
}

def Nn_RoutineOpInterface : OpInterface<"RoutineOpInterface"> {
  let cppNamespace = "::nnc::nn";
  let description = [{
    An op that a family of routines in `runtime/routines/` computes. The
    family's portable routine is the op's reference: constant folding and
    `nnc verify` call it with the same shape fields.
  }];
  let methods = [
    InterfaceMethod<[{
        The calls, in order, that compute the op from row-major operands:
        one for most ops, one an operand for concat.
      }],
      "::llvm::SmallVector<::nnc::nn::RoutineCall>", "getRoutineCalls">,
    InterfaceMethod<[{
        Whether `getRoutineCalls` holds in every layout, because the family's
        shape is logical (convolutions, pools): the op is layout-tolerant in
        the sense of NeoCPU section 3.2. Elementwise ops are layout-oblivious;
        whatever else overrides nothing depends on row-major order.
      }],
      "bool", "isLayoutTolerant", (ins), [{}],
      /*defaultImplementation=*/[{ return false; }]>,
    InterfaceMethod<[{
        The calls that compute the op on operands and a result of the given
        types, whose layouts may be any; none where the op cannot. Families
        whose shape is logical (convolutions, pools) have the same fields in
        every layout; those that walk memory (copies) follow the physical
        dimensions.
      }],
      "::llvm::SmallVector<::nnc::nn::RoutineCall>", "getRoutineCallsOn",
      (ins "::llvm::ArrayRef<::mlir::RankedTensorType>":$inputs,
           "::mlir::RankedTensorType":$result), [{}],
      /*defaultImplementation=*/[{
        if ($_op.isLayoutTolerant() ||
            ::nnc::nn::areRowMajor(inputs, result))
          return $_op.getRoutineCalls();
        return {};
      }]>,
    InterfaceMethod<[{
        How the layout that a line of `routines.inc` gives to operand `operand`
        (the result: -1) is spelled on that tensor's own axes.
      }],
      "std::string", "spellLayout",
      (ins "::llvm::StringRef":$layout, "int64_t":$operand), [{}],
      /*defaultImplementation=*/[{
        ::mlir::Value value =
            operand < 0 ? $_op->getResult(0) : $_op->getOperand(operand);
        return ::nnc::nn::spellImageLayout(layout, value.getType());
      }]>,
    InterfaceMethod<[{
        Whether operand `operand` is rounded where the op is to compute with
        halves. One that is added to floats may stay what it is.
      }],
      "bool", "takesHalf", (ins "int64_t":$operand), [{}],
      /*defaultImplementation=*/[{ return true; }]>,
    InterfaceMethod<[{
        The result axis that an epilogue operand of one value a channel may
        run along (1 for convolutions, the last for matrix products), or none.
      }],
      "::std::optional<int64_t>", "getChannelAxis", (ins), [{}],
      /*defaultImplementation=*/[{ return std::nullopt; }]>,
    InterfaceMethod<"Whether an elementwise epilogue may be fused into it.",
      "bool", "takesEpilogue", (ins), [{}],
      /*defaultImplementation=*/[{ return $_op.getChannelAxis().has_value(); }]>,
  ];
}

def Nn_CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::nnc::nn";
  let description = [{
    Work and bytes, the input of the cost estimate.
  }];
  let methods = [
    InterfaceMethod<"Multiply-adds and other operations on logical shapes.",
      "::nnc::nn::Work", "getWork">,
  ];
}

#endif // NNC_DIALECTS_NN_INTERFACES
