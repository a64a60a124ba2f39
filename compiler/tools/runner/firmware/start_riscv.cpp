//===- start_riscv.cpp - From reset to main(), and the timer, on RISC-V ---===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#if defined(__riscv)

#include "firmware.h"

extern "C" uint32_t stack_begin[]; // from the linker script

int main();

extern "C" [[noreturn]] void run_main();
extern "C" [[noreturn]] void stop_at_trap();

// The first instructions of the program set up a stack and a handler of
// exceptions, and fill memory without other initial values with zeros.
asm(R"(
  .option arch, +zicsr
  .section .vectors, "ax"
  .global reset
reset:
  la sp, stack_end
  la t0, stop
  csrw mtvec, t0
  la t0, bss_begin
  la t1, bss_end
1:
  bgeu t0, t1, 2f
  sw zero, 0(t0)
  addi t0, t0, 4
  j 1b
2:
  call run_main
  .balign 4
stop:
  la sp, stack_end
  call stop_at_trap
  .text
)");

namespace firmware {
namespace {
constexpr uint32_t pattern = 0xa5a5a5a5;

/// The end of the part of the stack that was painted.
uint32_t *painted;
} // namespace

void startClock() {}

uint64_t now() {
  // With -icount shift=0, each instruction takes one cycle.
#if __riscv_xlen == 64
  uint64_t cycles;
  asm volatile(".option push\n"
               ".option arch, +zicsr\n"
               "csrr %0, mcycle\n"
               ".option pop"
               : "=r"(cycles)
               :
               : "memory");
  return cycles;
#else
  uint32_t high, low, again;
  do
    asm volatile(".option push\n"
                 ".option arch, +zicsr\n"
                 "csrr %0, mcycleh\n"
                 "csrr %1, mcycle\n"
                 "csrr %2, mcycleh\n"
                 ".option pop"
                 : "=&r"(high), "=&r"(low), "=&r"(again)
                 :
                 : "memory");
  while (high != again);
  return (static_cast<uint64_t>(high) << 32) + low;
#endif
}

void paintStack() {
  // The loop is written in assembly, because a compiler might spill registers
  // to the stack after the stack pointer was read.
  uint32_t *word = stack_begin, *end;
  asm volatile("mv %0, sp\n"
               "1: bgeu %1, %0, 2f\n"
               "sw %2, 0(%1)\n"
               "addi %1, %1, 4\n"
               "j 1b\n"
               "2:"
               : "=&r"(end), "+r"(word)
               : "r"(pattern)
               : "memory");
  painted = end;
}

size_t measureStack(const void *top) {
  const uint32_t *word = stack_begin;
  while (word < painted && *word == pattern)
    ++word;
  return static_cast<size_t>(reinterpret_cast<uintptr_t>(top) -
                             reinterpret_cast<uintptr_t>(word));
}

} // namespace firmware

void run_main() { firmware::finish(main()); }

void stop_at_trap() {
  firmware::fail("the program was stopped by an exception");
}

#endif // __riscv
