//===- NnBase.td - Base classes of the nn ops ---------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_BASE
#define NNC_DIALECTS_NN_BASE

include "dialects/nn/NnDialect.td"
include "dialects/nn/NnInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Nn_Op<string mnemonic, list<Trait> traits = []>
    : Op<Nn_Dialect, mnemonic, !listconcat([Pure], traits)>;

/// Base class of the ops that infer the shape and element type of their result.
/// The verifier compares both with the result's type, but not the layout, which
/// passes choose.
class Nn_InferredOp<string mnemonic, list<Trait> traits = []>
    : Nn_Op<mnemonic, !listconcat([InferTypeOpAdaptorWithIsCompatible], traits)> {
  code compatible = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange inferred,
                                            ::mlir::TypeRange actual) {
      return ::nnc::nn::haveSameLogicalTypes(inferred, actual);
    }
  }];
  let extraClassDefinition = compatible;
}

/// Base class of the ops that a family of routines (a folder of
/// runtime/routines/) computes. `methods` are the methods of
/// RoutineOpInterface with a default implementation that the op overrides.
class Nn_RoutineOp<string mnemonic, list<Trait> traits = [],
                   list<string> methods = []>
    : Nn_InferredOp<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<Nn_RoutineOpInterface, methods>,
        DeclareOpInterfaceMethods<Nn_CostOpInterface>], traits)>;

/// The trait of an op that says how it treats axes.
def Nn_Axes : DeclareOpInterfaceMethods<Nn_AxisOpInterface>;
/// The trait of an op that says how it treats axes and has padding along some.
def Nn_PaddedAxes
    : DeclareOpInterfaceMethods<Nn_AxisOpInterface, ["setAxisPadding"]>;

def Nn_Tensor : RankedTensorOf<[AnyFloat, AnyInteger]>;
def Nn_Float : RankedTensorOf<[AnyFloat]>;
def Nn_ScalarOrTensor
    : AnyTypeOf<[AnyFloat, AnyInteger, Nn_Tensor], "a tensor or a scalar">;

/// Base class of the routine ops that can be the anchor of a layer with an
/// elementwise epilogue: they define the channel axis, along which an operand
/// of the epilogue may hold one value per channel.
class Nn_AnchorOp<string mnemonic, list<string> methods = [],
                  list<Trait> traits = []>
    : Nn_RoutineOp<mnemonic, traits, !listconcat(["getChannelAxis"], methods)>;

/// Base class of the elementwise ops: `nn.<mnemonic>` applies the function
/// `nnc::<mnemonic>` of runtime/simd/elementwise.h to each element. `formula`
/// is the value of an element of the result.
class Nn_Elementwise<string mnemonic, string formula, list<Trait> traits = []>
    : Nn_InferredOp<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<Nn_ElementwiseOpInterface>,
        Nn_ElementwiseAxes,
        DeclareOpInterfaceMethods<Nn_CostOpInterface>], traits)> {
  let summary = formula;
  /// The rule for the element type of the result: "first", that of the first
  /// operand; "last", that of the last operand; "bool", i1; or "bits", the
  /// float type of the operand's width if that is an integer, and the integer
  /// type of its width if that is a float.
  string resultElement = "first";
  /// C++ expression that gives the name of the function.
  string function = "\"" # mnemonic # "\"";
  /// C++ braced list of the function's constant arguments, which follow the
  /// operands.
  string scalars = "{}";
  let extraClassDefinition = compatible # [{
    ::llvm::StringRef $cppClass::getFunction() { return }] # function # [{; }
    ::llvm::SmallVector<double> $cppClass::getScalars() { return }] # scalars # [{; }
    ::nnc::nn::Work $cppClass::getWork() { return ::nnc::nn::elementwiseWork(*this); }
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, ::std::optional<::mlir::Location> location,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::nnc::nn::inferElementwise(
          location, adaptor.getOperands(), "}] # resultElement # [{", types);
    }
  }];
}

/// Base class of the elementwise ops of one operand `x`.
class Nn_Unary<string mnemonic, string formula>
    : Nn_Elementwise<mnemonic, formula> {
  let arguments = (ins Nn_ScalarOrTensor:$x);
  let results = (outs Nn_ScalarOrTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let description = "Elementwise `" # formula # "`.\n\n"
                  # "Example: `%y = nn." # mnemonic # " %x : tensor<2x3xf32>`.";
}

/// Base class of the elementwise ops of two operands, `a` and `b`.
class Nn_Binary<string mnemonic, string formula, list<Trait> traits = []>
    : Nn_Elementwise<mnemonic, formula, traits> {
  let arguments = (ins Nn_ScalarOrTensor:$a, Nn_ScalarOrTensor:$b);
  let results = (outs Nn_ScalarOrTensor:$y);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($a) `,` type($b)";
  let description = "Elementwise `" # formula # "` with NumPy broadcasting.\n\n"
                  # "Example: `%y = nn." # mnemonic
                  # " %a, %b : tensor<2x3xf32>, tensor<3xf32>`.";
}

/// Base class of the binary elementwise ops whose result holds i1.
class Nn_Comparison<string mnemonic, string formula>
    : Nn_Binary<mnemonic, formula> {
  let resultElement = "bool";
}

#endif // NNC_DIALECTS_NN_BASE
