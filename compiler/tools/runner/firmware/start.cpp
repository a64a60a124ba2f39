//===- start.cpp - From reset to main(), and the timer, on Cortex-M -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#if defined(__arm__)

#include "firmware.h"

// Symbols of the linker script.
extern "C" uint64_t bss_begin[], bss_end[];
extern "C" uint32_t stack_begin[], stack_end[];
extern "C" char clock_hertz[]; // its address is the value

int main();

namespace firmware {
namespace {

/// Returns a register of the core at an address that the architecture fixes.
volatile uint32_t &at(uintptr_t address) {
  return *reinterpret_cast<volatile uint32_t *>(address);
}

constexpr uintptr_t timerControl = 0xe000e010, timerReload = 0xe000e014,
                    timerValue = 0xe000e018, interruptState = 0xe000ed04,
                    vectorTable = 0xe000ed08, coprocessors = 0xe000ed88;

constexpr uint32_t timerBits = 24, pattern = 0xa5a5a5a5;

/// The number of times that the timer, which counts down, has restarted.
volatile uint32_t wraps;

/// The end of the part of the stack that was painted.
uint32_t *painted;

void countWrap() { wraps = wraps + 1; }

void stopAtFault() { fail("the program was stopped by an exception"); }

extern "C" [[noreturn]] void reset();

struct Vectors {
  uint32_t *stack;
  void (*handlers[15])();
};

extern "C" __attribute__((section(".vectors"), used)) const Vectors vectors = {
    stack_end,
    {reset, stopAtFault, stopAtFault, stopAtFault, stopAtFault, stopAtFault,
     nullptr, nullptr, nullptr, nullptr, stopAtFault, stopAtFault, nullptr,
     stopAtFault, countWrap}};

extern "C" void reset() {
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
  at(coprocessors) = at(coprocessors) | 0xf << 20; // switches the FPU on
  asm volatile("dsb\n\tisb" ::: "memory");
#endif
  for (uint64_t *word = bss_begin; word < bss_end; ++word)
    *word = 0;
  finish(main());
}

} // namespace

void startClock() {
  at(vectorTable) =
      static_cast<uint32_t>(reinterpret_cast<uintptr_t>(&vectors));
  at(timerReload) = (1u << timerBits) - 1;
  at(timerValue) = 0;
  at(timerControl) = 7; // counts the core's clock, interrupts at zero, runs
}

uint64_t now() {
  constexpr uint32_t isPending = 1u << 26;
  uint32_t high, low;
  do {
    high = wraps;
    low = at(timerValue);
  } while (high != wraps || (at(interruptState) & isPending));
  const uint64_t ticks = (static_cast<uint64_t>(high) << timerBits) +
                         ((1u << timerBits) - 1 - low);
  const uint64_t megahertz = reinterpret_cast<uintptr_t>(clock_hertz) / 1000000;
  return ticks * 1000 / megahertz;
}

void paintStack() {
  // The loop is written in assembly, because a compiler might spill registers
  // to the stack after the stack pointer was read.
  uint32_t *word = stack_begin, *end;
  asm volatile(".syntax unified\n"
               "cpsid i\n"
               "mov %0, sp\n"
               "1: cmp %1, %0\n"
               "bhs 2f\n"
               "str %2, [%1]\n"
               "adds %1, #4\n"
               "b 1b\n"
               "2:"
               : "=&l"(end), "+l"(word)
               : "l"(pattern)
               : "cc", "memory");
  painted = end;
}

size_t measureStack(const void *top) {
  asm volatile("cpsie i" ::: "memory");
  const uint32_t *word = stack_begin;
  while (word < painted && *word == pattern)
    ++word;
  return static_cast<size_t>(reinterpret_cast<uintptr_t>(top) -
                             reinterpret_cast<uintptr_t>(word));
}

} // namespace firmware

#endif // __arm__
