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
  return isa<exec::InputOp, exec::OutputOp>(op);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// How `place` is declared in run(). What it holds is said where it is not said
/// elsewhere: in the header, in the layers' comments, in the map of the arena.
static std::string printPlace(exec::PlaceOpInterface place) {
  RankedTensorType type = place.getTensor();
  std::string element = getCppType(type.getElementType()).str();
  std::string name = place.getName().str();
  std::string head = "  " + std::string(place.isWritable() ? "" : "const ") +
                     element + " *const " + name + " = ";
  auto at = [&](const std::string &memory, const std::string &offset) {
    return printList(head + "at<" + element + ">(", {memory, offset}, ");");
  };
  Operation *op = place.getOperation();
  if (auto weight = dyn_cast<exec::WeightOp>(op))
    return at("weights", std::to_string(weight.getOffset()));
  if (isa<exec::BufferOp>(op))
    return at("arena", "place::" + name);
  if (auto view = dyn_cast<exec::ViewOp>(op))
    return printComment(describe(type), "  //") +
           at(getName(view.getBase()), std::to_string(view.getOffset()));
  std::string field = (isa<exec::InputOp>(op) ? "inputs." : "outputs.") + name;
  // A bool is a byte in C's header.
  return type.getElementType().isInteger(1) ? at(field, "0")
                                            : printList(head, {field}, ";");
}

/// The place in the order of running of each operation that runs.
using LayerNumbers = DenseMap<Operation *, int>;

static LayerNumbers numberLayers(exec::ProgramOp program) {
  LayerNumbers numbers;
  for (Operation &op : program.getBody().front())
    if (isa<exec::CallOp, exec::CopyOp>(op))
      numbers.insert({&op, numbers.size()});
  return numbers;
}

/// Widens `range` to the layers that write or read `place` or a view of it.
static void findLayers(Value place, const LayerNumbers &layers,
                       std::pair<int, int> &range) {
  for (Operation *user : place.getUsers()) {
    if (auto view = dyn_cast<exec::ViewOp>(user)) {
      findLayers(view.getPlace(), layers, range);
      continue;
    }
    int layer = layers.lookup(user);
    range = {std::min(range.first, layer), std::max(range.second, layer)};
  }
}

static bool isScratch(exec::BufferOp buffer) {
  return llvm::any_of(buffer->getUsers(), [&](Operation *user) {
    auto call = dyn_cast<exec::CallOp>(user);
    return call && call.getScratch() == buffer.getPlace();
  });
}

/// The map of the arena: a comment and a constant for each buffer.
static std::string printArena(exec::ProgramOp program,
                              const LayerNumbers &layers) {
  std::string text;
  for (auto buffer : program.getBody().getOps<exec::BufferOp>()) {
    std::pair<int, int> range = {layers.size(), 0};
    findLayers(buffer.getPlace(), layers, range);
    std::string comment =
        isScratch(buffer)
            ? std::to_string(buffer.getTensor().getNumElements()) +
                  " bytes to work in"
            : describe(buffer.getTensor());
    if (range.first == range.second)
      comment += ", layer " + std::to_string(range.first);
    else if (range.first < range.second)
      comment += ", layers " + std::to_string(range.first) + " to " +
                 std::to_string(range.second);
    text += printComment(comment, "  //") + "  " + buffer.getName().str() +
            " = " + std::to_string(buffer.getOffset()) + ",\n";
  }
  return text.empty() ? "" : fillTemplate("arena.in", {{"places", text}});
}

//===----------------------------------------------------------------------===//
// run()
//===----------------------------------------------------------------------===//

/// The call of NNC_LAYER_DONE behind layer number `layer`.
static std::string printDone(int layer, Value place) {
  exec::PlaceOpInterface output = exec::getPlaceOp(place);
  int64_t bytes = nn::getPhysicalBytes(output.getTensor());
  return printList(
      "  NNC_LAYER_DONE(",
      {std::to_string(layer), output.getName().str(), std::to_string(bytes)},
      ");");
}

static std::string printCopy(exec::CopyOp copy) {
  RankedTensorType type = exec::getPlaceOp(copy.getTarget()).getTensor();
  return printList("  std::memcpy(",
                   {getName(copy.getTarget()), getName(copy.getSource()),
                    std::to_string(nn::getPhysicalBytes(type))},
                   ");");
}

static std::string printCall(exec::CallOp call) {
  SmallVector<std::string> arguments = {call.getSerial() ? "nnc::pool{}"
                                                         : "pool"};
  for (OperandRange places :
       {call.getInputs(), call.getExtras(), call.getOutputs()})
    for (Value place : places)
      arguments.push_back(getName(place));
  if (Value scratch = call.getScratch())
    arguments.push_back(getName(scratch));
  StringRef function = call.getLike().value_or(call.getName());
  return printList(("  " + function + "(").str(), arguments, ");");
}

static std::string printBody(exec::ProgramOp program,
                             const LayerNumbers &layers, int64_t total) {
  // What a layer is the first to use is declared under the layer's comment.
  std::string body, declared;
  bool usesWeights = false, usesArena = false;
  for (Operation &op : program.getBody().front()) {
    usesWeights |= isa<exec::WeightOp>(op);
    usesArena |= isa<exec::BufferOp>(op);
    if (auto place = dyn_cast<exec::PlaceOpInterface>(op)) {
      (isCallers(op) ? body : declared) += printPlace(place);
      continue;
    }
    body += "\n";
    int layer = layers.lookup(&op);
    auto call = dyn_cast<exec::CallOp>(op);
    if (call && call.getLike())
      body += printLayerComment(call, layer, total, "  ");
    body += std::exchange(declared, "");
    if (call)
      body += printCall(call) + printDone(layer, call.getOutputs()[0]);
    else if (auto copy = dyn_cast<exec::CopyOp>(op))
      body += printCopy(copy) + printDone(layer, copy.getTarget());
  }
  body += declared;
  if (!usesWeights)
    body += "  static_cast<void>(weights);\n";
  if (!usesArena)
    body += "  static_cast<void>(arena);\n";
  return StringRef(body).rtrim().str();
}

/// What must hold for run() to be called.
static std::string printChecks(exec::ProgramOp program,
                               const EmitOptions &options) {
  SmallVector<std::string> checks = {"inputs", "outputs"};
  for (Operation &op : program.getBody().front())
    if (isCallers(op))
      checks.push_back((isa<exec::InputOp>(op) ? "inputs->" : "outputs->") +
                       cast<exec::PlaceOpInterface>(op).getName().str());
  if (options.weights == "file")
    checks.push_back("inputs->weights");
  if (program.getArena()) {
    checks.push_back("arena");
    checks.push_back("reinterpret_cast<std::uintptr_t>(arena) % " +
                     program.getSymName().upper() + "_ALIGN == 0");
  }
  return printList("  return ", checks, ";", " &&");
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

std::string codegen::printPrototype(StringRef name, bool parallel,
                                    StringRef head, StringRef tail) {
  std::string stem = "const struct " + name.str();
  SmallVector<std::string> parameters = {
      stem + "_inputs *inputs", stem + "_outputs *outputs", "void *arena"};
  if (parallel)
    parameters.push_back("const struct nnc_pool *pool");
  std::string function = name.str() + (parallel ? "_run_parallel(" : "_run(");
  return printList((head + "int " + function).str(), parameters, tail);
}

/// <name>_run or <name>_run_parallel.
static std::string printEntry(const Values &values, bool parallel) {
  Values more = values;
  const std::string &name = values.find("name")->second;
  more["prototype"] = printPrototype(name, parallel, "extern \"C\" ", ") {");
  more["call"] =
      printList("  return " + name + "_layers::run(",
                {parallel ? "pool" : "nnc::pool{}", "*inputs", "*outputs",
                 "arena", values.find("weights_pointer")->second},
                ");");
  return fillTemplate("entry.in", more);
}

std::string codegen::printProgram(exec::ProgramOp program,
                                  const EmitOptions &options) {
  LayerNumbers layers = numberLayers(program);
  int64_t total = 0;
  for (auto call : program.getBody().getOps<exec::CallOp>())
    total += call.getMultiplyAdds();
  int64_t whole = std::max<int64_t>(total, 1);
  std::string functions;
  for (auto call : program.getBody().getOps<exec::CallOp>())
    if (!call.getLike())
      functions += printLayer(call, layers.lookup(call), whole);
  bool copies = !program.getBody().getOps<exec::CopyOp>().empty();
  bool hasWeights = program.getWeights() != 0;
  Values values;
  std::string name = program.getSymName().str();
  values["name"] = name;
  values["NAME"] = StringRef(name).upper();
  values["target"] = program.getTarget().str();
  values["layers"] = std::to_string(layers.size());
  values["macs"] = std::to_string(total / 1000000);
  values["flags"] =
      printComment("Build with: " + llvm::join(getFlags(program), " "));
  values["functions"] = StringRef(functions).rtrim('\n').str() + "\n";
  values["arena_map"] = printArena(program, layers);
  std::string inputs = "const struct " + name + "_inputs ";
  std::string outputs = "const struct " + name + "_outputs ";
  values["run_head"] =
      printList("static int run(",
                {"nnc::pool pool", inputs + "&inputs", outputs + "&outputs",
                 "void *arena", "const void *weights"},
                ") {");
  values["body"] = printBody(program, layers, whole);
  values["accepts_head"] =
      printList("static bool accepts(",
                {inputs + "*inputs", outputs + "*outputs",
                 program.getArena() ? "const void *arena" : "const void *"},
                ") {");
  values["checks"] = printChecks(program, options);
  values["copies"] = copies ? "#include <cstring>\n" : "";
  values["weights"] =
      options.weights != "file" && hasWeights
          ? "\nextern \"C\" const unsigned char " + name + "_weights[];\n"
          : "";
  values["weights_pointer"] = options.weights == "file" ? "inputs->weights"
                              : hasWeights              ? name + "_weights"
                                                        : "nullptr";
  values["run"] = printEntry(values, /*parallel=*/false);
  if (options.takesPool())
    values["run"] += "\n" + printEntry(values, /*parallel=*/true);
  return StringRef(fillTemplate("model.cpp.in", values)).rtrim().str() + "\n";
}
