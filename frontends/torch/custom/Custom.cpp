//===- Custom.cpp - Operators of the user's library -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/custom/Custom.h"

#include "frontends/torch/file/Program.h"
#include "frontends/torch/graph/Types.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::torch;

std::vector<std::string> nnc::torch::getCustomNames(StringRef op) {
  auto [library, name] = op.split('.');
  if (name.empty())
    return {op.str()};
  StringRef bare = name.split('.').first;
  return {(library + "::" + name).str(), (library + "::" + bare).str(),
          bare.str()};
}

/// Returns an argument that is no tensor as an attribute of nn.custom; null
/// after an error, or if it is None.
static Attribute getAttribute(Node &node, StringRef name,
                              const json::Object &argument) {
  Builder &builder = node.getBuilder();
  if (argument.getArray("as_ints") || argument.getArray("as_sym_ints"))
    return builder.getDenseI64ArrayAttr(node.getInts(name));
  if (argument.getArray("as_floats")) {
    SmallVector<float> numbers;
    for (double number : node.getFloats(name))
      numbers.push_back(static_cast<float>(number));
    return builder.getDenseF32ArrayAttr(numbers);
  }
  if (auto text = argument.getString("as_string"))
    return builder.getStringAttr(*text);
  for (StringRef kind : {"as_int", "as_sym_int", "as_bool", "as_sym_bool",
                         "as_float", "as_sym_float"})
    if (argument.get(kind)) {
      auto number = node.getScalar(name);
      if (!number || (number->value && !number->isOfSizes)) {
        node.unsupported("has an argument '" + name +
                         "' that is not known when compiling");
        return {};
      }
      if (number->isReal)
        return builder.getF32FloatAttr(static_cast<float>(number->real));
      return builder.getI64IntegerAttr(number->integer);
    }
  node.unsupported("has an argument '" + name +
                   "' of a kind that a function cannot be given, which are "
                   "tensors, numbers, texts and lists of numbers");
  return {};
}

void nnc::torch::convertCustom(Node &node, Customs &customs,
                               const CustomFunction &function) {
  Customs::Call call;
  call.name = node.getOp().str();
  Builder &builder = node.getBuilder();
  bool isSound = true;
  auto addOperand = [&](Value operand) {
    isSound &= bool(operand);
    call.operands.push_back(operand);
    if (operand)
      call.reads.push_back(
          describePlain(cast<RankedTensorType>(operand.getType())));
  };
  for (const json::Value &entry : getList(node.getJson(), "inputs")) {
    const json::Object *input = entry.getAsObject();
    const json::Object *argument = input ? input->getObject("arg") : nullptr;
    StringRef name = input ? input->getString("name").value_or("") : "";
    if (!argument || name.empty()) {
      node.broken("has an argument without a name");
      return;
    }
    if (argument->get("as_none"))
      continue;
    if (argument->getObject("as_tensor")) {
      addOperand(node.getTensor(name));
    } else if (argument->getObject("as_optional_tensor")) {
      if (Value operand = node.getOptionalTensor(name)) {
        addOperand(operand);
      } else {
        call.operands.push_back({});
        call.reads.push_back(builder.getUnitAttr());
      }
    } else if (argument->getArray("as_tensors")) {
      for (Value operand : node.getTensors(name))
        addOperand(operand);
    } else if (Attribute value = getAttribute(node, name, *argument)) {
      call.attributes.push_back(builder.getNamedAttr(name, value));
    } else {
      isSound = false;
    }
  }
  for (size_t i = 0; i < node.getResultNames().size(); ++i) {
    Type element = node.getStatedType(i);
    auto shape = node.getStatedShape(i);
    if (!element || !shape) {
      node.unsupported("has a result '" + node.getResultNames()[i] +
                       "' whose type or shape the program does not state");
      return;
    }
    call.writes.push_back(
        describePlain(RankedTensorType::get(*shape, getComputedType(element))));
  }
  if (!isSound || node.hasFailed())
    return;
  for (auto [i, result] : llvm::enumerate(customs.create(function, call, node)))
    node.setResult(i, result);
}
