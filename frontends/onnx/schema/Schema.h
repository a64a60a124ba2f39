//===- Schema.h - ONNX's definitions of its operators ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Access to the operator schemas of the ONNX library, in functions that throw
// no exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_SCHEMA_SCHEMA_H
#define NNC_FRONTENDS_ONNX_SCHEMA_SCHEMA_H

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

/// Returns the newest operator set of a domain that the ONNX library knows; 0
/// if it does not know the domain.
int getNewestOpset(llvm::StringRef domain = "");

/// Returns the operator's definition in version `opset` of its domain, or null.
const ::onnx::OpSchema *findSchema(llvm::StringRef domain, llvm::StringRef op,
                                   int opset);

/// Returns the names of the operators of a domain.
std::vector<std::string> getOpNames(llvm::StringRef domain);

/// Returns the operator set that introduced this definition.
int getSince(const ::onnx::OpSchema &schema);

/// Returns the first and the last operator set that have the operator.
std::pair<int, int> getOpsetRange(llvm::StringRef domain, llvm::StringRef op);

/// Returns the default value of an attribute, or null if it has none.
const ::onnx::AttributeProto *getDefault(const ::onnx::OpSchema &schema,
                                         llvm::StringRef attribute);

/// Returns why the attributes of a node violate the schema, as the end of a
/// sentence that starts with the operator, or nullopt if they do not. `find`
/// returns the node's attribute of a name, or null if it is absent.
std::optional<std::string> findAttributeProblem(
    const ::onnx::OpSchema &schema,
    llvm::function_ref<const ::onnx::AttributeProto *(llvm::StringRef)> find);

/// Returns why operands of these types (null: absent) violate the schema, as
/// the end of a sentence that starts with the operator, or nullopt if they do
/// not.
std::optional<std::string>
findTypeProblem(const ::onnx::OpSchema &schema,
                llvm::ArrayRef<mlir::RankedTensorType> operands);

/// Returns the type of the operand with which the schema says that result `i`
/// shares its type variable; `operands` are null where absent. Null if the
/// schema says no such thing.
mlir::Type findResultType(const ::onnx::OpSchema &schema, size_t i,
                          llvm::ArrayRef<mlir::Type> operands);

/// Returns the body of an operator that ONNX defines as a function of other
/// operators, for a node with operands of these types; null if it has no body.
std::unique_ptr<::onnx::FunctionProto>
getFunctionBody(const ::onnx::OpSchema &schema, const ::onnx::NodeProto &node,
                llvm::ArrayRef<mlir::RankedTensorType> operands, int opset);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_SCHEMA_SCHEMA_H
