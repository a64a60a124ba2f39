//===- MachineCode.cpp - Stack depth from disassembled machine code -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/toolchain/MachineCode.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace nnc::tools {
namespace {
/// The change of the stack by an instruction.
struct Change {
  bool isKnown = true;
  int64_t bytes = 0; ///< positive if the stack grows
};
} // namespace

/// Returns the number of a name such as "r4" or "d15", or nullopt.
static std::optional<int> readRegister(llvm::StringRef name) {
  static constexpr std::pair<llvm::StringLiteral, int> others[] = {
      {"sl", 10}, {"fp", 11}, {"ip", 12}, {"sp", 13}, {"lr", 14}, {"pc", 15}};
  for (auto [other, number] : others)
    if (name == other)
      return number;
  int number;
  if (name.size() < 2 || !llvm::StringRef("rsdq").contains(name[0]) ||
      name.drop_front().getAsInteger(10, number))
    return std::nullopt;
  return number;
}

/// Returns the bytes of a list of registers, for instance "{r4, r6-r8, lr}", or
/// nullopt.
static std::optional<int64_t> readRegisters(llvm::StringRef list) {
  list = list.trim();
  if (!list.consume_front("{") || !list.consume_back("}"))
    return std::nullopt;
  int64_t bytes = 0;
  for (llvm::StringRef part : llvm::split(list, ',')) {
    auto [first, last] = part.trim().split('-');
    std::optional<int> low = readRegister(first);
    std::optional<int> high = last.empty() ? low : readRegister(last);
    if (!low || !high || *high < *low)
      return std::nullopt;
    bytes += (*high - *low + 1) * (first[0] == 'd'   ? 8
                                   : first[0] == 'q' ? 16
                                                     : 4);
  }
  return bytes;
}

/// Returns the change by an instruction of Thumb or RISC-V. A stack pointer
/// that is restored from another register changes nothing here, which keeps the
/// depth an upper bound.
static Change findChange(llvm::StringRef name, llvm::StringRef operands) {
  const Change unknown = {false, 0};
  auto counted = [&](llvm::StringRef list, int64_t sign) {
    std::optional<int64_t> bytes = readRegisters(list);
    return bytes ? Change{true, sign * *bytes} : unknown;
  };
  if (name.starts_with("push") || name.starts_with("vpush"))
    return counted(operands, 1);
  if (name.starts_with("pop") || name.starts_with("vpop"))
    return counted(operands, -1);
  if (operands.starts_with("sp!,")) {
    llvm::StringRef list = operands.drop_front(4);
    if (name.starts_with("stmdb") || name.starts_with("vstmdb"))
      return counted(list, 1);
    if (name.starts_with("ldm") || name.starts_with("vldm"))
      return counted(list, -1);
    return unknown;
  }
  // Loads and stores that move the stack pointer: [sp, #-8]! and [sp], #8.
  int64_t bytes;
  if (operands.ends_with("]!") && operands.contains("[sp")) {
    llvm::StringRef offset = operands.rsplit('#').second.drop_back(2);
    return offset.getAsInteger(10, bytes) ? unknown : Change{true, -bytes};
  }
  if (operands.contains("[sp],")) {
    llvm::StringRef offset = operands.rsplit('#').second;
    return offset.getAsInteger(10, bytes) ? unknown : Change{true, -bytes};
  }
  // Sums: sub sp, #8; sub sp, sp, #8; add sp,sp,-16.
  auto [target, rest] = operands.split(',');
  const bool adds = name.starts_with("add");
  if (target != "sp" || !(adds || name.starts_with("sub")))
    return {};
  rest = rest.trim();
  if (auto [source, amount] = rest.split(','); !amount.empty()) {
    if (source != "sp")
      return {};
    rest = amount.trim();
  }
  rest.consume_front("#");
  return rest.getAsInteger(10, bytes) ? unknown
                                      : Change{true, adds ? -bytes : bytes};
}

MachineCode::MachineCode(llvm::StringRef listing) : text(listing) {
  Instruction *last = nullptr;
  for (llvm::StringRef line : llvm::split(text, '\n')) {
    uint64_t address;
    // A symbol is its address, flags and section, a tab, its size and name.
    if (auto [place, symbol] = line.split('\t');
        place.ends_with(" .text") &&
        !place.take_until([](char c) { return c == ' '; })
             .getAsInteger(16, address)) {
      functions[symbol.substr(symbol.rfind(' ') + 1)] = address;
      continue;
    }
    // The head of a function is its address and its name.
    auto [place, rest] = line.split(':');
    if (auto [number, name] = place.split(' ');
        name.starts_with("<") && name.ends_with(">") &&
        !number.getAsInteger(16, address)) {
      starts.insert(address);
      continue;
    }
    // An instruction is its address, its bytes, its name and its operands.
    llvm::SmallVector<llvm::StringRef, 4> parts;
    rest.split(parts, '\t');
    if (parts.size() < 3 || place.trim().getAsInteger(16, address))
      continue;
    if (last)
      last->next = address;
    last = nullptr;
    if (parts[2].starts_with("."))
      continue; // data
    last = &instructions[address];
    last->name = parts[2].trim();
    if (parts.size() > 3)
      std::tie(last->operands, last->comment) = parts[3].split(" # ");
    last->operands = last->operands.trim();
  }
}

/// Returns the address that operands end with, before the symbol that it
/// belongs to, as in "r3, 8012 <memcpy+0x6>"; nullopt if there is none.
static std::optional<uint64_t> readTarget(llvm::StringRef operands) {
  auto [before, symbol] = operands.rsplit(" <");
  uint64_t address;
  if (!symbol.ends_with(">") ||
      before.substr(before.find_last_of(", \t") + 1).getAsInteger(16, address))
    return std::nullopt;
  return address;
}

MachineCode::Flow MachineCode::findFlow(const Instruction &instruction) {
  llvm::StringRef operands = instruction.operands;
  auto [name, width] = instruction.name.split('.');
  const auto is = [name = name](llvm::ArrayRef<llvm::StringLiteral> names) {
    return llvm::is_contained(names, name);
  };
  Flow onward, ends, unknown;
  ends.goesOn = false;
  unknown.isKnown = false;
  Flow far = ends;
  far.jumpsFar = true;

  // RISC-V's far jumps and calls go through a register that the instruction
  // before has set; objdump tells the target in a comment.
  const bool isFar = is({"jalr", "jr"}) && !instruction.comment.empty();
  std::optional<uint64_t> target =
      readTarget(isFar ? instruction.comment : operands);
  const auto calls = [&] {
    Flow flow = target ? onward : unknown;
    flow.call = target;
    return flow;
  };
  const auto jumps = [&](Flow flow) {
    flow.jump = target;
    return flow;
  };
  if (isFar && target)
    return operands.ends_with("(ra)") ? calls() : jumps(ends);

  // Returns. One that depends on a condition has another name and may go on.
  const bool writesPc = operands.starts_with("pc") || operands.ends_with("pc}");
  if ((name.starts_with("bx") && operands == "lr") || name == "ret" ||
      (name.starts_with("pop") && writesPc) ||
      (name.starts_with("ldm") && writesPc) ||
      (name.starts_with("ldr") && operands.starts_with("pc, [sp], #")) ||
      (name.starts_with("mov") && operands == "pc, lr"))
    return is({"bx", "ret", "pop", "ldm", "ldmia", "ldr", "mov"}) ? ends
                                                                  : onward;
  if (is({"udf", "bkpt", "ebreak", "unimp"}))
    return ends;
  // This function jumps through the table behind the call.
  if (name == "bl" && operands.contains("<__gnu_thumb1_case_"))
    return far;
  if (name == "jal" && operands.starts_with("t0,")) {
    Flow saves = target ? onward : unknown;
    saves.save = target;
    return saves;
  }
  if (name == "bl" || (name == "jal" && (!operands.contains(',') ||
                                         operands.starts_with("ra,"))))
    return calls();
  if (is({"b", "j"}))
    return target ? jumps(ends) : unknown;
  if (is({"tbb", "tbh"}) || (name == "jr" && operands != "t0") ||
      (writesPc && is({"mov", "add", "ldr"})))
    return far;
  if (writesPc || is({"jal", "jalr", "jr"}) || name.starts_with("bx") ||
      name.starts_with("blx"))
    return unknown;
  return jumps(onward);
}

/// Follows code that saves registers until it comes back, which changes `depth`
/// and, where the stack is larger, `deepest`. Returns false if the code does
/// not show what it does. RISC-V's code gives back a constant in a register.
bool MachineCode::followSaving(uint64_t code, int64_t &depth,
                               int64_t &deepest) const {
  constexpr int most = 64; // instructions
  llvm::StringMap<int64_t> constants;
  for (int i = 0; i < most; ++i) {
    auto found = instructions.find(code);
    if (found == instructions.end())
      return false;
    const Instruction &instruction = found->second;
    llvm::StringRef operands = instruction.operands;
    if (instruction.name == "jr" && operands == "t0")
      return true;
    Change change = findChange(instruction.name, operands);
    Flow flow = findFlow(instruction);
    if (int64_t number; instruction.name == "li" &&
                        !operands.split(',').second.getAsInteger(10, number))
      constants[operands.split(',').first] = number;
    if (instruction.name == "sub" && operands.consume_front("sp,sp,") &&
        constants.count(operands))
      change = {true, constants[operands]};
    if (!change.isKnown || !flow.isKnown || flow.call || flow.save ||
        flow.jumpsFar || flow.goesOn == flow.jump.has_value())
      return false;
    depth += change.bytes;
    deepest = std::max(deepest, depth);
    code = flow.jump ? *flow.jump : instruction.next;
  }
  return false;
}

std::optional<int64_t> MachineCode::follow(uint64_t function) {
  // Deeper than any stack of a library's function: a loop that grows it.
  constexpr int64_t most = int64_t(1) << 20;
  auto nextFunction = starts.upper_bound(function);
  const uint64_t end =
      nextFunction == starts.end() ? UINT64_MAX : *nextFunction;
  std::map<uint64_t, int64_t> reached;
  std::vector<std::pair<uint64_t, int64_t>> open = {{function, 0}};
  int64_t deepest = 0;
  std::optional<int64_t> farJump; // the largest depth of a jump far away
  while (true) {
    if (open.empty()) {
      // The targets of far jumps are code that has not been reached.
      auto next = instructions.lower_bound(function);
      while (farJump && next != instructions.end() && next->first < end &&
             reached.count(next->first))
        ++next;
      if (!farJump || next == instructions.end() || next->first >= end)
        return deepest;
      open.push_back({next->first, *farJump});
    }
    auto [address, depth] = open.back();
    open.pop_back();
    auto [before, isNew] = reached.try_emplace(address, depth);
    if (!isNew && before->second >= depth)
      continue;
    before->second = depth;
    auto found = instructions.find(address);
    if (found == instructions.end())
      return std::nullopt;
    const Instruction &instruction = found->second;
    Change change = findChange(instruction.name, instruction.operands);
    Flow flow = findFlow(instruction);
    depth += change.bytes;
    if (!change.isKnown || !flow.isKnown || depth > most)
      return std::nullopt;
    if (flow.save && !followSaving(*flow.save, depth, deepest))
      return std::nullopt;
    deepest = std::max(deepest, depth);
    if (flow.call) {
      std::optional<int64_t> called = findDepth(*flow.call);
      if (!called)
        return std::nullopt;
      deepest = std::max(deepest, depth + *called);
    }
    if (flow.jumpsFar)
      farJump = std::max(farJump.value_or(depth), depth);
    if (flow.jump)
      open.push_back({*flow.jump, depth});
    // Padding goes on neither to the next function nor to data.
    const bool isPadding =
        farJump &&
        (instruction.next >= end ||
         (instruction.name == "nop" && !instructions.count(instruction.next)));
    if (flow.goesOn && !isPadding)
      open.push_back({instruction.next, depth});
  }
}

std::optional<int64_t> MachineCode::findDepth(uint64_t function) {
  auto [place, isNew] = depths.try_emplace(function);
  Depth &depth = place->second;
  if (!isNew)
    return depth.isOpen ? std::nullopt : depth.bytes;
  depth.isOpen = true;
  depth.bytes = follow(function);
  depth.isOpen = false;
  return depth.bytes;
}

std::optional<int64_t> MachineCode::findDepth(llvm::StringRef function) {
  auto place = functions.find(function);
  if (place == functions.end())
    return std::nullopt;
  return findDepth(place->second);
}

} // namespace nnc::tools
