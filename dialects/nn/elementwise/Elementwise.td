//===- Elementwise.td - The elementwise ops ----------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Each op is one line. "Adding an elementwise op" in ../README.md lists the other
// files that a new op needs.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_ELEMENTWISE_ELEMENTWISE
#define NNC_DIALECTS_NN_ELEMENTWISE_ELEMENTWISE

include "dialects/nn/NnBase.td"
include "dialects/nn/elementwise/Rescale.td"

// Sign and rounding.
def Nn_AbsOp : Nn_Unary<"abs", "|x|">;
def Nn_CeilOp : Nn_Unary<"ceil", "least integer not less than x">;
def Nn_FloorOp : Nn_Unary<"floor", "greatest integer not greater than x">;
def Nn_NegOp : Nn_Unary<"neg", "-x">;
def Nn_RoundOp : Nn_Unary<"round",
    "x rounded to the nearest integer, halves to even">;
def Nn_SignOp : Nn_Unary<"sign", "-1, 0 or 1 as x is negative, zero or positive">;

// Powers, exponentials, trigonometry.
def Nn_AcosOp : Nn_Unary<"acos", "acos(x)">;
def Nn_AcoshOp : Nn_Unary<"acosh", "acosh(x)">;
def Nn_AsinOp : Nn_Unary<"asin", "asin(x)">;
def Nn_AsinhOp : Nn_Unary<"asinh", "asinh(x)">;
def Nn_AtanOp : Nn_Unary<"atan", "atan(x)">;
def Nn_AtanhOp : Nn_Unary<"atanh", "atanh(x)">;
def Nn_CosOp : Nn_Unary<"cos", "cos(x)">;
def Nn_CoshOp : Nn_Unary<"cosh", "cosh(x)">;
def Nn_ErfOp : Nn_Unary<"erf", "erf(x)">;
def Nn_ExpOp : Nn_Unary<"exp", "e^x">;
def Nn_LogOp : Nn_Unary<"log", "natural logarithm of x">;
def Nn_ReciprocalOp : Nn_Unary<"reciprocal", "1 / x">;
def Nn_RsqrtOp : Nn_Unary<"rsqrt", "1 / sqrt(x)">;
def Nn_SinOp : Nn_Unary<"sin", "sin(x)">;
def Nn_SinhOp : Nn_Unary<"sinh", "sinh(x)">;
def Nn_SqrtOp : Nn_Unary<"sqrt", "sqrt(x)">;
def Nn_TanOp : Nn_Unary<"tan", "tan(x)">;
def Nn_TanhOp : Nn_Unary<"tanh", "tanh(x)">;

// Activations.
def Nn_GeluOp : Nn_Unary<"gelu", "x / 2 * (1 + erf(x / sqrt(2)))">;
def Nn_GeluTanhOp : Nn_Unary<"gelu_tanh",
    "x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))">;
def Nn_HardSwishOp : Nn_Unary<"hard_swish", "x * min(max(x + 3, 0), 6) / 6">;
def Nn_MishOp : Nn_Unary<"mish", "x * tanh(log(1 + e^x))">;
def Nn_ReluOp : Nn_Unary<"relu", "max(x, 0)">;
def Nn_SigmoidOp : Nn_Unary<"sigmoid", "1 / (1 + e^-x)">;
def Nn_SiluOp : Nn_Unary<"silu", "x / (1 + e^-x)">;
def Nn_SoftplusOp : Nn_Unary<"softplus", "log(1 + e^x)">;
def Nn_SoftsignOp : Nn_Unary<"softsign", "x / (1 + |x|)">;

/// Base class of the activations with one constant parameter, `alpha`.
class Nn_Activation1<string mnemonic, string formula> : Nn_Unary<mnemonic, formula> {
  let arguments = (ins Nn_ScalarOrTensor:$x, F64Attr:$alpha);
  let scalars = "{getAlpha().convertToDouble()}";
  let description = "Elementwise `" # formula # "`.\n\n"
                  # "Example: `%y = nn." # mnemonic
                  # " %x {alpha = 1.000000e-01 : f64} : tensor<2x3xf32>`.";
}
def Nn_CeluOp : Nn_Activation1<"celu",
    "max(x, 0) + min(alpha * (e^(x / alpha) - 1), 0)">;
def Nn_EluOp : Nn_Activation1<"elu", "x where x >= 0, else alpha * (e^x - 1)">;
def Nn_LeakyReluOp : Nn_Activation1<"leaky_relu", "x where x >= 0, else alpha * x">;
def Nn_ThresholdedReluOp : Nn_Activation1<"thresholded_relu",
    "x where x > alpha, else 0">;

/// Base class of the activations with two constant parameters, which are named
/// `first` and `second`. `getters` is the C++ braced list of their values.
class Nn_Activation2<string mnemonic, string first, string second, string formula,
                     string getters> : Nn_Unary<mnemonic, formula> {
  let scalars = getters;
  let description = "Elementwise `" # formula # "`.\n\n"
                  # "Example: `%y = nn." # mnemonic # " %x {" # first
                  # " = 2.000000e-01 : f64, " # second
                  # " = 5.000000e-01 : f64} : tensor<2x3xf32>`.";
}
def Nn_ClipOp : Nn_Activation2<"clip", "min", "max", "min(max(x, min), max)",
    "{getMin().convertToDouble(), getMax().convertToDouble()}"> {
  let arguments = (ins Nn_ScalarOrTensor:$x, F64Attr:$min, F64Attr:$max);
}
def Nn_HardSigmoidOp : Nn_Activation2<"hard_sigmoid", "alpha", "beta",
    "min(max(alpha * x + beta, 0), 1)",
    "{getAlpha().convertToDouble(), getBeta().convertToDouble()}"> {
  let arguments = (ins Nn_ScalarOrTensor:$x, F64Attr:$alpha, F64Attr:$beta);
}
def Nn_SeluOp : Nn_Activation2<"selu", "alpha", "gamma",
    "gamma * x where x > 0, else gamma * alpha * (e^x - 1)",
    "{getAlpha().convertToDouble(), getGamma().convertToDouble()}"> {
  let arguments = (ins Nn_ScalarOrTensor:$x, F64Attr:$alpha, F64Attr:$gamma);
}

// Arithmetic.
def Nn_AddOp : Nn_Binary<"add", "a + b", [Commutative]>;
def Nn_DivOp : Nn_Binary<"div", "a / b, rounded towards zero for integers">;
def Nn_FmodOp : Nn_Binary<"fmod", "remainder of a / b with the sign of a">;
def Nn_MaxOp : Nn_Binary<"max", "max(a, b), or NaN if an operand is NaN",
    [Commutative]>;
def Nn_MinOp : Nn_Binary<"min", "min(a, b), or NaN if an operand is NaN",
    [Commutative]>;
def Nn_ModOp : Nn_Binary<"mod", "remainder of a / b with the sign of b">;
def Nn_MulOp : Nn_Binary<"mul", "a * b", [Commutative]>;
def Nn_PowOp : Nn_Binary<"pow", "a^b">;
def Nn_PreluOp : Nn_Binary<"prelu", "a where a >= 0, else a * b">;
def Nn_SubOp : Nn_Binary<"sub", "a - b">;

// Comparisons and logic.
def Nn_EqualOp : Nn_Comparison<"equal", "a == b">;
def Nn_GreaterEqualOp : Nn_Comparison<"greater_equal", "a >= b">;
def Nn_GreaterOp : Nn_Comparison<"greater", "a > b">;
def Nn_LessEqualOp : Nn_Comparison<"less_equal", "a <= b">;
def Nn_LessOp : Nn_Comparison<"less", "a < b">;
def Nn_LogicalAndOp : Nn_Comparison<"logical_and", "a and b">;
def Nn_LogicalOrOp : Nn_Comparison<"logical_or", "a or b">;
def Nn_LogicalXorOp : Nn_Comparison<"logical_xor", "a xor b">;
def Nn_LogicalNotOp : Nn_Unary<"logical_not", "not x">;
def Nn_IsNanOp : Nn_Unary<"is_nan", "true if x is NaN"> {
  let resultElement = "bool";
}
def Nn_IsInfOp : Nn_Unary<"is_inf", "true if x is infinite"> {
  let resultElement = "bool";
}
def Nn_BitAndOp : Nn_Binary<"bit_and", "bitwise and of a and b">;
def Nn_BitOrOp : Nn_Binary<"bit_or", "bitwise or of a and b">;
def Nn_BitXorOp : Nn_Binary<"bit_xor", "bitwise exclusive or of a and b">;
def Nn_BitNotOp : Nn_Unary<"bit_not", "bitwise complement of x">;

def Nn_SelectOp : Nn_Elementwise<"select", "a where the condition holds, else b"> {
  let description = [{
    Elementwise `a` where `condition`, of i1, is true, and `b` elsewhere, with
    NumPy broadcasting. The result has the element type of `b`.

    Example: `%y = nn.select %c, %a, %b : tensor<3xi1>, tensor<2x3xf32>, tensor<f32>`.
  }];
  let arguments = (ins Nn_ScalarOrTensor:$condition, Nn_ScalarOrTensor:$a,
                       Nn_ScalarOrTensor:$b);
  let results = (outs Nn_ScalarOrTensor:$y);
  let resultElement = "last";
  let assemblyFormat = [{
    $condition `,` $a `,` $b attr-dict
    `:` type($condition) `,` type($a) `,` type($b)
  }];
}

/// Attribute constraint: a signless i64, read as a signed integer.
def Nn_Integer
    : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit signed integer">;

def Nn_RequantizeOp : Nn_InferredOp<"requantize", [
    DeclareOpInterfaceMethods<Nn_ElementwiseOpInterface, ["getSteps"]>,
    Nn_ElementwiseAxes,
    DeclareOpInterfaceMethods<Nn_CostOpInterface>]> {
  let summary = "Numbers multiplied by a factor and rounded to integers";
  let description = [{
    Elementwise `saturate(round(x * factor) + zero_point)` of integers, with
    NumPy broadcasting: what brings a quantized value to another scale.
    `rescale` says how the operands give the factor and how the product is
    rounded (`runtime/simd/requantize.h`):

    - `real`: the factor is `multiplier`, an f32. The f32 `shift`, if there is
      one, is added to the product, which is rounded to the nearest integer,
      halves to even.
    - `double_rounding`, `single_rounding`: the factor is `multiplier * 2^(shift
      - 31)`. The multiplier is 0 or at least 2^30, the shift from -31 to 30. All
      operands are i32.
    - `wide`: the factor is `multiplier * 2^(shift - 15)`. The multiplier
      is 0 or from 2^14 to 2^15 - 1, the shift from -31 to 14. All operands are
      i32, or all are i64.
    - `parts`: the factor is the sum of two f32 numbers, `multiplier` and the
      much smaller `shift`, and x is an f32. The result is
      `fma(x, multiplier, x * shift)`, rounded to the nearest integer, halves to
      even. This is how nnc-merge-rounding writes a division by a constant.

    With the attributes `element`, `low` and `high`, the result has that integer
    type and is clipped to [low, high]. Without these attributes, it has the
    type of x and wraps around; `real` and `parts` need them. The `element` of
    `real` may also be f32, which then holds the integer.

    Example:
    ```mlir
    %y = nn.requantize double_rounding %x, %m, %s
        {element = i8, zero_point = -3 : i64, low = -128 : i64, high = 127 : i64}
        : tensor<1x4x5xi32>, tensor<4x1xi32>, tensor<4x1xi32>
    ```
  }];
  let arguments = (ins Nn_RescaleAttr:$rescale, Nn_ScalarOrTensor:$x,
                       Nn_ScalarOrTensor:$multiplier,
                       Optional<Nn_ScalarOrTensor>:$shift,
                       OptionalAttr<TypeAttr>:$element,
                       DefaultValuedAttr<Nn_Integer, "0">:$zero_point,
                       OptionalAttr<Nn_Integer>:$low,
                       OptionalAttr<Nn_Integer>:$high);
  let results = (outs Nn_ScalarOrTensor:$y);
  let assemblyFormat = [{
    $rescale $x `,` $multiplier (`,` $shift^)? attr-dict
    `:` type($x) `,` type($multiplier) (`,` type($shift)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns true if results are clipped to a range. Otherwise they wrap
    /// around.
    bool saturates() { return getElement().has_value(); }
    /// Returns the lowest and the highest result of an op that saturates.
    std::pair<int64_t, int64_t> getRange() {
      return {*getLow(), *getHigh()};
    }
  }];
}

/// Base class of the two ops that give the parts of 1 / sqrt(x) in fixed point.
class Nn_InverseRoot<string mnemonic, string part>
    : Nn_Unary<mnemonic, part # " of 1 / sqrt(x) in fixed point"> {
  let description = "Elementwise " # part # [{ of 1 / sqrt(x) as the fixed-point
    number `multiplier * 2^(shift - 31)`, with the bits that TFLite computes
    (`runtime/simd/fixed_point.h`). x is an i32 that is not negative; for an x
    of 0 the number is 1.

    Example: `%y = nn.}] # mnemonic # " %x : tensor<2x1xi32>`.";
}
def Nn_InverseRootMultiplierOp
    : Nn_InverseRoot<"inverse_root_multiplier", "multiplier">;
def Nn_InverseRootShiftOp : Nn_InverseRoot<"inverse_root_shift", "shift">;

/// Base class of the functions on fixed-point numbers in an i32. `units` says
/// what x and the result stand for.
class Nn_FixedFunction<string mnemonic, string formula, string units>
    : Nn_Unary<mnemonic, formula> {
  let description = "Elementwise `" # formula # "` of an i32. " # units # [{
    (`runtime/simd/fixed_functions.h`).

    Example: `%y = nn.}] # mnemonic # " %x : tensor<2x3xi32>`.";
}
def Nn_ExpQ12Op : Nn_FixedFunction<"exp_q12", "e^x",
    "x, at most 0, is in units of 2^-26, and the result, with the bits that "
    "TFLite computes, in units of 2^-19">;
def Nn_LogQ5Op : Nn_FixedFunction<"log_q5", "ln x",
    "x, at least 1, is in units of 2^-19, and the result, with the bits that "
    "TFLite computes, in units of 2^-26">;
def Nn_ReciprocalMultiplierOp : Nn_FixedFunction<"reciprocal_multiplier",
    "2^(61 - sign_bits(x)) / x",
    "x is an integer of at least 1, and the result has the bits that TFLite "
    "computes">;
def Nn_SignBitsOp : Nn_FixedFunction<"sign_bits",
    "number of bits behind the sign bit of x that are equal to it",
    "The result is 31 for 0 and -1">;

/// Base class of the gates of LSTM cells on fixed-point numbers in an i32.
class Nn_FixedGate<string mnemonic, string function>
    : Nn_Unary<mnemonic, "2^15 * " # function # "(x / 12288) in fixed point"> {
  let description = "Elementwise `" # function # [{` of an i32. x is in units of
    1 / 12288, with a magnitude of less than 2^31; the result is in units of
    2^-15, with the bits that TFLite computes from a table of sigmoids
    (`runtime/simd/fixed_gates.h`).

    Example: `%y = nn.}] # mnemonic # " %x : tensor<2x3xi32>`.";
}
def Nn_LogisticQ15Op : Nn_FixedGate<"logistic_q15", "sigmoid">;
def Nn_TanhQ15Op : Nn_FixedGate<"tanh_q15", "tanh">;

def Nn_CastOp : Nn_Op<"cast", [
    DeclareOpInterfaceMethods<Nn_ElementwiseOpInterface>,
    Nn_ElementwiseAxes,
    DeclareOpInterfaceMethods<Nn_CostOpInterface>]> {
  let summary = "x converted to another element type";
  let description = [{
    Elementwise conversion with the rules of C: floats are rounded towards zero
    to integers, and an i1 is true if x is not zero.

    Example: `%y = nn.cast %x : tensor<2x3xi64> to tensor<2x3xf32>`.
  }];
  let arguments = (ins Nn_ScalarOrTensor:$x);
  let results = (outs Nn_ScalarOrTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($y)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Nn_EncodeFloatOp : Nn_Unary<"encode_float",
    "code of the float of few bits that is nearest to x"> {
  let description = [{
    Elementwise code, an integer of at least 0 in an f32, of the number of
    `format` that is nearest to the f32 x. `runtime/simd/small_floats.h` defines
    the formats and the rounding: `e4m3fn`, `e4m3fnuz`, `e5m2`, `e5m2fnuz`,
    `e2m1`, `e2m3`, `e3m2`, `e5m10` (float16), `e8m7` (bfloat16) and `e8m0`.
    With `saturate`, an x beyond the largest number of the format becomes that
    number, and otherwise infinity or NaN. Only e8m0 has a `rounding`: 0 for
    down, 1 for up, 0.5 for the nearest.

    Example: `%y = nn.encode_float %x {format = "e4m3fn", saturate = true}
    : tensor<2x3xf32>`.
  }];
  let arguments = (ins Nn_ScalarOrTensor:$x, StrAttr:$format,
                       DefaultValuedAttr<BoolAttr, "true">:$saturate,
                       OptionalAttr<F64Attr>:$rounding);
  let function = "getSmallFloatFunction(getFormat(), /*isEncoded=*/true)";
  let scalars = "getEncodingScalars()";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<double> getEncodingScalars();
  }];
}

def Nn_DecodeFloatOp : Nn_Unary<"decode_float",
    "float of few bits whose code is x"> {
  let description = [{
    Elementwise number of `format`, in an f32, whose code is the f32 x, an
    integer of at least 0: the inverse of `nn.encode_float`.

    Example: `%y = nn.decode_float %x {format = "e4m3fn"} : tensor<2x3xf32>`.
  }];
  let arguments = (ins Nn_ScalarOrTensor:$x, StrAttr:$format);
  let function = "getSmallFloatFunction(getFormat(), /*isEncoded=*/false)";
  let hasVerifier = 1;
}

def Nn_BitCastOp : Nn_Unary<"bit_cast", "the bits of x as another type"> {
  let description = [{
    Elementwise reinterpretation of the bits of x: an f32 as an i32, an f64 as
    an i64, or the reverse.

    Example: `%y = nn.bit_cast %x : tensor<2x3xf32>`.
  }];
  let resultElement = "bits";
}

def Nn_LookupOp : Nn_Op<"lookup", [
    DeclareOpInterfaceMethods<Nn_ElementwiseOpInterface>,
    Nn_ElementwiseAxes,
    DeclareOpInterfaceMethods<Nn_CostOpInterface>]> {
  let summary = "Table lookup of 8-bit integers";
  let description = [{
    Elementwise `table[x]`. The bits of x, an 8-bit integer, are the index from
    0 to 255, even if its type is signed. `table` has 256 8-bit integers.

    Example: `%y = nn.lookup %x {table = dense<7> : tensor<256xi8>}
    : tensor<2x3xui8> to tensor<2x3xi8>`.
  }];
  let arguments = (ins Nn_ScalarOrTensor:$x, AnyIntElementsAttr:$table);
  let results = (outs Nn_ScalarOrTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($y)";
  let hasVerifier = 1;
}

#endif // NNC_DIALECTS_NN_ELEMENTWISE_ELEMENTWISE
