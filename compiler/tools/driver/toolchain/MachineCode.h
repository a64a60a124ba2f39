//===- MachineCode.h - Stack depth from disassembled machine code ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_MACHINECODE_H
#define NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_MACHINECODE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace nnc::tools {

/// The machine code of a linked program for Thumb or RISC-V, as GNU objdump
/// prints it. It tells how deep the stack of a function is of which there is no
/// source, such as memcpy().
class MachineCode {
public:
  /// `listing` is the output of `objdump -d -t` for a program whose code lies
  /// in the section .text.
  explicit MachineCode(llvm::StringRef listing);

  /// Returns an upper bound of the bytes of stack that a function needs
  /// together with the functions that it calls. Returns nullopt if the code
  /// shows none: if the program lacks the function or one that it calls, or if
  /// there is recursion, a call through a register, or an amount of stack that
  /// depends on data. A jump through a table or a register is taken to go to
  /// code of the function that nothing else reaches.
  std::optional<int64_t> findDepth(llvm::StringRef function);

private:
  struct Instruction {
    llvm::StringRef name, operands, comment;
    uint64_t next = 0; ///< address of the instruction behind this one
  };
  /// The steps that may follow an instruction.
  struct Flow {
    bool isKnown = true;
    bool goesOn = true;    ///< to the next instruction
    bool jumpsFar = false; ///< through a table or a register
    std::optional<uint64_t> jump, call;
    /// Code that saves registers on the stack and comes back, by way of t0.
    std::optional<uint64_t> save;
  };
  struct Depth {
    std::optional<int64_t> bytes;
    bool isOpen = false; ///< true while the code of the function is followed
  };

  static Flow findFlow(const Instruction &);
  bool followSaving(uint64_t code, int64_t &depth, int64_t &deepest) const;
  std::optional<int64_t> findDepth(uint64_t function);
  std::optional<int64_t> follow(uint64_t function);

  std::string text;
  std::map<uint64_t, Instruction> instructions;
  llvm::StringMap<uint64_t> functions;
  std::set<uint64_t> starts; ///< of the functions
  std::map<uint64_t, Depth> depths;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_MACHINECODE_H
