//===- ExecInterfaces.td - What is asked of a place ---------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_EXEC_INTERFACES
#define NNC_DIALECTS_EXEC_INTERFACES

include "mlir/IR/OpBase.td"

def Exec_PlaceOpInterface : OpInterface<"PlaceOpInterface"> {
  let cppNamespace = "::nnc::exec";
  let description = [{An op that names a place and says what lies there.}];
  let methods = [
    InterfaceMethod<"The name of the place.", "::llvm::StringRef", "getName">,
    InterfaceMethod<"Shape, element type and layout of what lies there.",
      "::mlir::RankedTensorType", "getTensor">,
    InterfaceMethod<"Whether calls may write there.", "bool", "isWritable">,
  ];
}

#endif // NNC_DIALECTS_EXEC_INTERFACES
