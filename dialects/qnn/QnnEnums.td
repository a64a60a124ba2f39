//===- QnnEnums.td - How quantized ops round ----------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_QNN_ENUMS
#define NNC_DIALECTS_QNN_ENUMS

include "dialects/qnn/QnnDialect.td"
include "mlir/IR/EnumAttr.td"

def Qnn_Rounding : I32EnumAttr<"Rounding", "how a real number becomes whole", [
    I32EnumAttrCase<"half_even", 0>, I32EnumAttrCase<"half_away", 1>]> {
  let cppNamespace = "::nnc::qnn";
  let genSpecializedAttr = 0;
}
def Qnn_RoundingAttr : EnumAttr<Qnn_Dialect, Qnn_Rounding, "rounding">;

#endif // NNC_DIALECTS_QNN_ENUMS
