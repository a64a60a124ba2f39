//===- Schema.h - What ONNX says of its own operators ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// ONNX's schemas without its exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_SCHEMA_H
#define NNC_FRONTENDS_ONNX_SCHEMA_H

#include "mlir/IR/BuiltinTypes.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <memory>
#include <optional>
#include <string>

namespace onnx {
class OpSchema;
}

namespace nnc::onnx {

/// The newest operator set of the default domain that the library knows.
int getNewestOpset();

/// The operator's definition in version `opset` of its domain, or null.
const ::onnx::OpSchema *findSchema(llvm::StringRef domain, llvm::StringRef op,
                                   int opset);

/// The operator set that brought this definition.
int getSince(const ::onnx::OpSchema &schema);

/// The operator sets that hold the operator: first and last.
std::pair<int, int> getOpsetRange(llvm::StringRef domain, llvm::StringRef op);

/// What an attribute is where a node leaves it out; null where nothing is said.
const ::onnx::AttributeProto *getDefault(const ::onnx::OpSchema &schema,
                                         llvm::StringRef attribute);

/// Why a node with these attributes (null: left out) cannot be the operator's,
/// as the end of a sentence that starts with it; nothing if it can.
std::optional<std::string> findAttributeProblem(
    const ::onnx::OpSchema &schema,
    llvm::function_ref<const ::onnx::AttributeProto *(llvm::StringRef)> find);

/// Why operands of these types (null: absent) cannot be the operator's, as the
/// end of a sentence that starts with it; nothing if they can.
std::optional<std::string>
findTypeProblem(const ::onnx::OpSchema &schema,
                llvm::ArrayRef<mlir::RankedTensorType> operands);

/// The body of an operator that ONNX defines by others, for a call with
/// operands of these types; null where there is none.
std::unique_ptr<::onnx::FunctionProto>
getFunctionBody(const ::onnx::OpSchema &schema, const ::onnx::NodeProto &node,
                llvm::ArrayRef<mlir::RankedTensorType> operands, int opset);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_SCHEMA_H
