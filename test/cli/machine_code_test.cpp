//===- machine_code_test.cpp - Stack depth from machine code --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/toolchain/MachineCode.h"

#include "llvm/ADT/StringExtras.h"

#include <catch2/catch.hpp>

using namespace nnc::tools;

/// Lists instructions of two bytes each, as objdump prints them. A line without
/// a tab is the name of a function that begins there.
static std::string list(llvm::ArrayRef<llvm::StringRef> lines) {
  std::string symbols, code;
  int address = 0x10000;
  for (llvm::StringRef line : lines) {
    std::string place = llvm::utohexstr(address, /*LowerCase=*/true);
    if (line.contains('\t')) {
      code += "   " + place + ":\tbf00      \t" + line.str() + "\n";
      address += 2;
      continue;
    }
    symbols += "000" + place + " g     F .text\t00000008 " + line.str() + "\n";
    code += "\n000" + place + " <" + line.str() + ">:\n";
  }
  return symbols + code;
}

static std::optional<int64_t> depth(llvm::ArrayRef<llvm::StringRef> lines) {
  return MachineCode(list(lines)).findDepth("f");
}

TEST_CASE("stack of straight code") {
  CHECK(depth({"f", "bx\tlr"}) == 0);
  CHECK(depth({"f", "push\t{r4, r6-r8, lr}", "sub\tsp, #12", "add\tsp, #12",
               "pop\t{r4, r6-r8, pc}"}) == 32);
  CHECK(depth({"f", "vpush\t{d8-d9}", "stmdb\tsp!, {r4, lr}",
               "str.w\tr0, [sp, #-4]!", "ldr.w\tpc, [sp], #4"}) == 28);
  CHECK(depth({"f", "add\tsp,sp,-48", "sw\tra,44(sp)", "add\tsp,sp,48",
               "ret\t"}) == 48);
  // A comment is no operand, and other uses of sp leave it as it is.
  CHECK(depth({"f", "sub\tsp, #68\t@ 0x44", "add\tr0, sp, #4", "mov\tsp, r7",
               "bx\tlr"}) == 68);
}

TEST_CASE("stack of branches and calls") {
  // The deeper one of two paths, and a loop that gives back what it takes.
  CHECK(depth({"f", "cbz\tr0, 10006 <f+0x6>", "push\t{r4}", "pop\t{r4}",
               "sub\tsp, #16", "add\tsp, #16", "bne.n\t10006 <f+0x6>",
               "bx\tlr"}) == 16);
  // Calls are deeper than their caller; the last call may be a jump.
  llvm::StringRef callee[] = {"f",
                              "push\t{r4, lr}",
                              "bl\t1000a <g>",
                              "pop\t{r4, lr}",
                              "b.n\t1000a <g>",
                              "nop\t",
                              "g",
                              "sub\tsp, #24",
                              "add\tsp, #24",
                              "bx\tlr"};
  CHECK(depth(callee) == 32);
  // A conditional return may go on.
  CHECK(depth({"f", "bxeq\tlr", "push\t{r4, lr}", "pop\t{r4, pc}"}) == 8);
  CHECK(depth({"f", "add\tsp,sp,-16", "auipc\tra,0x0",
               "jalr\t6(ra) # 1000a <g>", "add\tsp,sp,16", "ret\t", "g",
               "add\tsp,sp,-32", "add\tsp,sp,32", "ret\t"}) == 48);
}

TEST_CASE("stack of code that saves registers for others") {
  auto find = [](llvm::StringRef frame, llvm::StringRef release) {
    return depth({"f", "jal\tt0,10008 <save>", frame, release,
                  "j\t10010 <restore>", "save", "add\tsp,sp,-64", "li\tt1,-32",
                  "sub\tsp,sp,t1", "jr\tt0", "restore", "lw\tra,28(sp)",
                  "add\tsp,sp,32", "ret\t"});
  };
  CHECK(find("add\tsp,sp,-48", "add\tsp,sp,48") == 32 + 48);
  CHECK(find("add\tsp,sp,-16", "add\tsp,sp,16") == 64);
  CHECK_FALSE(depth({"f", "jal\tt0,10004 <g>", "ret\t", "g", "ret\t"}));
}

TEST_CASE("stack behind a jump through a table") {
  CHECK(depth({"f", "push\t{lr}", "mov\tpc, r3", "sub\tsp, #8", "add\tsp, #8",
               "pop\t{pc}", "sub\tsp, #40", "add\tsp, #40", "pop\t{pc}",
               "nop\t", "g", "sub\tsp, #400", "bx\tlr"}) == 44);
  CHECK(depth({"f", "push\t{lr}", "mov\tpc, r3", "pop\t{pc}", "nop\t",
               ".word\t0x00000001"}) == 4);
  CHECK(depth({"f", "push\t{lr}", "bl\t10100 <__gnu_thumb1_case_uqi>",
               ".short\t0x0802", "pop\t{pc}"}) == 4);
}

TEST_CASE("stack that the code does not show") {
  CHECK_FALSE(depth({"g", "bx\tlr"}));
  CHECK_FALSE(depth({"f", "sub\tsp, sp, r3", "bx\tlr"}));
  CHECK_FALSE(depth({"f", "blx\tr3", "bx\tlr"}));
  CHECK_FALSE(depth({"f", "bl\t10000 <f>", "bx\tlr"}));
  CHECK_FALSE(depth({"f", "bl\t0 <h>", "bx\tlr"}));
  CHECK_FALSE(depth({"f", "push\t{r4}", "b.n\t10000 <f>"}));
  CHECK_FALSE(depth({"f", "jalr\ta5", "ret\t"}));
  CHECK_FALSE(depth({"f", "nop\t"}));
}
