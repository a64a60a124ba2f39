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
  for (auto input : program.getBody().getOps<exec::InputOp>())
    check("inputs->" + input.getName().str());
  for (auto output : program.getBody().getOps<exec::OutputOp>())
    check("outputs->" + output.getName().str());
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

std::string codegen::printLoadWeights(exec::ProgramOp program,
                                      const EmitOptions &options) {
  Values values;
  std::string name = program.getSymName().str();
  values["name"] = name;
  values["NAME"] = StringRef(name).upper();
  values["prototype"] = printLoadPrototype(program, "extern \"C\" ", ") {");
  values["own"] = embedsWeights(program, options)
                      ? "  if (!weights)\n    weights = " +
                            listWeights(program).front().symbol + ";\n"
                      : "";
  return "\n" + fillTemplate("load_weights.in", values);
}

std::string codegen::printLoadPrototype(exec::ProgramOp program, StringRef head,
                                        StringRef tail) {
  return printList(
      (head + "int " + program.getSymName() + "_load_weights(").str(),
      {"void *device_weights", "const void *weights", "void *stream"}, tail);
}
