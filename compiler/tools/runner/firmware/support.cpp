//===- support.cpp - Files by semihosting, memory, and messages -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "firmware.h"

extern "C" unsigned char bulk_begin[], bulk_end[]; // from the linker script

namespace firmware {
namespace {

/// Numbers of operations from Arm's semihosting specification, version 2.
enum Operation {
  sysOpen = 0x01,
  sysClose = 0x02,
  sysWrite = 0x05,
  sysRead = 0x06,
  sysFileLength = 0x0c,
  sysGetCommandLine = 0x15,
  sysExitExtended = 0x20
};

intptr_t call(Operation operation, const void *block) {
#if defined(__arm__)
  register intptr_t result asm("r0") = operation;
  register const void *parameters asm("r1") = block;
  asm volatile("bkpt 0xab" : "+r"(result) : "r"(parameters) : "memory");
  return result;
#elif defined(__riscv)
  register intptr_t result asm("a0") = operation;
  register const void *parameters asm("a1") = block;
  asm volatile(".option push\n"
               ".balign 16\n" // the three are in one page
               ".option norvc\n"
               "slli zero, zero, 0x1f\n"
               "ebreak\n"
               "srai zero, zero, 7\n"
               ".option pop"
               : "+r"(result)
               : "r"(parameters)
               : "memory");
  return result;
#else
#error "there is no semihosting call for this machine"
#endif
}

// Converts a pointer to a field of a block of parameters, which is as wide as a
// register.
intptr_t word(const void *pointer) {
  return reinterpret_cast<intptr_t>(pointer);
}
intptr_t word(size_t number) { return static_cast<intptr_t>(number); }

size_t lengthOf(const char *text) {
  size_t length = 0;
  while (text[length])
    ++length;
  return length;
}

intptr_t open(const char *path, int mode) {
  const intptr_t block[3] = {word(path), mode, word(lengthOf(path))};
  return call(sysOpen, block);
}

/// Writes a text to one of the streams with the path ":tt"; `mode` selects the
/// stream.
void say(int mode, const char *text) {
  static intptr_t handles[12];
  if (!handles[mode])
    handles[mode] = open(":tt", mode);
  const intptr_t block[3] = {handles[mode], word(text), word(lengthOf(text))};
  call(sysWrite, block);
}
constexpr int standardOutput = 4, standardError = 8;

unsigned char *unused = bulk_begin;

} // namespace

File::File(const char *path, Mode mode) : path(path), handle(open(path, mode)) {
  if (handle < 0)
    fail(mode == read ? "cannot read " : "cannot write ", path);
}

void File::close() { call(sysClose, &handle); }

size_t File::size() const {
  const intptr_t length = call(sysFileLength, &handle);
  if (length < 0)
    fail("cannot read ", path);
  return static_cast<size_t>(length);
}

void File::get(void *data, size_t bytes) const {
  const intptr_t block[3] = {handle, word(data), word(bytes)};
  // The result is the number of bytes not read.
  if (bytes && call(sysRead, block) != 0)
    fail("cannot read ", path);
}

void File::put(const void *data, size_t bytes) const {
  const intptr_t block[3] = {handle, word(data), word(bytes)};
  if (bytes && call(sysWrite, block) != 0)
    fail("cannot write ", path);
}

const char *readCommandLine(char *room, size_t bytes) {
  const intptr_t block[2] = {word(room), word(bytes)};
  if (call(sysGetCommandLine, block) != 0)
    fail("the file of arguments has too long a path");
  // The first word is the program's name. The path after it may contain spaces.
  while (*room && *room != ' ')
    ++room;
  return *room ? room + 1 : room;
}

void *allocate(size_t bytes, size_t align) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(unused);
  const uintptr_t place = (address + align - 1) / align * align;
  if (bytes > reinterpret_cast<uintptr_t>(bulk_end) - place)
    fail("the board has too little memory for the arena, inputs and outputs");
  unused += place - address + bytes;
  return reinterpret_cast<void *>(place);
}

void print(const char *text) { say(standardOutput, text); }

void print(uint64_t number) {
  char digits[24];
  char *digit = digits + sizeof digits - 1;
  *digit = '\0';
  do
    *--digit = static_cast<char>('0' + number % 10);
  while (number /= 10);
  print(digit);
}

void finish(int status) {
  constexpr intptr_t applicationExit = 0x20026;
  const intptr_t block[2] = {applicationExit, status};
  for (;;)
    call(sysExitExtended, block);
}

void fail(const char *message, const char *detail) {
  say(standardError, message);
  say(standardError, detail);
  say(standardError, "\n");
  finish(1);
}

} // namespace firmware
