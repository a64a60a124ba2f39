//===- Schema.cpp - ONNX's definitions of its operators -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/schema/Schema.h"

#include "frontends/onnx/microsoft/Microsoft.h"

#include "frontends/onnx/schema/Types.h"

#include "onnx/defs/data_type_utils.h"
#include "onnx/defs/schema.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using ::onnx::OpSchema;
using ::onnx::OpSchemaRegistry;

int nnc::onnx::getNewestOpset(StringRef domain) {
  const auto &ranges = OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  auto found = ranges.find(domain.str());
  return found == ranges.end() ? 0 : found->second.second;
}

/// Returns the definition of com.microsoft's MatMulNBits, which the ONNX
/// library does not have.
static const OpSchema &getMatMulNBits() {
  static const OpSchema schema = [] {
    using Attribute = ::onnx::AttributeProto;
    OpSchema made("MatMulNBits", __FILE__, __LINE__);
    made.SetDomain(nnc::onnx::kMicrosoftDomain.str()).SinceVersion(1);
    made.Attr("K", "", Attribute::INT, true)
        .Attr("N", "", Attribute::INT, true);
    made.Attr("bits", "", Attribute::INT, int64_t(4));
    made.Attr("block_size", "", Attribute::INT, true);
    made.Attr("accuracy_level", "", Attribute::INT, int64_t(0));
    made.Input(0, "A", "", "T")
        .Input(1, "B", "", "Q")
        .Input(2, "scales", "", "T");
    made.Input(3, "zero_points", "", "Z", OpSchema::Optional);
    made.Input(4, "g_idx", "", "I", OpSchema::Optional);
    made.Input(5, "bias", "", "T", OpSchema::Optional);
    made.Output(0, "Y", "", "T");
    const std::vector<std::string> reals = {"tensor(float)", "tensor(float16)",
                                            "tensor(bfloat16)"};
    std::vector<std::string> zeros = reals;
    zeros.push_back("tensor(uint8)");
    made.TypeConstraint("T", reals, "").TypeConstraint("Z", zeros, "");
    made.TypeConstraint("Q", {"tensor(uint8)"}, "");
    made.TypeConstraint("I", {"tensor(int32)"}, "");
    made.Finalize();
    return made;
  }();
  return schema;
}

/// Returns the definition of com.microsoft's CDist.
static const OpSchema &getCDist() {
  static const OpSchema schema = [] {
    OpSchema made("CDist", __FILE__, __LINE__);
    made.SetDomain(nnc::onnx::kMicrosoftDomain.str()).SinceVersion(1);
    made.Attr("metric", "", ::onnx::AttributeProto::STRING,
              std::string("sqeuclidean"));
    made.Input(0, "A", "", "T").Input(1, "B", "", "T").Output(0, "C", "", "T");
    made.TypeConstraint("T", {"tensor(float)", "tensor(double)"}, "");
    made.Finalize();
    return made;
  }();
  return schema;
}

const OpSchema *nnc::onnx::findSchema(StringRef domain, StringRef op,
                                      int opset) {
  if (domain == kMicrosoftDomain && op == "CDist")
    return &getCDist();
  if (domain == kMicrosoftDomain && op == "MatMulNBits")
    return &getMatMulNBits();
  return OpSchemaRegistry::Schema(op.str(), opset, domain.str());
}

std::vector<std::string> nnc::onnx::getOpNames(StringRef domain) {
  std::vector<std::string> names;
  for (const OpSchema &schema : OpSchemaRegistry::get_all_schemas())
    if (schema.domain() == domain && !schema.Deprecated())
      names.push_back(schema.Name());
  return names;
}

int nnc::onnx::getSince(const OpSchema &schema) {
  return schema.since_version();
}

std::pair<int, int> nnc::onnx::getOpsetRange(StringRef domain, StringRef op) {
  std::pair<int, int> range = {0, 0};
  for (int opset = 1; opset <= getNewestOpset(domain); ++opset) {
    const OpSchema *schema = findSchema(domain, op, opset);
    if (!schema || schema->Deprecated())
      continue;
    range.first = range.first ? range.first : opset;
    range.second = opset;
  }
  return range;
}

const ::onnx::AttributeProto *nnc::onnx::getDefault(const OpSchema &schema,
                                                    StringRef attribute) {
  auto found = schema.attributes().find(attribute.str());
  if (found == schema.attributes().end() ||
      found->second.default_value.name().empty())
    return nullptr;
  return &found->second.default_value;
}

std::optional<std::string> nnc::onnx::findAttributeProblem(
    const OpSchema &schema,
    llvm::function_ref<const ::onnx::AttributeProto *(StringRef)> find) {
  for (const auto &[name, formal] : schema.attributes()) {
    const ::onnx::AttributeProto *given = find(name);
    if (!given && formal.required)
      return "needs its attribute '" + name + "'";
    // The oldest models do not give the types of their attributes.
    if (given && given->type() != ::onnx::AttributeProto::UNDEFINED &&
        given->type() != formal.type)
      return "has an attribute '" + name + "' of another type than it needs";
  }
  return std::nullopt;
}

/// Returns the name of a tensor type in schemas, such as "tensor(float)".
static std::string getTypeName(Type element) {
  return "tensor(" +
         nnc::onnx::getDataTypeName(nnc::onnx::getDataType(element)) + ")";
}

static std::string list(const ::onnx::DataTypeSet &types) {
  SmallVector<std::string> names;
  for (::onnx::DataType type : types)
    names.push_back(*type);
  llvm::sort(names);
  return llvm::join(names, ", ");
}

std::optional<std::string>
nnc::onnx::findTypeProblem(const OpSchema &schema,
                           ArrayRef<RankedTensorType> operands) {
  const auto &formals = schema.inputs();
  auto count = static_cast<int64_t>(operands.size());
  if (count < schema.min_input())
    return "needs its input '" + formals[count].GetName() + "'";
  if (count > schema.max_input())
    return "takes " + std::to_string(schema.max_input()) +
           " inputs at most, not " + std::to_string(count);
  llvm::StringMap<std::pair<std::string, size_t>> bound;
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto &formal = formals[std::min(i, formals.size() - 1)];
    if (!operands[i]) {
      if (formal.GetOption() != OpSchema::Optional)
        return "needs its input '" + formal.GetName() + "'";
      continue;
    }
    std::string type = getTypeName(operands[i].getElementType());
    bool isAllowed =
        llvm::any_of(formal.GetTypes(), [&](::onnx::DataType allowed) {
          return *allowed == type;
        });
    if (!isAllowed)
      return "takes " + list(formal.GetTypes()) + " as its input '" +
             formal.GetName() + "', not " + type;
    bool isShared =
        formal.GetOption() != OpSchema::Variadic || formal.GetIsHomogeneous();
    if (!isShared)
      continue;
    auto [entry, isNew] = bound.try_emplace(formal.GetTypeStr(), type, i);
    if (!isNew && entry->second.first != type)
      return "needs inputs " + std::to_string(entry->second.second) + " and " +
             std::to_string(i) + " of one type, not " + entry->second.first +
             " and " + type;
  }
  return std::nullopt;
}

Type nnc::onnx::findResultType(const OpSchema &schema, size_t i,
                               ArrayRef<Type> operands) {
  const auto &formals = schema.inputs();
  if (schema.outputs().empty() || formals.empty())
    return {};
  const auto &result =
      schema.outputs()[std::min(i, schema.outputs().size() - 1)];
  for (size_t j = 0; j < operands.size(); ++j)
    if (operands[j] && formals[std::min(j, formals.size() - 1)].GetTypeStr() ==
                           result.GetTypeStr())
      return operands[j];
  return {};
}

std::unique_ptr<::onnx::FunctionProto>
nnc::onnx::getFunctionBody(const OpSchema &schema,
                           const ::onnx::NodeProto &node,
                           ArrayRef<RankedTensorType> operands, int opset) {
  // Each body is written for some operator set. A body for a later set than the
  // model's can be used too, because it defines the same version of this
  // operator.
  auto body = std::make_unique<::onnx::FunctionProto>();
  try {
    const auto *function = schema.GetFunction(opset, /*validate=*/false);
    if (!function)
      function = schema.GetFunction();
    if (function) {
      *body = *function;
      return body;
    }
    if (!schema.HasContextDependentFunction())
      return nullptr;
    std::vector<::onnx::TypeProto> types(operands.size());
    for (auto [type, operand] : llvm::zip(types, operands)) {
      if (!operand)
        continue;
      auto *tensor = type.mutable_tensor_type();
      tensor->set_elem_type(getDataType(operand.getElementType()));
      for (int64_t dim : operand.getShape())
        tensor->mutable_shape()->add_dim()->set_dim_value(dim);
    }
    ::onnx::FunctionBodyBuildContextImpl context(node, types);
    int written = std::max(
        opset, schema.context_dependent_function_opset_versions().front());
    if (schema.BuildContextDependentFunction(context, *body, written))
      return body;
  } catch (const std::exception &) {
    // If ONNX cannot build the body, the operator counts as having none.
  }
  return nullptr;
}
