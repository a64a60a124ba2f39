//===- ArgumentChecks.cpp - The checks of the arguments of a run ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Program.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

std::string codegen::printIsAt() {
  return "/// Whether a pointer is to the place `offset` bytes behind "
         "`memory`.\n"
         "static bool is_at(const void *memory, size_t offset,\n"
         "                  const void *pointer) {\n"
         "  return pointer == at<unsigned char>(memory, offset);\n"
         "}\n\n";
}

/// Returns the pointers to all memories in which the program uses bytes.
static SmallVector<std::string> listArenas(exec::ProgramOp program) {
  SmallVector<std::string> arenas;
  for (auto memory : program.getMemories().getAsRange<exec::MemoryAttr>())
    if (memory.getBytes())
      arenas.push_back("arenas->" + memory.getName().str());
  if (!hasMemories(program) && program.getArena())
    arenas.push_back("arena");
  return arenas;
}

/// Returns conditions that are true if an input or output is not at its place
/// in the arena.
static SmallVector<std::string> listMovedPorts(exec::ProgramOp program) {
  SmallVector<std::string> moved;
  if (!hasPortsInArena(program))
    return moved;
  for (Operation &op : program.getBody().front())
    if (exec::getPortOffset(&op)) {
      std::string name = cast<exec::PlaceOpInterface>(op).getName().str();
      moved.push_back("!is_at(" + getArenaPointer(op, "->") +
                      ", place::" + name + ", " + getPortField(op, "->") + ")");
    }
  return moved;
}

/// Returns conditions that are true if an input, an output or the state is not
/// aligned to the chunks in which kernels on blocks of threads access it.
static SmallVector<std::string> listMisalignedPorts(exec::ProgramOp program) {
  SmallVector<std::string> misaligned;
  for (Operation &op : program.getBody().front())
    if (isa<exec::InputOp, exec::OutputOp>(op) && !program.getHostPorts())
      misaligned.push_back("reinterpret_cast<uintptr_t>(" +
                           getPortField(op, "->") + ") % 16 != 0");
  if (hasState(program))
    misaligned.push_back("reinterpret_cast<uintptr_t>(state) % 16 != 0");
  return misaligned;
}

std::string codegen::printNullFault(Operation &port) {
  bool isEmpty =
      cast<exec::PlaceOpInterface>(port).getTensor().getNumElements() == 0;
  return isCuda(&port) && isEmpty ? "" : "!" + getPortField(port, "->");
}

std::string codegen::printChecks(exec::ProgramOp program,
                                 const EmitOptions &options) {
  std::string status = program.getSymName().upper() + "_", text;
  auto check = [&](ArrayRef<std::string> faults, StringRef what) {
    text += printList("  if (", faults, ")", " ||") + "    return " + status +
            what.str() + ";\n";
  };
  SmallVector<std::string> inputs = {"!inputs"}, outputs = {"!outputs"};
  for (Operation &op : program.getBody().front())
    if (isa<exec::InputOp, exec::OutputOp>(op))
      if (std::string fault = printNullFault(op); !fault.empty())
        (isa<exec::InputOp>(op) ? inputs : outputs).push_back(fault);
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
  if (hasBlocks(program))
    if (SmallVector<std::string> ports = listMisalignedPorts(program);
        !ports.empty())
      check(ports, "MISALIGNED_PORT");
  if (isCuda(program)) {
    if (program.getWeights()) {
      check({"!inputs->weights"}, "NULL_WEIGHTS");
      check({"reinterpret_cast<uintptr_t>(inputs->weights) % " + status +
             "ALIGN != 0"},
            "MISALIGNED_WEIGHTS");
    }
    return text + printPointerChecks(program) + "  return " + status + "OK;\n";
  }
  if (!program.getWeightMemories().empty())
    return text + printWeightChecks(program, "", /*checksAll=*/false);
  if (program.getWeights())
    return text + printList("  return find_fault(",
                            {getWeightsPointer(program, options)}, ");");
  return text + "  return " + status + "OK;\n";
}
