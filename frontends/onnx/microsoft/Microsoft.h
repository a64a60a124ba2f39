//===- Microsoft.h - onnxruntime's own operators as functions -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_MICROSOFT_MICROSOFT_H
#define NNC_FRONTENDS_ONNX_MICROSOFT_MICROSOFT_H

#include "mlir/IR/Value.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <memory>

namespace nnc::onnx {

inline constexpr llvm::StringLiteral kMicrosoftDomain = "com.microsoft";

/// Returns the names of the operators of the domain com.microsoft that are
/// known, sorted.
llvm::ArrayRef<llvm::StringLiteral> getMicrosoftOps();

/// Returns the body of a node of the domain com.microsoft as a function of
/// ONNX's own operators, for these operands (null where absent). Null if the
/// operator is not known, or not with these attributes; `why` then says why, as
/// the end of a sentence that starts with the operator, or is empty. With a
/// body it says in this way what that takes for granted, if anything.
std::unique_ptr<::onnx::FunctionProto>
makeMicrosoftBody(const ::onnx::NodeProto &node,
                  llvm::ArrayRef<mlir::Value> operands, std::string &why);

/// Gives nodes that onnxruntime's optimizer writes into ONNX's default domain,
/// though that lacks them in the model's version, the domain com.microsoft.
void renameMicrosoftOps(::onnx::ModelProto &model);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_MICROSOFT_MICROSOFT_H
