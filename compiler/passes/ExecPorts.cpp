//===- ExecPorts.cpp - Inputs, outputs and states of an exec program ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/ExecLowering.h"

#include "dialects/nn/attributes/State.h"
#include "dialects/qnn/Port.h"

using namespace mlir;
using namespace nnc;
using exec::PlaceAttr;
using exec::Pool;

/// Copies the attributes that describe the elements of an argument or result of
/// the function to `to`, the input, output or state that it becomes.
static void copyPortAttrs(DictionaryAttr from, Operation *to) {
  for (StringRef name : {qnn::kPortAttr, nn::kModelTypeAttr})
    if (Attribute value = from ? from.get(name) : Attribute())
      to->setAttr(name, value);
}

/// Returns the model's name `given` of an input or output if the identifier
/// `name` differs from it, else null.
static StringAttr getPortName(StringRef given, StringRef name,
                              Builder &builder) {
  return given.empty() || given == name ? StringAttr()
                                        : builder.getStringAttr(given);
}

void ExecLowering::declareInputs() {
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    StringRef given = getText(function.getArgAttr(i, nn::kNameAttr));
    StringRef name = interface.inputs[i];
    auto type = builder.getType<exec::PlaceType>();
    RankedTensorType tensor = nn::getTensorType(argument);
    StringAttr modelName = getPortName(given, name, builder);
    if (nn::getNextValue(function, i)) {
      states[i] = builder.create<exec::StateOp>(
          argument.getLoc(), type, name, tensor, modelName,
          nn::getInitialValue(function, i));
      copyPortAttrs(function.getArgAttrDict(i), states[i].getDefiningOp());
      placed[argument] = states[i];
    } else {
      PlaceAttr place = getPlace(argument);
      IntegerAttr offset;
      StringAttr memory;
      if (function->hasAttr(exec::kPortsInArenaAttr)) {
        offset = builder.getI64IntegerAttr(place.getOffset());
        memory = getMemory(place);
      }
      auto input = builder.create<exec::InputOp>(
          argument.getLoc(), type, name, tensor, modelName, offset, memory);
      copyPortAttrs(function.getArgAttrDict(i), input);
      placed[argument] = input;
    }
  }
}

void ExecLowering::declareOutputs() {
  Operation *end = function.getBody().front().getTerminator();
  auto types = function.getFunctionType().getResults();
  for (auto [i, type] : llvm::enumerate(types)) {
    if (std::optional<unsigned> state = nn::getStateOf(function, i)) {
      outputs.push_back(states[*state]);
      continue;
    }
    StringRef given = getText(function.getResultAttr(i, nn::kNameAttr));
    StringRef name = interface.outputs[i];
    PlaceAttr place = getFinalPlace(function, i);
    IntegerAttr offset;
    StringAttr memory;
    if (place.getPool() == Pool::arena) {
      offset = builder.getI64IntegerAttr(place.getOffset());
      memory = getMemory(place);
    }
    auto output = builder.create<exec::OutputOp>(
        function.getLoc(), builder.getType<exec::PlaceType>(), name,
        cast<RankedTensorType>(type), getPortName(given, name, builder), offset,
        memory, getFoundSize(function.getResultAttr(i, nn::kSizeAttr)));
    copyPortAttrs(function.getResultAttrDict(i), output);
    outputs.push_back(output);
    Value result = end->getOperand(i);
    if (offset && getPlace(result) == place && result.getType() == type)
      produced.try_emplace(result, outputs.back());
  }
}
