//===- Places.cpp - Addresses of values as commented constants ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "dialects/nn/description/Description.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

LayerNumbers codegen::numberLayers(exec::ProgramOp program) {
  LayerNumbers numbers;
  for (Operation *op : exec::getSteps(program))
    numbers.insert({op, numbers.size()});
  return numbers;
}

/// Collects the steps that write or read `place` or a view of it.
static void findUsers(Value place, SmallVectorImpl<Operation *> &found) {
  for (Operation *user : place.getUsers())
    if (auto view = dyn_cast<exec::ViewOp>(user))
      findUsers(view.getPlace(), found);
    else
      found.push_back(user);
}

/// Extends `range` to all layers that write or read `place` or a view of it. A
/// place that is used both in a loop and outside of it is in use during the
/// whole loop.
static void findLayers(Value place, const LayerNumbers &layers,
                       std::pair<int, int> &range) {
  SmallVector<Operation *> users;
  findUsers(place, users);
  auto extend = [&](int layer) {
    range = {std::min(range.first, layer), std::max(range.second, layer)};
  };
  llvm::DenseSet<Operation *> seen;
  for (Operation *user : users) {
    if (auto number = layers.find(user); number != layers.end())
      extend(number->second);
    for (Operation *around = user; !isa<exec::ProgramOp>(around);
         around = around->getParentOp()) {
      bool isLocal = llvm::all_of(users, [&](Operation *other) {
        return around->isProperAncestor(other);
      });
      if (isLocal || !isa<exec::LoopOp, exec::BranchOp>(around) ||
          !seen.insert(around).second)
        continue;
      around->walk([&](Operation *step) {
        bool isIn = isa<exec::LoopOp>(around) || step == user;
        if (auto number = layers.find(step); isIn && number != layers.end())
          extend(number->second);
      });
    }
  }
}

static bool isScratch(exec::BufferOp buffer) {
  return llvm::any_of(buffer->getUsers(), [&](Operation *user) {
    if (auto custom = dyn_cast<exec::CustomOp>(user))
      return custom.getScratch() == buffer.getPlace();
    auto call = dyn_cast<exec::CallOp>(user);
    return call && call.getScratch() == buffer.getPlace();
  });
}

SmallVector<ArenaSpan> codegen::listArena(exec::ProgramOp program,
                                          const LayerNumbers &layers) {
  SmallVector<ArenaSpan> spans;
  int last = std::max<int>(static_cast<int>(layers.size()), 1) - 1;
  for (auto place : program.getBody().getOps<exec::PlaceOpInterface>()) {
    auto buffer = dyn_cast<exec::BufferOp>(*place);
    std::optional<int64_t> offset = exec::getPortOffset(place);
    if (!exec::isInArena(place))
      continue;
    std::pair<int, int> range = {layers.size(), 0};
    findLayers(place->getResult(0), layers, range);
    if (isa<exec::InputOp>(place))
      range.first = 0;
    if (isa<exec::OutputOp>(place))
      range = {std::min(range.first, last), last};
    spans.push_back(
        {place, buffer ? static_cast<int64_t>(buffer.getOffset()) : *offset,
         range.first, range.second, buffer && isScratch(buffer)});
  }
  return spans;
}

/// Prints a comment and a constant for each buffer of the arena.
static std::string printBuffers(exec::ProgramOp program,
                                const LayerNumbers &layers) {
  std::string text;
  for (ArenaSpan span : listArena(program, layers)) {
    std::string comment =
        span.isScratch
            ? std::to_string(span.place.getTensor().getNumElements()) +
                  " bytes to work in"
            : describe(span.place.getTensor());
    if (StringRef memory = exec::getMemory(span.place); !memory.empty())
      comment += " of " + memory.str();
    if (span.first == span.last)
      comment += ", layer " + std::to_string(span.first);
    else if (span.first < span.last)
      comment += ", layers " + std::to_string(span.first) + " to " +
                 std::to_string(span.last);
    text += printComment(comment, "  //") + "  " + span.place.getName().str() +
            " = " + std::to_string(span.offset) + ",\n";
  }
  return text;
}

/// Returns the role of a weight in the first call that reads it, such as
/// "bias", or an empty string.
static StringRef findRole(exec::WeightOp weight) {
  StringRef role;
  Operation *first = nullptr;
  for (OpOperand &use : weight.getPlace().getUses()) {
    Operation *call = use.getOwner();
    auto roles = call->getAttrOfType<ArrayAttr>(nn::kRolesAttr);
    bool isEarlier = !first || (first->getBlock() == call->getBlock() &&
                                call->isBeforeInBlock(first));
    if (!roles || use.getOperandNumber() >= roles.size() || !isEarlier)
      continue;
    first = call;
    role = cast<StringAttr>(roles[use.getOperandNumber()]).getValue();
  }
  return role;
}

/// Prints a comment and a constant for each weight. Offsets are relative to the
/// start of the file of weights, including its header.
static std::string printWeights(exec::ProgramOp program) {
  std::string text;
  uint64_t header = getWeightsHeaderBytes(program);
  for (auto weight : program.getBody().getOps<exec::WeightOp>()) {
    std::string comment = describe(weight.getTensor());
    if (StringRef role = findRole(weight); !role.empty())
      comment += ", " + role.str();
    if (StringRef memory = exec::getMemory(weight); !memory.empty())
      comment += " in " + memory.str();
    auto name = dyn_cast<NameLoc>(weight.getLoc());
    if (name && name.getName() != weight.getName())
      comment += ", " + printModelName(name.getName()) + " in the model";
    text += printComment(comment, "  //") + "  " + weight.getName().str() +
            " = " + std::to_string(header + weight.getOffset()) + ",\n";
  }
  return text;
}

/// Prints an enum of `constants`, or nothing if there are none.
static std::string printConstants(StringRef comment, StringRef constants) {
  if (constants.empty())
    return "";
  return printComment(comment) +
         ("enum : size_t {\n" + constants + "};\n").str();
}

std::string codegen::printPlaces(exec::ProgramOp program,
                                 const LayerNumbers &layers) {
  std::string arena = printConstants(
      "Where values lie in the arena, in bytes, and the layers between which "
      "their bytes are in use. Values that are never in use at once share "
      "memory. Layers are numbered in the order in which they run.",
      printBuffers(program, layers));
  std::string weights = printConstants(
      program.getWeightMemories().empty()
          ? "Where weights lie, in bytes from the start of all of them."
          : "Where weights lie, in bytes from the start of those in the same "
            "memory.",
      printWeights(program));
  if (arena.empty() && weights.empty())
    return "";
  return fillTemplate("places.in", {{"arena", arena}, {"weights", weights}});
}
