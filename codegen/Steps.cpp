//===- Steps.cpp - The steps of a run -------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Program.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

static std::string getName(Value place) {
  return exec::getPlaceOp(place).getName().str();
}

static bool isCallers(Operation &op) {
  return isa<exec::InputOp, exec::OutputOp, exec::StateOp>(op);
}

/// Returns the declaration of `place` in run(). The contents of a buffer are
/// described elsewhere: in the header, in the comments of layers, and in the
/// map of the arena.
static std::string printPlace(exec::ProgramOp program,
                              exec::PlaceOpInterface place) {
  RankedTensorType type = place.getTensor();
  std::string element = getCppType(type.getElementType()).str();
  std::string name = place.getName().str();
  std::string head = "  " + std::string(place.isWritable() ? "" : "const ") +
                     element + " *const " + name + " = ";
  auto at = [&](const std::string &memory, const std::string &offset) {
    return printList(head + "at<" + element + ">(", {memory, offset}, ");");
  };
  Operation *op = place.getOperation();
  if (isa<exec::WeightOp>(op)) {
    std::string memory = exec::getMemory(op).str();
    for (const WeightsPiece &piece : listWeights(program))
      if (!memory.empty() && piece.memory == memory)
        return at(piece.symbol, "place::" + name);
    return at("weights", "place::" + name);
  }
  if (exec::isInArena(op))
    return at(getArenaPointer(*op, "."), "place::" + name);
  if (auto view = dyn_cast<exec::ViewOp>(op))
    return printComment(describe(type), "  //") +
           at(getName(view.getBase()), std::to_string(view.getOffset()));
  std::string field = (isa<exec::InputOp>(op)   ? "inputs."
                       : isa<exec::StateOp>(op) ? "state."
                                                : "outputs.") +
                      name;
  // In the C header, a bool is a byte, and a 16-bit float is an integer with
  // its bits.
  bool isSame = StringRef(element).ends_with(getCType(type.getElementType()));
  return isSame ? printList(head, {field}, ";") : at(field, "0");
}

//===----------------------------------------------------------------------===//
// run()
//===----------------------------------------------------------------------===//

/// Returns the call of NNC_LAYER_DONE after the layer with index `layer`.
static std::string printDone(int layer, Value place, StringRef indent) {
  exec::PlaceOpInterface output = exec::getPlaceOp(place);
  return printList(
      (indent + "NNC_LAYER_DONE(").str(),
      {std::to_string(layer), output.getName().str(), printBytes(output)},
      ");");
}

/// Returns the name of the variable that counts the trips of a loop.
static std::string getRun(exec::LoopOp loop) {
  return loop.getName().str() + "_n";
}

static std::string printCopy(exec::CopyOp copy, StringRef indent) {
  exec::PlaceOpInterface source = exec::getPlaceOp(copy.getSource());
  std::string target = getName(copy.getTarget());
  if (copy.getByRun()) {
    auto loop = cast<exec::LoopOp>(copy->getParentOp());
    target += " + " + getRun(loop);
    std::string count = printElements(source);
    if (count != "1")
      target += " * " + count;
  }
  StringRef function =
      isCuda(copy.getOperation()) ? "gpu_stream.copy(" : "::memcpy(";
  return printList((indent + function).str(),
                   {target, getName(copy.getSource()), printBytes(source)},
                   ");");
}

/// Returns the line for a transfer. The host can write to the memory of a
/// device that is a core.
static std::string printTransfer(exec::TransferOp transfer, StringRef indent) {
  return printList((indent + "::memcpy(").str(),
                   {getName(transfer.getTarget()),
                    getName(transfer.getSource()),
                    printBytes(exec::getPlaceOp(transfer.getSource()))},
                   ");");
}

/// Returns true if the code of a loop needs the number of the current trip.
static bool isCounted(exec::LoopOp loop) {
  return int64_t(loop.getMax()) != std::numeric_limits<int64_t>::max() ||
         loop.getCount() || loop.getCounter() ||
         llvm::any_of(loop.getSteps().getOps<exec::CopyOp>(),
                      [](exec::CopyOp copy) { return copy.getByRun(); });
}

/// Returns the line that begins a loop.
static std::string printLoopHead(exec::LoopOp loop, StringRef indent) {
  std::string run = getRun(loop);
  SmallVector<std::string> conditions;
  if (std::optional<AffineMap> most = loop.getVaryingMax())
    conditions.push_back(
        run + " < " +
        printSize(most->getResult(0),
                  getSizeNames(loop->getParentOfType<exec::ProgramOp>())));
  else if (int64_t(loop.getMax()) != std::numeric_limits<int64_t>::max())
    conditions.push_back(run + " < " + std::to_string(loop.getMax()));
  std::string first = run + " = 0";
  if (Value count = loop.getCount()) {
    std::string most = printRead(loop, getName(count));
    if (isCuda(loop.getOperation())) {
      // Reading it waits for the GPU, which is done once. An error of CUDA ends
      // the loop, however large the number is.
      first += ", " + run + "_end = " + std::exchange(most, run + "_end");
      conditions.push_back("gpu_stream.is_sound()");
    }
    conditions.push_back(run + " < " + most);
  }
  if (Value condition = loop.getCondition())
    conditions.push_back(printRead(loop, getName(condition)));
  if (!isCounted(loop))
    return printList((indent + "while (").str(), conditions, ") {", " &&");
  std::string text = printList((indent + "for (int64_t " + first + "; ").str(),
                               conditions, "; ++" + run + ") {", " &&");
  if (Value counter = loop.getCounter())
    text += isCuda(loop.getOperation())
                ? printList((indent + "  gpu_stream.write(").str(),
                            {getName(counter), run}, ");")
                : printList((indent + "  *" + getName(counter) + " = ").str(),
                            {run}, ";");
  return text;
}

/// Returns true if the kernels of a call on a GPU take the second of two inputs
/// for weights, which they load before earlier launches have ended, but the
/// program computes it.
static bool computesWeights(exec::CallOp call) {
  if (!call.getHeader().ends_with(".cuh") || call.getInputs().size() != 2)
    return false;
  Operation *place = call.getInputs()[1].getDefiningOp();
  while (auto view = dyn_cast<exec::ViewOp>(place))
    place = view.getBase().getDefiningOp();
  return !isa<exec::WeightOp>(place);
}

static std::string printCall(exec::CallOp call, StringRef indent) {
  bool isSerial = call.getSerial() && !isCuda(call.getOperation());
  SmallVector<std::string> arguments = {
      isSerial ? "nnc::pool{}" : getQueueName(call.getOperation()).str()};
  if (call.getSized())
    arguments.push_back(call.getName().str() + "_sizes");
  for (OperandRange places :
       {call.getInputs(), call.getExtras(), call.getOutputs()})
    for (Value place : places)
      arguments.push_back(getName(place));
  if (Value scratch = call.getScratch())
    arguments.push_back(getName(scratch));
  StringRef function = call.getLike().value_or(call.getName());
  return printList((indent + function + "(").str(), arguments, ");");
}

/// Returns the definition of a size that the program has computed, and a return
/// statement for the case that the size is out of bounds.
static std::string printMeasure(exec::MeasureOp measure, StringRef indent) {
  auto program = measure->getParentOfType<exec::ProgramOp>();
  exec::SizeAttr size;
  for (auto each : program.getSizes().getAsRange<exec::SizeAttr>())
    if (each.getName() == measure.getSize())
      size = each;
  std::string name = size.getName().str();
  return printList((indent + "const int " + name + " = ").str(),
                   {"static_cast<int>(" +
                    printRead(measure, getName(measure.getCount())) + ")"},
                   ";") +
         printList((indent + "if (").str(),
                   {name + " < " + std::to_string(size.getLow()),
                    name + " > " + std::to_string(size.getHigh())},
                   ")", " ||") +
         indent.str() + "  return " + program.getSymName().upper() +
         "_WRONG_SIZE;\n";
}

/// Returns the sizes that must not be zero for a call's result to have
/// elements.
static SmallVector<std::string> listNeededSizes(exec::CallOp call) {
  auto program = call->getParentOfType<exec::ProgramOp>();
  AffineMap dims = exec::getVaryingDims(
      exec::getPlaceOp(call.getOutputs()[0]).getOperation());
  SmallVector<std::string> needed;
  unsigned count = program.getSizes().size();
  for (unsigned i = 0; dims && i < count; ++i) {
    auto size = cast<exec::SizeAttr>(program.getSizes()[i]);
    if (size.getLow() > 0)
      continue;
    auto isZero = [&](AffineExpr dim) {
      MLIRContext *context = dim.getContext();
      AffineExpr without = dim.replace(getAffineSymbolExpr(i, context),
                                       getAffineConstantExpr(0, context));
      auto constant = dyn_cast<AffineConstantExpr>(
          simplifyAffineExpr(without, 0, dims.getNumSymbols()));
      return constant && constant.getValue() == 0;
    };
    if (llvm::any_of(dims.getResults(), isZero))
      needed.push_back(size.getName().str() + " > 0");
  }
  return needed;
}

/// Returns the code of a step that does not declare a place. `indent` precedes
/// its lines, and the text `declared` follows its comment.
static std::string printStep(Operation &op, const LayerNumbers &layers,
                             int64_t total, const std::string &indent,
                             const std::string &declared) {
  std::string text;
  int layer = layers.lookup(&op);
  auto printSteps = [&](Region &steps) {
    for (Operation &step : steps.front())
      text += printStep(step, layers, total, indent + "  ", "");
  };
  auto call = dyn_cast<exec::CallOp>(op);
  if (call && call.getLike() && !call.getSized())
    text += printLayerComment(call, layer, total, indent);
  text += declared;
  if (call && call.getVarying())
    text += printVaryingSizes(
        call, getSizeNames(call->getParentOfType<exec::ProgramOp>()), indent);
  if (call) {
    if (computesWeights(call))
      text += indent + "gpu_stream.join();\n";
    // Routines need not support results without elements.
    SmallVector<std::string> needed = listNeededSizes(call);
    if (!needed.empty())
      text += printList(indent + "if (", needed, ")", " &&");
    text += printCall(call, needed.empty() ? indent : indent + "  ") +
            printDone(layer, call.getOutputs()[0], indent);
  } else if (auto measure = dyn_cast<exec::MeasureOp>(op)) {
    text += printMeasure(measure, indent);
  } else if (auto custom = dyn_cast<exec::CustomOp>(op)) {
    text += printCustomCall(custom, indent) +
            printDone(layer, custom.getOutput(), indent);
  } else if (auto copy = dyn_cast<exec::CopyOp>(op)) {
    text +=
        printCopy(copy, indent) +
        printDone(layer, copy.getByRun() ? copy.getSource() : copy.getTarget(),
                  indent);
  } else if (auto transfer = dyn_cast<exec::TransferOp>(op)) {
    text += printTransfer(transfer, indent) +
            printDone(layer, transfer.getTarget(), indent);
  } else if (auto wait = dyn_cast<exec::WaitOp>(op)) {
    text += printComment(
        ("What " + wait.getDevice() + " does is done when it is called.").str(),
        indent + "//");
  } else if (auto branch = dyn_cast<exec::BranchOp>(op)) {
    text += indent + "// " + branch.getName().str() + "\n" + indent + "if (" +
            printRead(branch, getName(branch.getCondition())) + ") {\n";
    printSteps(branch.getThenSteps());
    if (!branch.getElseSteps().front().empty()) {
      text += indent + "} else {\n";
      printSteps(branch.getElseSteps());
    }
    text += indent + "}\n";
  } else if (auto loop = dyn_cast<exec::LoopOp>(op)) {
    text += printLoopHead(loop, indent);
    printSteps(loop.getSteps());
    text += indent + "}\n";
  }
  return text;
}

std::string codegen::printBody(exec::ProgramOp program,
                               const LayerNumbers &layers, int64_t total) {
  // Places are declared after the comment of the first layer that uses them.
  std::string body, declared;
  bool usesWeights = false, usesArena = false;
  bool inArena = hasPortsInArena(program);
  SmallVector<StringRef> sizes = getSizeNames(program);
  for (StringRef size : getCallersSizes(program))
    body += ("  const int " + size + " = inputs." + size + ";\n" +
             "  static_cast<void>(" + size + ");\n")
                .str();
  const std::string uploads = printUploads(program);
  const std::string downloads = printDownloads(program);
  body += uploads;
  if (int64_t bytes = program.getCounterBytes()) {
    usesArena = true;
    exec::CallOp clearing = findClearingCall(program);
    std::string comment = "Blocks of a launch count each other here.";
    if (clearing)
      comment +=
          (" " + clearing.getName() + " sets the counters to zero.").str();
    body += printComment(comment, "  //") +
            printList(clearing ? "  gpu_stream.set_counters("
                               : "  gpu_stream.clear_counters(",
                      {"at<void>(" + getArenaName(program).str() + ", " +
                           std::to_string(program.getArena() - bytes) + ")",
                       std::to_string(bytes)},
                      ");");
  }
  for (Operation &op : program.getBody().front()) {
    // An unused place in the arena is not declared.
    if (exec::getPortOffset(&op) && op.use_empty())
      continue;
    usesWeights |= isa<exec::WeightOp>(op) && exec::getMemory(&op).empty();
    usesArena |= exec::isInArena(&op);
    if (auto place = dyn_cast<exec::PlaceOpInterface>(op)) {
      (isCallers(op) ? body : declared) += printPlace(program, place);
      // Inputs that no layer reads and results without elements are marked as
      // unused.
      if (isCallers(op) && place->use_empty())
        body += "  static_cast<void>(" + place.getName().str() + ");\n";
      continue;
    }
    body +=
        "\n" + printStep(op, layers, total, "  ", std::exchange(declared, ""));
  }
  body += declared;
  if (!downloads.empty())
    body += "\n" + downloads;
  if (!usesWeights)
    body += "  static_cast<void>(weights);\n";
  if (!usesArena)
    body += "  static_cast<void>(" + getArenaName(program).str() + ");\n";
  auto takesPool = [](exec::CallOp call) { return !call.getSerial(); };
  if (!isCuda(program) &&
      llvm::none_of(exec::getSteps<exec::CallOp>(program), takesPool))
    body += "  static_cast<void>(pool);\n";
  bool takesSizes = !getCallersSizes(program).empty();
  bool readsInputs =
      program.getHostPorts()
          ? !uploads.empty()
          : !inArena && !program.getBody().getOps<exec::InputOp>().empty();
  bool writesOutputs = program.getHostPorts() ? !downloads.empty() : !inArena;
  if (!takesSizes && !readsInputs)
    body += "  static_cast<void>(inputs);\n";
  if (!writesOutputs)
    body += "  static_cast<void>(outputs);\n";
  return StringRef(body).rtrim().str();
}
