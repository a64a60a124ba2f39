//===- NnInterfaces.td - Interfaces of the nn ops -----------*- tablegen -*-===//
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
    operand (after NumPy broadcasting). The arithmetic is the template named by
    `getFunction` in `runtime/simd/elementwise.h`. Inside the epilogue of an
    `nn.layer`, the same op is applied to scalars.
  }];
  let methods = [
    InterfaceMethod<"Name of the function in `runtime/simd/elementwise.h`.",
      "::llvm::StringRef", "getFunction">,
    InterfaceMethod<"Constant arguments that follow the operands.",
      "::llvm::SmallVector<double>", "getScalars">,
    InterfaceMethod<[{
        Returns the functions of `runtime/simd/elementwise.h` that the op
        consists of, in order. Costs and measurements are those of these.
      }],
      "::llvm::SmallVector<::llvm::StringRef>", "getSteps", (ins), [{}],
      /*defaultImplementation=*/[{ return {$_op.getFunction()}; }]>,
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
        Returns the calls, in order, that compute the op from row-major
        operands: a single one for most ops, and one per operand for concat.
      }],
      "::llvm::SmallVector<::nnc::nn::RoutineCall>", "getRoutineCalls">,
    InterfaceMethod<[{
        Returns true if the calls of `getRoutineCalls` are the same in every
        layout, because the family's shape is logical (convolutions, pools): the
        op is layout-tolerant in the sense of NeoCPU section 3.2. Elementwise
        ops are layout-oblivious. Other ops, which do not override this method,
        need row-major order.
      }],
      "bool", "isLayoutTolerant", (ins), [{}],
      /*defaultImplementation=*/[{ return false; }]>,
    InterfaceMethod<[{
        Returns the calls that compute the op on operands and a result of the
        given types, which may have any layout; none if the op cannot be
        computed in these layouts. Families whose shape is logical
        (convolutions, pools) have the same fields in every layout; those that
        walk memory (copies) follow the physical dimensions.
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
        Returns the name, on the axes of this op's tensor, of the layout that a
        line of `routines.inc` gives to operand `operand` (-1: the result). The
        axes of a matrix, for example, are not those of an image.
      }],
      "std::string", "spellLayout",
      (ins "::llvm::StringRef":$layout, "int64_t":$operand), [{}],
      /*defaultImplementation=*/[{
        ::mlir::Value value =
            operand < 0 ? $_op->getResult(0) : $_op->getOperand(operand);
        return ::nnc::nn::spellImageLayout(layout, value.getType());
      }]>,
    InterfaceMethod<[{
        Returns true if operand `operand` is rounded to 16-bit floats when the
        op is to compute with them. An operand that is only added to floats may
        keep its type.
      }],
      "bool", "takesHalf", (ins "int64_t":$operand), [{}],
      /*defaultImplementation=*/[{ return true; }]>,
    InterfaceMethod<[{
        Makes an op that computes with 16-bit floats read operand `operand` as
        f32 and round it. The caller sets the operand's type. Returns false if
        the op always reads operands that are rounded already.
      }],
      "bool", "roundOperand", (ins "int64_t":$operand), [{}],
      /*defaultImplementation=*/[{ return false; }]>,
    InterfaceMethod<[{
        Returns the type of the sums if that is not the element type of the
        operands, or null.
      }],
      "::mlir::Type", "getAccumulatorType", (ins), [{}],
      /*defaultImplementation=*/[{ return {}; }]>,
    InterfaceMethod<[{
        Returns the axis of the result along which an epilogue operand may hold
        one value per channel (1 for convolutions, the last for matrix
        products), or nullopt.
      }],
      "::std::optional<int64_t>", "getChannelAxis", (ins), [{}],
      /*defaultImplementation=*/[{ return std::nullopt; }]>,
    InterfaceMethod<"Returns true if an elementwise epilogue may be fused in.",
      "bool", "takesEpilogue", (ins), [{}],
      /*defaultImplementation=*/[{ return $_op.getChannelAxis().has_value(); }]>,
  ];
}

def Nn_AxisOpInterface : OpInterface<"AxisOpInterface"> {
  let cppNamespace = "::nnc::nn";
  let description = [{
    An op that says how it treats the axes of its operands. Passes ask it which
    part of the operands a part of the result depends on: `nnc-stream` for the
    newest frames, `nnc-patch` for a strip of rows, `nnc-batch` for some samples
    of a batch. Ops without the interface mix all axes.

    The question is asked for an axis of the result, as operands may come
    together along it. An answer may say less than is true, since elements that
    are mixed are never divided.
  }];
  let methods = [
    InterfaceMethod<[{
        Returns how the op computes its result along axis `axis` of the result
        (`axes/AxisUse.h`).
      }],
      "::nnc::nn::AxisUse", "getAxisUse", (ins "int64_t":$axis)>,
    InterfaceMethod<[{
        Sets the attributes that hold the size of axis `axis` of the result. They
        are set after the types of operands and result have got another size on
        an axis that is apart or has elements.
      }],
      "void", "updateAxisSize", (ins "int64_t":$axis), [{}],
      /*defaultImplementation=*/[{ return; }]>,
    InterfaceMethod<[{
        Sets the number of elements of padding along axis `axis` of the result,
        which is padded or has windows.
      }],
      "void", "setAxisPadding",
      (ins "int64_t":$axis, "int64_t":$before, "int64_t":$after), [{}],
      /*defaultImplementation=*/[{
        llvm_unreachable("an op without padding is asked to set it");
      }]>,
  ];
}

def Nn_ElementwiseAxesTrait : NativeOpTrait<"ElementwiseAxes"> {
  let cppNamespace = "::nnc::nn";
}
/// The trait by which an elementwise op answers AxisOpInterface.
def Nn_ElementwiseAxes
    : TraitList<[Nn_AxisOpInterface, Nn_ElementwiseAxesTrait]>;

def Nn_CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::nnc::nn";
  let description = [{
    An op that counts its work and the bytes that it moves, from which its cost
    is estimated.
  }];
  let methods = [
    InterfaceMethod<"Returns the work of the op, counted on logical shapes.",
      "::nnc::nn::Work", "getWork">,
  ];
}

def Nn_ControlOpInterface : OpInterface<"ControlOpInterface"> {
  let cppNamespace = "::nnc::nn";
  let description = [{
    An op that runs functions of its module: nn.if, nn.loop.
  }];
  let methods = [
    InterfaceMethod<"Returns the names of the functions, in order.",
      "::llvm::SmallVector<::mlir::FlatSymbolRefAttr>", "getBodies">,
    InterfaceMethod<[{
        Returns the operands that all functions get unchanged, as their last
        arguments.
      }],
      "::mlir::OperandRange", "getCaptured">,
  ];
}

#endif // NNC_DIALECTS_NN_INTERFACES
