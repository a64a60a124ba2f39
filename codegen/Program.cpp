//===- Program.cpp - <name>.cpp: the layers, and what calls them ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

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

/// Returns the field of an input or output, as in `inputs->x`.
static std::string getPortField(Operation &op, StringRef access) {
  return ((isa<exec::InputOp>(op) ? "inputs" : "outputs") + access +
          cast<exec::PlaceOpInterface>(op).getName())
      .str();
}

/// Returns the pointer to the memory that holds a place in the arena, as in
/// `arena` or, with several memories, `arenas->dtcm`.
static std::string getArenaPointer(Operation &op, StringRef access) {
  StringRef memory = exec::getMemory(&op);
  return memory.empty() ? "arena" : ("arenas" + access + memory).str();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

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
  // In the C header a bool is a byte, and a 16-bit float its bits.
  bool isSame = StringRef(element).ends_with(getCType(type.getElementType()));
  return isSame ? printList(head, {field}, ";") : at(field, "0");
}

//===----------------------------------------------------------------------===//
// run()
//===----------------------------------------------------------------------===//

/// Returns the call of NNC_LAYER_DONE after layer number `layer`.
static std::string printDone(int layer, Value place, StringRef indent) {
  exec::PlaceOpInterface output = exec::getPlaceOp(place);
  return printList(
      (indent + "NNC_LAYER_DONE(").str(),
      {std::to_string(layer), output.getName().str(), printBytes(output)},
      ");");
}

/// Returns the name of the variable that counts the runs of a loop.
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
  return printList((indent + "::memcpy(").str(),
                   {target, getName(copy.getSource()), printBytes(source)},
                   ");");
}

/// Returns the line for a transfer. Memory of a device that is a core is where
/// the host can write it.
static std::string printTransfer(exec::TransferOp transfer, StringRef indent) {
  return printList((indent + "::memcpy(").str(),
                   {getName(transfer.getTarget()),
                    getName(transfer.getSource()),
                    printBytes(exec::getPlaceOp(transfer.getSource()))},
                   ");");
}

/// Whether a loop has to know which run it is in.
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
  if (Value count = loop.getCount())
    conditions.push_back(run + " < *" + getName(count));
  if (Value condition = loop.getCondition())
    conditions.push_back("*" + getName(condition));
  if (!isCounted(loop))
    return printList((indent + "while (").str(), conditions, ") {", " &&");
  std::string text =
      printList((indent + "for (int64_t " + run + " = 0; ").str(), conditions,
                "; ++" + run + ") {", " &&");
  if (Value counter = loop.getCounter())
    text += printList((indent + "  *" + getName(counter) + " = ").str(), {run},
                      ";");
  return text;
}

static std::string printCall(exec::CallOp call, StringRef indent) {
  SmallVector<std::string> arguments = {call.getSerial() ? "nnc::pool{}"
                                                         : "pool"};
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

/// Returns the definition of a size that the program has computed, and the
/// return where that is out of bounds.
static std::string printMeasure(exec::MeasureOp measure, StringRef indent) {
  auto program = measure->getParentOfType<exec::ProgramOp>();
  exec::SizeAttr size;
  for (auto each : program.getSizes().getAsRange<exec::SizeAttr>())
    if (each.getName() == measure.getSize())
      size = each;
  std::string name = size.getName().str();
  return printList((indent + "const int " + name + " = ").str(),
                   {"static_cast<int>(*" + getName(measure.getCount()) + ")"},
                   ";") +
         printList((indent + "if (").str(),
                   {name + " < " + std::to_string(size.getLow()),
                    name + " > " + std::to_string(size.getHigh())},
                   ")", " ||") +
         indent.str() + "  return " + program.getSymName().upper() +
         "_WRONG_SIZE;\n";
}

/// Returns the sizes without which a call's result has no elements.
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

/// Returns what stands for a step that is no place; `indent` is in front of its
/// lines, and `declared` behind the comment.
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
    // Routines need not handle results without elements.
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
    text += indent + "// " + branch.getName().str() + "\n" + indent + "if (*" +
            getName(branch.getCondition()) + ") {\n";
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

static std::string printBody(exec::ProgramOp program,
                             const LayerNumbers &layers, int64_t total) {
  // Places are declared below the comment of the first layer that uses them.
  std::string body, declared;
  bool usesWeights = false, usesArena = false;
  bool inArena = hasPortsInArena(program);
  SmallVector<StringRef> sizes = getSizeNames(program);
  for (StringRef size : getCallersSizes(program))
    body += ("  const int " + size + " = inputs." + size + ";\n" +
             "  static_cast<void>(" + size + ");\n")
                .str();
  for (Operation &op : program.getBody().front()) {
    // An unused place in the arena needs no name.
    if (exec::getPortOffset(&op) && op.use_empty())
      continue;
    usesWeights |= isa<exec::WeightOp>(op) && exec::getMemory(&op).empty();
    usesArena |= exec::isInArena(&op);
    if (auto place = dyn_cast<exec::PlaceOpInterface>(op)) {
      (isCallers(op) ? body : declared) += printPlace(program, place);
      // Inputs that no layer reads and results without elements are not
      // declared.
      if (isCallers(op) && place->use_empty())
        body += "  static_cast<void>(" + place.getName().str() + ");\n";
      continue;
    }
    body +=
        "\n" + printStep(op, layers, total, "  ", std::exchange(declared, ""));
  }
  body += declared;
  if (!usesWeights)
    body += "  static_cast<void>(weights);\n";
  if (!usesArena)
    body += "  static_cast<void>(" + getArenaName(program).str() + ");\n";
  auto takesPool = [](exec::CallOp call) { return !call.getSerial(); };
  if (llvm::none_of(exec::getSteps<exec::CallOp>(program), takesPool))
    body += "  static_cast<void>(pool);\n";
  bool takesSizes = !getCallersSizes(program).empty();
  if (!takesSizes &&
      (inArena || program.getBody().getOps<exec::InputOp>().empty()))
    body += "  static_cast<void>(inputs);\n";
  if (inArena)
    body += "  static_cast<void>(outputs);\n";
  return StringRef(body).rtrim().str();
}

/// Returns the expression for the pointer to the program's weights in the
/// emitted code, or "nullptr" if they are not in one piece.
static std::string getWeightsPointer(exec::ProgramOp program,
                                     const EmitOptions &options) {
  if (takesWeights(program, options))
    return "inputs->weights";
  for (const WeightsPiece &piece : listWeights(program))
    if (piece.memory.empty())
      return piece.symbol;
  return "nullptr";
}

/// Returns the namespace that holds what is known of a piece of the weights, as
/// the beginning of a name.
static std::string getScope(const WeightsPiece &piece) {
  return piece.memory.empty() ? "" : "weights_" + piece.memory + "::";
}

/// Returns the statements that check each piece of the weights in its turn;
/// `scope` is in front of the names of functions. `checksAll` reads all bytes.
static std::string printWeightChecks(exec::ProgramOp program,
                                     const std::string &scope, bool checksAll) {
  std::string text;
  for (const WeightsPiece &piece : listWeights(program)) {
    SmallVector<std::string> arguments = {piece.symbol};
    if (checksAll)
      arguments.push_back(piece.macro);
    text += printList("  if (const int fault = " + scope + getScope(piece) +
                          "find_fault(",
                      arguments, "))") +
            "    return fault;\n";
  }
  return text + "  return " + program.getSymName().upper() + "_OK;\n";
}

/// Returns the constants and functions that check each piece of the weights.
static std::string printWeightFaults(exec::ProgramOp program,
                                     ArrayRef<WeightsPiece> weights,
                                     const Values &values) {
  std::string text;
  for (auto [piece, own] : llvm::zip_equal(weights, listWeights(program))) {
    Values more = values;
    more["hash"] = "0x" + llvm::utohexstr(piece.hash, /*LowerCase=*/true,
                                          /*Width=*/16);
    more["header"] = std::to_string(getWeightsHeaderBytes(program));
    more["macro"] = own.macro;
    std::string checks = fillTemplate("check_weights.in", more);
    std::string scope = getScope(piece);
    StringRef name = StringRef(scope).drop_back(scope.empty() ? 0 : 2);
    text += name.empty()
                ? checks
                : ("namespace " + name + " {\n" + StringRef(checks).rtrim() +
                   "\n} // namespace " + name + "\n\n")
                      .str();
  }
  return text;
}

/// Returns the declarations of the arrays that hold the weights.
static std::string printWeightArrays(ArrayRef<WeightsPiece> weights) {
  std::string text;
  for (const WeightsPiece &piece : weights)
    text += "\nextern \"C\" const unsigned char " + piece.symbol + "[];\n";
  return text;
}

/// Returns the definition of is_at(), which tells whether an input or output is
/// at its place in the arena.
static std::string printIsAt() {
  return "/// Whether a pointer is to the place `offset` bytes behind "
         "`memory`.\n"
         "static bool is_at(const void *memory, size_t offset,\n"
         "                  const void *pointer) {\n"
         "  return pointer == at<unsigned char>(memory, offset);\n"
         "}\n\n";
}

/// Returns the pointers to all memories that the program takes bytes of.
static SmallVector<std::string> listArenas(exec::ProgramOp program) {
  SmallVector<std::string> arenas;
  for (auto memory : program.getMemories().getAsRange<exec::MemoryAttr>())
    if (memory.getBytes())
      arenas.push_back("arenas->" + memory.getName().str());
  if (!hasMemories(program) && program.getArena())
    arenas.push_back("arena");
  return arenas;
}

/// Returns conditions that are true for ports that are not where they lie in
/// the arena.
static SmallVector<std::string> listMovedPorts(exec::ProgramOp program) {
  SmallVector<std::string> moved;
  for (Operation &op : program.getBody().front())
    if (exec::getPortOffset(&op)) {
      std::string name = cast<exec::PlaceOpInterface>(op).getName().str();
      moved.push_back("!is_at(" + getArenaPointer(op, "->") +
                      ", place::" + name + ", " + getPortField(op, "->") + ")");
    }
  return moved;
}

/// Returns the body of find_fault(), which checks the arguments of run().
static std::string printChecks(exec::ProgramOp program,
                               const EmitOptions &options) {
  std::string status = program.getSymName().upper() + "_", text;
  auto check = [&](ArrayRef<std::string> faults, StringRef what) {
    text += printList("  if (", faults, ")", " ||") + "    return " + status +
            what.str() + ";\n";
  };
  SmallVector<std::string> inputs = {"!inputs"}, outputs = {"!outputs"};
  for (auto input : program.getBody().getOps<exec::InputOp>())
    inputs.push_back("!inputs->" + input.getName().str());
  for (auto output : program.getBody().getOps<exec::OutputOp>())
    outputs.push_back("!outputs->" + output.getName().str());
  check(inputs, "NULL_INPUT");
  check(outputs, "NULL_OUTPUT");
  SmallVector<std::string> wrong;
  for (auto size : program.getSizes().getAsRange<exec::SizeAttr>()) {
    if (size.getFound())
      continue;
    std::string name = "inputs->" + size.getName().str();
    wrong.push_back(name + " < " + std::to_string(size.getLow()));
    wrong.push_back(name + " > " + std::to_string(size.getHigh()));
    if (size.getStep() > 1)
      wrong.push_back("(" + name + " - " + std::to_string(size.getLow()) +
                      ") % " + std::to_string(size.getStep()) + " != 0");
  }
  if (!wrong.empty())
    check(wrong, "WRONG_SIZE");
  if (hasState(program))
    check({"!state"}, "NULL_STATE");
  SmallVector<std::string> null, misaligned;
  if (hasMemories(program))
    null.push_back("!arenas");
  for (const std::string &arena : listArenas(program)) {
    null.push_back("!" + arena);
    misaligned.push_back("reinterpret_cast<uintptr_t>(" + arena + ") % " +
                         status + "ALIGN != 0");
  }
  if (!null.empty())
    check(null, "NULL_ARENA");
  if (!misaligned.empty())
    check(misaligned, "MISALIGNED_ARENA");
  if (SmallVector<std::string> moved = listMovedPorts(program); !moved.empty())
    check(moved, "NOT_PLACED");
  if (!program.getWeightMemories().empty())
    return text + printWeightChecks(program, "", /*checksAll=*/false);
  if (program.getWeights())
    return text + printList("  return find_fault(",
                            {getWeightsPointer(program, options)}, ");");
  return text + "  return " + status + "OK;\n";
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

std::string codegen::printPrototype(exec::ProgramOp program, bool parallel,
                                    StringRef head, StringRef tail) {
  StringRef name = program.getSymName();
  std::string stem = "const struct " + name.str();
  SmallVector<std::string> parameters = {stem + "_inputs *inputs",
                                         stem + "_outputs *outputs"};
  if (hasState(program))
    parameters.push_back("struct " + name.str() + "_state *state");
  parameters.push_back(getArenaParameter(program));
  if (parallel)
    parameters.push_back("const struct nnc_pool *pool");
  std::string function = name.str() + (parallel ? "_run_parallel(" : "_run(");
  return printList((head + "int " + function).str(), parameters, tail);
}

/// Returns the definition of <name>_run or <name>_run_parallel.
static std::string printEntry(exec::ProgramOp program, const Values &values,
                              bool parallel) {
  Values more = values;
  const std::string &name = values.find("name")->second;
  more["prototype"] = printPrototype(program, parallel, "extern \"C\" ", ") {");
  SmallVector<std::string> checked = {"inputs", "outputs"},
                           passed = {parallel ? "pool" : "nnc::pool{}",
                                     "*inputs", "*outputs"};
  if (hasState(program)) {
    checked.push_back("state");
    passed.push_back("*state");
  }
  checked.push_back(getArenaName(program).str());
  passed.append({(hasMemories(program) ? "*" : "") + checked.back(),
                 values.find("weights_pointer")->second});
  more["check"] =
      printList("  if (const int fault = " + name + "_layers::find_fault(",
                checked, "))");
  more["call"] = printList("  return " + name + "_layers::run(", passed, ");");
  return fillTemplate("entry.in", more);
}

bool codegen::hasPortsInArena(exec::ProgramOp program) {
  return llvm::any_of(program.getBody().front(), [](Operation &op) {
    return exec::getPortOffset(&op).has_value();
  });
}

SmallVector<std::string> codegen::getPlaceParameters(exec::ProgramOp program) {
  std::string stem = "struct " + program.getSymName().str();
  return {stem + "_inputs *inputs", stem + "_outputs *outputs",
          getArenaParameter(program)};
}

bool codegen::hasMemories(exec::ProgramOp program) {
  return !program.getMemories().empty();
}

StringRef codegen::getArenaName(exec::ProgramOp program) {
  return hasMemories(program) ? "arenas" : "arena";
}

std::string codegen::getArenaParameter(exec::ProgramOp program) {
  if (!hasMemories(program))
    return "void *arena";
  return "const struct " + program.getSymName().str() + "_arenas *arenas";
}

/// Returns the definition of <name>_place.
static std::string printPlaceEntry(exec::ProgramOp program) {
  std::string name = program.getSymName().str();
  std::string text = printList("extern \"C\" void " + name + "_place(",
                               getPlaceParameters(program), ") {");
  for (Operation &op : program.getBody().front())
    if (exec::getPortOffset(&op)) {
      auto port = cast<exec::PlaceOpInterface>(op);
      text += printList(
          "  " + getPortField(op, "->") + " = " + name + "_layers::at<" +
              getCType(port.getTensor().getElementType()).str() + ">(",
          {getArenaPointer(op, "->"),
           name + "_layers::place::" + port.getName().str()},
          ");");
    }
  return text + "}\n";
}

/// Returns the definition of <name>_check_weights, which reads all bytes of the
/// weights.
static std::string printCheckEntry(exec::ProgramOp program,
                                   const EmitOptions &options) {
  std::string name = program.getSymName().str();
  bool given = takesWeights(program, options);
  SmallVector<std::string> parameters, arguments;
  if (given) {
    parameters = {"const void *weights", "size_t bytes"};
    arguments = {"weights", "bytes"};
  } else {
    arguments = {getWeightsPointer(program, options),
                 program.getSymName().upper() + "_WEIGHT_BYTES"};
  }
  std::string head =
      "\n" + printList("extern \"C\" int " + name + "_check_weights(",
                       parameters, ") {");
  if (!program.getWeightMemories().empty())
    return head +
           printWeightChecks(program, name + "_layers::", /*checksAll=*/true) +
           "}\n";
  return head +
         printList("  return " + name + "_layers::find_fault(", arguments,
                   ");") +
         "}\n";
}

/// Returns the functions of a program, the first of its module or another one.
/// Sets the values of the template for the whole file that the first one tells.
static std::string printProgram(exec::ProgramOp program,
                                const EmitOptions &options,
                                ArrayRef<WeightsPiece> weights, bool isFirst,
                                Values &values) {
  LayerNumbers layers = numberLayers(program);
  int64_t total = countMultiplyAdds(program);
  int64_t whole = std::max<int64_t>(total, 1);
  std::string functions;
  for (Operation *op : exec::getSteps(program))
    if (auto call = dyn_cast<exec::CallOp>(op))
      functions += printLayer(call, layers.lookup(call), whole);
    else if (auto custom = dyn_cast<exec::CustomOp>(op))
      functions += printCustomLayer(custom, layers.lookup(custom));
  std::string name = program.getSymName().str();
  values["name"] = name;
  values["NAME"] = StringRef(name).upper();
  values["target"] = program.getTarget().str();
  values["layers"] = std::to_string(layers.size());
  bool isOpen = llvm::any_of(
      exec::getSteps<exec::CallOp>(program), [](exec::CallOp call) {
        return call.getMultiplyAdds() && getTrips(call).isOpen;
      });
  values["macs"] = printMultiplyAdds(total) +
                   (isOpen ? " with one trip of each open loop" : "");
  values["flags"] =
      printComment("Build with: " + llvm::join(getFlags(program), " "));
  values["functions"] = StringRef(functions).rtrim('\n').str() + "\n";
  values["places"] = printPlaces(program, layers);
  std::string inputs = "const struct " + name + "_inputs ";
  std::string outputs = "const struct " + name + "_outputs ";
  SmallVector<std::string> taken = {"nnc::pool pool", inputs + "&inputs",
                                    outputs + "&outputs"};
  SmallVector<std::string> checked = {inputs + "*inputs", outputs + "*outputs"};
  if (hasState(program)) {
    taken.push_back("struct " + name + "_state &state");
    checked.push_back("const struct " + name + "_state *state");
  }
  if (hasMemories(program)) {
    std::string arenas = "const struct " + name + "_arenas ";
    taken.push_back(arenas + "&arenas");
    checked.push_back(arenas + "*arenas");
  } else {
    taken.push_back("void *arena");
    checked.push_back(program.getArena() ? "const void *arena"
                                         : "const void *");
  }
  taken.push_back("const void *weights");
  values["run_head"] = printList("static int run(", taken, ") {");
  values["body"] = printBody(program, layers, whole);
  values["check_weights"] = printWeightFaults(program, weights, values);
  values["check_head"] = printList("static int find_fault(", checked, ") {");
  values["checks"] = printChecks(program, options);
  values["is_at"] = hasPortsInArena(program) ? printIsAt() : "";
  values["weights"] = takesWeights(program, options) || !isFirst
                          ? ""
                          : printWeightArrays(weights);
  values["weights"] += printCustomDeclarations(program);
  values["weights_pointer"] = getWeightsPointer(program, options);
  values["run"] = printEntry(program, values, /*parallel=*/false);
  if (options.takesPool())
    values["run"] += "\n" + printEntry(program, values, /*parallel=*/true);
  if (hasState(program))
    values["run"] += "\n" + printReset(program);
  if (hasPortsInArena(program))
    values["run"] += "\n" + printPlaceEntry(program);
  if (!weights.empty())
    values["run"] += printCheckEntry(program, options);
  std::string text =
      StringRef(fillTemplate("program.in", values)).rtrim().str() + "\n";
  if (isFirst)
    return text;
  return "\n" +
         printComment(name + ": " + values["layers"] + " layers, " +
                      values["macs"] + ".") +
         "#undef NNC_LAYER_DONE\n" + text;
}

std::string codegen::printPrograms(ArrayRef<exec::ProgramOp> programs,
                                   const EmitOptions &options,
                                   ArrayRef<WeightsPiece> weights) {
  Values values;
  auto copiesBytes = [](exec::ProgramOp program) {
    return llvm::any_of(exec::getSteps(program),
                        llvm::IsaPred<exec::CopyOp, exec::TransferOp>);
  };
  bool copies = copiesBytes(programs.front());
  std::string text = printProgram(programs.front(), options, weights,
                                  /*isFirst=*/true, values);
  for (exec::ProgramOp program : programs.drop_front()) {
    Values own;
    text += printProgram(program, options, weights, /*isFirst=*/false, own);
    copies |= copiesBytes(program);
  }
  values["programs"] = text;
  values["layouts"] = printLayouts(programs);
  values["about"] = printComment(
      values["layers"] + (values["layers"] == "1" ? " layer, " : " layers, ") +
      values["macs"] +
      ". A function for each, or for several alike, its shape as constants; "
      "run() at the end calls them in order.");
  values["copies"] = copies ? "#include <string.h>\n" : "";
  return StringRef(fillTemplate("model.cpp.in", values)).rtrim().str() + "\n";
}
