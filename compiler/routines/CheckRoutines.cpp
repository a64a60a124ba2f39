//===- CheckRoutines.cpp - Whether stated routines compute their layers ---===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/Candidates.h"

#include "compiler/routines/Decode.h"
#include "compiler/routines/Devices.h"
#include "compiler/routines/Signature.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

static std::string listRoutines(StringRef family) {
  SmallVector<StringRef> names;
  for (const Routine *routine : Catalogue::get().getRoutinesOf(family))
    names.push_back(routine->name);
  return llvm::join(names, ", ");
}

/// Checks that `values` has a value for each parameter of `routine`, and that
/// the routine applies with them.
static LogicalResult checkParams(Operation *op, const Routine &routine,
                                 ArrayRef<RoutineShape> shapes,
                                 std::optional<ArrayRef<int64_t>> values) {
  ArrayRef<int64_t> params = values.value_or(ArrayRef<int64_t>());
  if (params.size() != routine.params.size())
    return op->emitOpError("has ")
           << params.size() << " params; " << routine.name << " has "
           << routine.params.size() << " (" << llvm::join(routine.params, ", ")
           << ")";
  for (auto [name, value] : llvm::zip(routine.params, params)) {
    if (name == "INLINE") {
      if (value != 0 && value != 1)
        return op->emitOpError("has INLINE = ")
               << value << " for " << routine.name
               << "; it is 1 for register tiles of the layer's own, else 0";
    } else if (value < 1) {
      return op->emitOpError("has params of ")
             << routine.name
             << " below 1: they are numbers of points and blocks";
    }
  }
  for (const RoutineShape &shape : shapes)
    if (!routine.applies(shape, params))
      return op->emitOpError("has a shape that ")
             << routine.name << " does not apply to";
  return success();
}

LogicalResult nnc::checkRoutine(LayerOp layer, target::MachineAttr machine) {
  std::string family;
  StringRef name = layer.getRoutine().value_or("");
  if (name.empty())
    return layer.emitOpError(
        "has no routine; nnc-choose-routines gives it one");
  const Routine *routine = Catalogue::get().findRoutine(name);
  if (!routine)
    return layer.emitOpError("names the routine '")
           << name << "', which is not in the catalogue; of its family there "
           << "are " << listRoutines(getFamily(layer, family));
  if (routine->family->name != getFamily(layer, family))
    return layer.emitOpError("names the routine '")
           << name << "', which belongs to the family " << routine->family->name
           << "; the layer is of " << family;
  const StringRef device = getDevice(layer.getY().getType());
  std::string obstacle = getObstacle(layer, *routine, machine, device);
  if (!obstacle.empty())
    return layer.emitOpError("names the routine '")
           << name << "', which " << obstacle;

  // The routine's layout "any" stands for the layout of the result, or else of
  // the first operand whose layout in the routine's table is "any".
  LayoutAttr any = getLayout(layer.getY().getType());
  if (routine->getLayout(-1) != "any" && routine->getLayout(0) == "any" &&
      layer->getNumOperands() > 0)
    any = getLayout(layer->getOperand(0).getType());
  auto signature = getSignature(layer, *routine, any);
  if (signature)
    signature->moveTo(device);
  if (!signature)
    return layer.emitOpError("has a result of ")
           << layer.getY().getType() << ", which '" << name
           << "' cannot write in that layout";
  if (signature->result != layer.getY().getType())
    return layer.emitOpError("has a result of ")
           << layer.getY().getType() << "; '" << name << "' writes "
           << signature->result;
  for (auto [i, value] : llvm::enumerate(layer.getOperands()))
    if (value.getType() != signature->operands[i] &&
        !(i >= layer.getInputs().size() &&
          isViewOf(signature->operands[i], getTensorType(value))))
      return layer.emitOpError("has an operand ")
             << i << " of " << value.getType() << "; '" << name << "' reads "
             << signature->operands[i];
  std::string problem;
  auto shapes = makeShapes(layer, *signature, problem);
  if (shapes.empty())
    return layer.emitOpError("names the routine '")
           << name << "', but " << problem;
  return checkParams(layer, *routine, shapes, layer.getParams());
}

LogicalResult nnc::checkRoutine(AdaptOp adapt, target::MachineAttr machine) {
  if (adapt.isView() || adapt.isTransfer())
    return success();
  auto call = getAdaptCall(adapt.getX().getType(), adapt.getY().getType());
  if (!call)
    return adapt.emitOpError("changes ")
           << adapt.getX().getType() << " to " << adapt.getY().getType()
           << ", which no routine does";
  StringRef name = adapt.getRoutine().value_or("");
  const Routine *routine = Catalogue::get().findRoutine(name);
  if (!routine || routine->family->name != call->family)
    return adapt.emitOpError("names the routine '")
           << name << "'; of its family there are "
           << listRoutines(call->family);
  auto device = machine ? machine.findDevice(getDevice(adapt.getY().getType()))
                        : target::DeviceAttr();
  if (device && !device.hasIsa(routine->isa))
    return adapt.emitOpError("names the routine '")
           << name << "', which needs " << routine->isa
           << "; the target lacks that";
  std::string problem;
  auto shape = readShape(*call, &problem);
  if (!shape)
    return adapt.emitOpError("cannot be computed: ") << problem;
  return checkParams(adapt, *routine, *shape, adapt.getParams());
}

LogicalResult nnc::checkRoutines(Operation *root, target::MachineAttr machine) {
  bool sound = succeeded(checkDevices(root, machine));
  root->walk([&](Operation *op) {
    if (auto layer = dyn_cast<LayerOp>(op))
      sound &= succeeded(checkRoutine(layer, machine));
    else if (auto adapt = dyn_cast<AdaptOp>(op))
      sound &= succeeded(checkRoutine(adapt, machine));
    else if (auto decode = dyn_cast<DecodeOp>(op))
      sound &= succeeded(checkRoutine(decode, machine));
  });
  return success(sound);
}
