//===- hide_avx512.cpp - Hides AVX-512 from a program ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A library to be preloaded into programs in which without_avx512.py has
// replaced each cpuid instruction by an undefined one. The handler of the
// signal that this one raises returns the answer of cpuid without AVX-512,
// AVX-VNNI and AMX, or without AMX alone if NNC_BENCH_HIDES=amx. Nothing else
// of the program changes.
//
//===----------------------------------------------------------------------===//

#include <cpuid.h>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <ucontext.h>

namespace {

/// The registers that cpuid sets.
struct Answer {
  unsigned eax, ebx, ecx, edx;
};

/// Returns a mask in which the bits with the numbers `bits` are 0 and all
/// others are 1.
constexpr unsigned without(std::initializer_list<int> bits) {
  unsigned mask = ~0u;
  for (int bit : bits)
    mask &= ~(1u << bit);
  return mask;
}

bool hides_only_amx = false;

/// Returns the chip's answer to cpuid without the bits of hidden features
/// (AMD64 Architecture Programmer's Manual, volume 3, appendix E; Intel's
/// manual, volume 2, CPUID).
Answer ask(unsigned leaf, unsigned subleaf) {
  Answer a{};
  __cpuid_count(leaf, subleaf, a.eax, a.ebx, a.ecx, a.edx);
  if (hides_only_amx) {
    if (leaf == 7 && subleaf == 0)
      a.edx &= without({22, 24, 25});
    else if (leaf == 7 && subleaf == 1) {
      a.eax &= without({21});
      a.edx &= without({8});
    } else if (leaf == 13 && subleaf == 0)
      a.eax &= without({17, 18}); // state that the system can save
    else if (leaf == 29 || leaf == 30)
      a = {}; // palettes of tiles
  } else if (leaf == 7 && subleaf == 0) {
    a.ebx &= without({16, 17, 21, 26, 27, 28, 30, 31});
    a.ecx &= without({1, 6, 11, 12, 14});
    a.edx &= without({2, 3, 8, 22, 23, 24, 25});
  } else if (leaf == 7 && subleaf == 1) {
    a.eax &= without({4, 5, 21, 23});
    a.edx &= without({4, 5, 19});
  } else if (leaf == 13 && subleaf == 0) {
    a.eax &= without({5, 6, 7, 17, 18}); // state that the system can save
  }
  return a;
}

void answer(int, siginfo_t *, void *context) {
  greg_t *registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
  const auto *code = reinterpret_cast<unsigned char *>(registers[REG_RIP]);
  // ud2
  if (code[0] != 0x0f || code[1] != 0x0b) {
    std::signal(SIGILL, SIG_DFL);
    return;
  }
  const Answer a = ask(static_cast<unsigned>(registers[REG_RAX]),
                       static_cast<unsigned>(registers[REG_RCX]));
  registers[REG_RAX] = a.eax;
  registers[REG_RBX] = a.ebx;
  registers[REG_RCX] = a.ecx;
  registers[REG_RDX] = a.edx;
  registers[REG_RIP] += 2;
}

__attribute__((constructor)) void begin() {
  const char *hidden = std::getenv("NNC_BENCH_HIDES");
  hides_only_amx = hidden && std::strcmp(hidden, "amx") == 0;
  struct sigaction action = {};
  action.sa_sigaction = answer;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGILL, &action, nullptr);
}

} // namespace
