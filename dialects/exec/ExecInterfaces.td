//===- ExecInterfaces.td - The interface of places ----------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_EXEC_INTERFACES
#define NNC_DIALECTS_EXEC_INTERFACES

include "mlir/IR/OpBase.td"

def Exec_PlaceOpInterface : OpInterface<"PlaceOpInterface"> {
  let cppNamespace = "::nnc::exec";
  let description = [{
    An op that names a place in memory and gives the type of the tensor there.
  }];
  let methods = [
    InterfaceMethod<"The name of the place.", "::llvm::StringRef", "getName">,
    InterfaceMethod<"The type of the tensor at the place, with its layout.",
      "::mlir::RankedTensorType", "getTensor">,
    InterfaceMethod<"Returns true if calls may write to the place.", "bool",
      "isWritable">,
    InterfaceMethod<[{
      The name of the device in whose memory the place is, from the type of its
      tensor; empty for the host.
      }], "::llvm::StringRef", "getDevice", (ins), "", [{
        return ::nnc::nn::getDevice($_op.getTensor());
      }]>,
  ];
}

#endif // NNC_DIALECTS_EXEC_INTERFACES
