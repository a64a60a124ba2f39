//===- firmware.h - Substitutes for an operating system -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The runner for machines without an operating system. It takes the options of
// ../main.cpp and prints the same lines, but counts instructions instead of
// seconds. It uses no library except the few C functions that a module needs.
// A debugger or an emulator provides its files through Arm's semihosting.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_RUNNER_FIRMWARE_H
#define NNC_TOOLS_RUNNER_FIRMWARE_H

#include <stddef.h>
#include <stdint.h>

namespace firmware {

/// Returns the number of instructions since the program started. The emulator
/// executes one instruction in each nanosecond of its clock, which the board's
/// timer counts. This function and the next three depend on the board:
/// start.cpp and the linker script implement them.
uint64_t now();
/// Starts the timer.
void startClock();
/// Fills the unused part of the stack with a pattern. No interrupt uses the
/// stack until it is measured.
void paintStack();
/// Returns the bytes of stack below `top`, a stack pointer, that were used
/// since paintStack().
size_t measureStack(const void *top);
/// Returns the stack pointer of the caller.
__attribute__((always_inline)) inline const void *stackPointer() {
  const void *place;
#if defined(__arm__)
  asm volatile("mov %0, sp" : "=r"(place));
#else
  asm volatile("mv %0, sp" : "=r"(place));
#endif
  return place;
}

/// A file on the machine that runs the emulator.
class File {
public:
  enum Mode { read = 1, write = 5 }; // "rb" and "wb"
  File() = default;
  /// Opens a file. A failure ends the program.
  File(const char *path, Mode mode);
  void close();
  size_t size() const;
  void get(void *data, size_t bytes) const;
  void put(const void *data, size_t bytes) const;

private:
  const char *path = nullptr;
  intptr_t handle = -1;
};

/// Returns the path of the file of arguments that the emulator was given. The
/// buffer `room` of `bytes` bytes holds it.
const char *readCommandLine(char *room, size_t bytes);

/// Allocates memory that is never freed, aligned to `align` bytes. A failure
/// ends the program.
void *allocate(size_t bytes, size_t align);

void print(const char *text);
void print(uint64_t number);

/// End the program. fail() prints a message first and reports a failure.
[[noreturn]] void finish(int status);
[[noreturn]] void fail(const char *message, const char *detail = "");

} // namespace firmware

#endif // NNC_TOOLS_RUNNER_FIRMWARE_H
