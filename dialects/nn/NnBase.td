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

/// An op that infers (and verifies) the shape of its result; the layout of the
/// result is left to passes.
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

/// An op that a family of routines computes. `methods` are the optional methods
/// of the routine interface that it defines.
class Nn_RoutineOp<string mnemonic, list<Trait> traits = [],
                   list<string> methods = []>
    : Nn_InferredOp<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<Nn_RoutineOpInterface, methods>,
        DeclareOpInterfaceMethods<Nn_CostOpInterface>], traits)>;

/// The trait of an op that says how it treats axes.
def Nn_Axes : DeclareOpInterfaceMethods<Nn_AxisOpInterface>;
/// The same of an op that has padding along axes.
def Nn_PaddedAxes
    : DeclareOpInterfaceMethods<Nn_AxisOpInterface, ["setAxisPadding"]>;

def Nn_Tensor : RankedTensorOf<[AnyFloat, AnyInteger]>;
def Nn_Float : RankedTensorOf<[AnyFloat]>;
def Nn_ScalarOrTensor
    : AnyTypeOf<[AnyFloat, AnyInteger, Nn_Tensor], "a tensor or a scalar">;

/// A routine op that takes an elementwise epilogue, whose operands may hold one
/// value per channel.
class Nn_AnchorOp<string mnemonic, list<string> methods = [],
                  list<Trait> traits = []>
    : Nn_RoutineOp<mnemonic, traits, !listconcat(["getChannelAxis"], methods)>;

/// An elementwise op: `nn.<mnemonic>` computes `nnc::<mnemonic>` of
/// runtime/simd/elementwise.h.
class Nn_Elementwise<string mnemonic, string formula, list<Trait> traits = []>
    : Nn_InferredOp<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<Nn_ElementwiseOpInterface>,
        Nn_ElementwiseAxes,
        DeclareOpInterfaceMethods<Nn_CostOpInterface>], traits)> {
  let summary = formula;
  /// Element type of the result: "first" operand's, "bool", "last" operand's,
  /// or "bits", the float for an integer and the integer for a float.
  string resultElement = "first";
  /// C++ expression of the function's name.
  string function = "\"" # mnemonic # "\"";
  /// C++ list of the constant arguments.
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

class Nn_Unary<string mnemonic, string formula>
    : Nn_Elementwise<mnemonic, formula> {
  let arguments = (ins Nn_ScalarOrTensor:$x);
  let results = (outs Nn_ScalarOrTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let description = "Elementwise `" # formula # "`.\n\n"
                  # "Example: `%y = nn." # mnemonic # " %x : tensor<2x3xf32>`.";
}

class Nn_Binary<string mnemonic, string formula, list<Trait> traits = []>
    : Nn_Elementwise<mnemonic, formula, traits> {
  let arguments = (ins Nn_ScalarOrTensor:$a, Nn_ScalarOrTensor:$b);
  let results = (outs Nn_ScalarOrTensor:$y);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($a) `,` type($b)";
  let description = "Elementwise `" # formula # "` with NumPy broadcasting.\n\n"
                  # "Example: `%y = nn." # mnemonic
                  # " %a, %b : tensor<2x3xf32>, tensor<3xf32>`.";
}

class Nn_Comparison<string mnemonic, string formula>
    : Nn_Binary<mnemonic, formula> {
  let resultElement = "bool";
}

#endif // NNC_DIALECTS_NN_BASE
