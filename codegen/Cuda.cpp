//===- Cuda.cpp - What differs where a program is printed as CUDA ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A CUDA program calls the same functions for its layers as one for a CPU, but
// they get a stream instead of a thread pool, and run() reads and writes single
// values of the GPU's memory through that stream.
//
//===----------------------------------------------------------------------===//

#include "codegen/Program.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

bool codegen::isCuda(exec::ProgramOp program) {
  return !program.getArchitectures().empty();
}

bool codegen::isCuda(Operation *op) {
  auto program = dyn_cast<exec::ProgramOp>(op);
  return isCuda(program ? program : op->getParentOfType<exec::ProgramOp>());
}

bool codegen::hasBlocks(ArrayRef<exec::ProgramOp> programs) {
  return llvm::any_of(programs, [](exec::ProgramOp program) {
    return llvm::any_of(
        exec::getSteps<exec::CallOp>(program),
        [](exec::CallOp call) { return call.getHeader().ends_with(".cuh"); });
  });
}

StringRef codegen::getQueueName(Operation *op) {
  return isCuda(op) ? "gpu_stream" : "pool";
}

std::string codegen::getQueueParameter(Operation *op) {
  return isCuda(op) ? "nnc::stream &gpu_stream" : "nnc::pool pool";
}

std::string codegen::printRead(Operation *op, const std::string &place) {
  return isCuda(op) ? "gpu_stream.read(" + place + ")" : "*" + place;
}

SmallVector<StringRef> codegen::listDecisions(exec::ProgramOp program) {
  SmallVector<StringRef> names;
  if (!isCuda(program))
    return names;
  program->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto branch = dyn_cast<exec::BranchOp>(op))
      names.push_back(branch.getName());
    else if (auto measure = dyn_cast<exec::MeasureOp>(op))
      names.push_back(measure.getSize());
    else if (auto loop = dyn_cast<exec::LoopOp>(op))
      if (loop.getCount() || loop.getCondition())
        names.push_back(loop.getName());
  });
  return names;
}

bool codegen::takesPool(exec::ProgramOp program, const EmitOptions &options) {
  return options.threads > 1 && !isCuda(program);
}

StringRef codegen::getSourceExtension(exec::ProgramOp program) {
  return isCuda(program) ? ".cu" : ".cpp";
}

bool codegen::embedsWeights(exec::ProgramOp program,
                            const EmitOptions &options) {
  return options.weights != "file" && program.getWeights() != 0;
}

std::string codegen::printPointerChecks(exec::ProgramOp program) {
  std::string status = program.getSymName().upper() + "_NOT_ON_GPU";
  SmallVector<std::string> faults;
  auto check = [&](const std::string &pointer) {
    faults.push_back("!nnc::is_on_gpu(" + pointer + ")");
  };
  for (Operation &op : program.getBody().front()) {
    // A pointer that may be null is not checked.
    if (isa<exec::InputOp, exec::OutputOp>(op) && !program.getHostPorts() &&
        !printNullFault(op).empty())
      check(getPortField(op, "->"));
  }
  if (hasState(program))
    check("state");
  if (program.getArena() && !hasMemories(program))
    check("arena");
  if (program.getWeights())
    check("inputs->weights");
  if (faults.empty())
    return "";
  return "#if defined(NNC_CHECK_POINTERS) && NNC_CHECK_POINTERS\n" +
         printList("  if (", faults, ")", " ||") + "    return " + status +
         ";\n#endif\n";
}

/// Returns the bytes of the copy of an input or output of a program with
/// `host_ports`, and its place in the arena. The place is not a variable of
/// run() if no step names it: it may have the memory of another value, which is
/// the same one.
static std::pair<std::string, std::string> describeCopy(Operation &port) {
  auto place = cast<exec::PlaceOpInterface>(port);
  return {printBytes(place), "at<unsigned char>(" + getArenaPointer(port, ".") +
                                 ", place::" + place.getName().str() + ")"};
}

template <class Port>
static std::string printCopies(exec::ProgramOp program, StringRef function) {
  std::string text;
  for (Operation &op : program.getBody().front()) {
    if (!program.getHostPorts() || !isa<Port>(op) ||
        cast<Port>(op).getTensor().getNumElements() == 0)
      continue;
    auto [bytes, place] = describeCopy(op);
    std::string field = getPortField(op, ".");
    bool isInput = isa<exec::InputOp>(op);
    text += printList(("  gpu_stream." + function + "(").str(),
                      {isInput ? place : field, isInput ? field : place, bytes},
                      ");");
  }
  return text;
}

std::string codegen::printUploads(exec::ProgramOp program) {
  return printCopies<exec::InputOp>(program, "upload");
}

std::string codegen::printDownloads(exec::ProgramOp program) {
  return printCopies<exec::OutputOp>(program, "download");
}

std::string codegen::printLoadWeights(exec::ProgramOp program,
                                      const EmitOptions &options) {
  Values values;
  std::string name = program.getSymName().str();
  values["name"] = name;
  values["NAME"] = StringRef(name).upper();
  values["prototype"] =
      printLoadPrototype(program, options, "extern \"C\" ", ") {");
  values["own"] = embedsWeights(program, options)
                      ? "  if (!weights)\n    weights = " +
                            listWeights(program).front().symbol + ";\n"
                      : "";
  values["size"] = embedsWeights(program, options)
                       ? ""
                       : "  if (weights && bytes != " + values["NAME"] +
                             "_WEIGHT_BYTES)\n    return " + values["NAME"] +
                             "_WRONG_WEIGHT_BYTES;\n";
  return "\n" + fillTemplate("load_weights.in", values);
}

std::string codegen::printLoadPrototype(exec::ProgramOp program,
                                        const EmitOptions &options,
                                        StringRef head, StringRef tail) {
  SmallVector<std::string> parameters = {"void *device_weights",
                                         "const void *weights"};
  if (!embedsWeights(program, options))
    parameters.push_back("size_t bytes");
  parameters.push_back("void *stream");
  return printList(
      (head + "int " + program.getSymName() + "_load_weights(").str(),
      parameters, tail);
}
