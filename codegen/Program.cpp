//===- Program.cpp - <name>.cpp: layers and entry points ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Program.h"
#include "codegen/Printer.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

std::string codegen::printPrototype(exec::ProgramOp program, bool parallel,
                                    StringRef head, StringRef tail) {
  StringRef name = program.getSymName();
  std::string stem = "const struct " + name.str();
  SmallVector<std::string> parameters = {stem + "_inputs *inputs",
                                         stem + "_outputs *outputs"};
  if (hasState(program))
    parameters.push_back("struct " + name.str() + "_state *state");
  parameters.push_back(getArenaParameter(program));
  if (isCuda(program))
    parameters.push_back("void *stream");
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
                           passed = {isCuda(program) ? "queue"
                                     : parallel      ? "pool"
                                                     : "nnc::pool{}",
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
  more["tiles"] = program.getTiles() ? fillTemplate("tiles.in", values) : "";
  more["call"] = (isCuda(program) ? "  nnc::stream queue(stream);\n" : "") +
                 printList("  return " + name + "_layers::run(", passed, ");");
  return fillTemplate("entry.in", more);
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

/// Returns the functions of a program. `isFirst` tells whether it is the first
/// program of its module; in this case, the values of the template for the
/// whole file are set.
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
  values["wait"] =
      isCuda(program)
          ? "NNC_HOOKS <= 1 && !gpu_stream.wait() ? static_cast<void>(0)" +
                std::string(18, ' ') + "\\\n      : "
          : "";
  bool isOpen = llvm::any_of(
      exec::getSteps<exec::CallOp>(program), [](exec::CallOp call) {
        return call.getMultiplyAdds() && getTrips(call).isOpen;
      });
  values["macs"] = printMultiplyAdds(total) +
                   (isOpen ? " with one trip of each open loop" : "");
  values["launches"] =
      isCuda(program) ? " A run is " + countLaunches(program).describe() + "."
                      : "";
  values["flags"] =
      printComment("Build with: " + llvm::join(getFlags(program), " "));
  values["functions"] = StringRef(functions).rtrim('\n').str() + "\n";
  values["places"] = printPlaces(program, layers);
  std::string inputs = "const struct " + name + "_inputs ";
  std::string outputs = "const struct " + name + "_outputs ";
  SmallVector<std::string> taken = {getQueueParameter(program),
                                    inputs + "&inputs", outputs + "&outputs"};
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
  values["weights"] = embedsWeights(program, options) && isFirst
                          ? printWeightArrays(weights)
                          : "";
  values["weights"] += printCustomDeclarations(program);
  values["weights_pointer"] = getWeightsPointer(program, options);
  values["result"] = isCuda(program) ? "status_of(gpu_stream)" : "0";
  values["status"] =
      isCuda(program) ? fillTemplate("cuda_status.in", values) : "";
  values["run"] = printEntry(program, values, /*parallel=*/false);
  if (isCuda(program) && !weights.empty())
    values["run"] += printLoadWeights(program, options);
  if (takesPool(program, options))
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
                      values["macs"] + "." + values["launches"]) +
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
      "run() at the end calls them in order." +
      values["launches"]);
  values["customs"] = printCustomIncludes(programs.front());
  values["copies"] = copies ? "#include <string.h>\n" : "";
  // Without the compiler's flags tiles would be arrays, which are slow.
  bool tiles = llvm::any_of(
      programs, [](exec::ProgramOp program) { return program.getTiles(); });
  values["needs"] = tiles ? fillTemplate("tiles_needed.in", values) : "";
  StringRef file = isCuda(programs.front()) ? "model.cu.in" : "model.cpp.in";
  return StringRef(fillTemplate(file, values)).rtrim().str() + "\n";
}
