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
/// ONNX's own operators, for these operands (null where absent). Returns null
/// if the operator, or the operator with these attributes, is not supported;
/// `why` is then the reason, as the end of a sentence that starts with the
/// operator, or empty. If there is a body, `why` states in the same form the
/// assumptions of the body, if any.
std::unique_ptr<::onnx::FunctionProto>
makeMicrosoftBody(const ::onnx::NodeProto &node,
                  llvm::ArrayRef<mlir::Value> operands, std::string &why);

/// Changes the domain of nodes to com.microsoft if onnxruntime's optimizer has
/// written them in ONNX's default domain, which lacks their operator in the
/// version that the model uses.
void renameMicrosoftOps(::onnx::ModelProto &model);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_MICROSOFT_MICROSOFT_H
