//===- Rescale.td - How rescaled integers are rounded ------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_ELEMENTWISE_RESCALE
#define NNC_DIALECTS_NN_ELEMENTWISE_RESCALE

include "dialects/nn/NnDialect.td"
include "mlir/IR/EnumAttr.td"

/// The arithmetic by which an integer is multiplied by a factor and rounded,
/// from the import to the emitted code (runtime/simd/requantize.h):
///   real             product in f32, rounded with halves to even (ONNX)
///   double_rounding  fixed-point factor of 32 bits; both the product and the
///                    shift round (TFLite)
///   single_rounding  fixed-point factor of 32 bits; only the shift rounds
///                    (TFLite)
///   wide             fixed-point factor of 16 bits; only the shift rounds
///                    (TFLite's layers of 16 bits)
///   parts            factor in two f32, whose product with an f32 rounds
///                    almost only once, so that it replaces a division
def Nn_Rescale : I32EnumAttr<"Rescale", "how an integer is rescaled", [
    I32EnumAttrCase<"real", 0>, I32EnumAttrCase<"double_rounding", 1>,
    I32EnumAttrCase<"single_rounding", 2>, I32EnumAttrCase<"wide", 3>,
    I32EnumAttrCase<"parts", 4>]> {
  let cppNamespace = "::nnc::nn";
  let genSpecializedAttr = 0;
}
def Nn_RescaleAttr : EnumAttr<Nn_Dialect, Nn_Rescale, "rescale">;

#endif // NNC_DIALECTS_NN_ELEMENTWISE_RESCALE
