//===- count_instructions.cpp - A plugin of qemu that counts --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Counts what an emulated aarch64 program executes:
//
//   QEMU_PLUGIN=libnnc_count_instructions.so,out=FILE[,mark=SYMBOL]
//
// Each call of the function SYMBOL ends a section, and so does the end of the
// program. FILE gets one line for each section, with the numbers of executed
// instructions, vector multiply-adds, loads, stores, and instructions in blocks
// (runs of code without a branch) that contain vector multiply-adds. Counts of
// a program with one thread are exact, except that a block which a signal
// interrupts counts as a whole.
//
//===----------------------------------------------------------------------===//

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>

// The part of version 1 of qemu's plugin interface (qemu 7.2 in Debian 12) that
// this file uses. Debian packages no header for it.
extern "C" {
using qemu_plugin_id_t = std::uint64_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info_t;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb *);
std::uint64_t qemu_plugin_tb_vaddr(const qemu_plugin_tb *);
qemu_plugin_insn *qemu_plugin_tb_get_insn(const qemu_plugin_tb *, std::size_t);
char *qemu_plugin_insn_disas(const qemu_plugin_insn *);
const void *qemu_plugin_insn_data(const qemu_plugin_insn *);
const char *qemu_plugin_insn_symbol(const qemu_plugin_insn *);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t,
                                           void (*)(qemu_plugin_id_t,
                                                    qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb *,
                                          void (*)(unsigned, void *),
                                          qemu_plugin_cb_flags, void *);
void qemu_plugin_register_vcpu_tb_exec_inline(qemu_plugin_tb *, qemu_plugin_op,
                                              void *, std::uint64_t);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t,
                                    void (*)(qemu_plugin_id_t, void *), void *);

// The symbols that qemu looks up in a plugin.
extern int qemu_plugin_version;
int qemu_plugin_install(qemu_plugin_id_t, const qemu_info_t *, int, char **);
}

int qemu_plugin_version = 1;

namespace {

struct Counts {
  std::uint64_t instructions = 0, multiplyAdds = 0, loads = 0, stores = 0,
                inner = 0;

  void add(const Counts &other, std::uint64_t times) {
    instructions += times * other.instructions;
    multiplyAdds += times * other.multiplyAdds;
    loads += times * other.loads;
    stores += times * other.stores;
    inner += times * other.inner;
  }
};

struct Block {
  Counts once;
  std::uint64_t runs = 0; ///< number of executions in this section
};

/// All translated blocks. Their addresses must not change, because translated
/// code increments `runs`.
std::deque<Block> blocks;
std::FILE *out;
std::string mark;
std::uint64_t markAddress;

bool startsWith(const char *text, const char *prefix) {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

/// Returns true for the text of a vector multiply-add, such as "fmla v0.4s,
/// v1.4s, v2.s[1]".
bool isVectorMultiplyAdd(const char *text) {
  return (startsWith(text, "fmla") || startsWith(text, "fmls")) &&
         std::strstr(text, " v");
}

/// Returns true for the code of a vector multiply-add of 16-bit floats, by a
/// vector or by an element. qemu's disassembler does not know these.
bool isHalfMultiplyAdd(const void *code) {
  std::uint32_t word;
  std::memcpy(&word, code, sizeof(word));
  return (word & 0xbf60fc00) == 0x0e400c00 || (word & 0xbfc0b400) == 0x0f001000;
}

Counts countOnce(const qemu_plugin_tb *code) {
  Counts result;
  result.instructions = qemu_plugin_tb_n_insns(code);
  for (std::size_t i = 0; i < result.instructions; ++i) {
    const qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(code, i);
    char *text = qemu_plugin_insn_disas(instruction);
    result.multiplyAdds +=
        isVectorMultiplyAdd(text) ||
        isHalfMultiplyAdd(qemu_plugin_insn_data(instruction));
    result.loads += startsWith(text, "ld");
    result.stores += startsWith(text, "st");
    std::free(text);
  }
  if (result.multiplyAdds)
    result.inner = result.instructions;
  return result;
}

void endSection() {
  Counts sum;
  for (Block &block : blocks) {
    sum.add(block.once, block.runs);
    block.runs = 0;
  }
  std::fprintf(
      out, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
      sum.instructions, sum.multiplyAdds, sum.loads, sum.stores, sum.inner);
}

/// Returns true if the function that ends sections begins with this block.
/// Other blocks of that function are translated only after it has been called.
bool isMark(qemu_plugin_tb *code) {
  if (mark.empty())
    return false;
  std::uint64_t address = qemu_plugin_tb_vaddr(code);
  const char *symbol =
      qemu_plugin_insn_symbol(qemu_plugin_tb_get_insn(code, 0));
  if (!markAddress && symbol && mark == symbol)
    markAddress = address;
  return address == markAddress;
}

void translated(qemu_plugin_id_t, qemu_plugin_tb *code) {
  blocks.push_back({countOnce(code)});
  qemu_plugin_register_vcpu_tb_exec_inline(code, QEMU_PLUGIN_INLINE_ADD_U64,
                                           &blocks.back().runs, 1);
  if (isMark(code))
    qemu_plugin_register_vcpu_tb_exec_cb(
        code, [](unsigned, void *) { endSection(); }, QEMU_PLUGIN_CB_NO_REGS,
        nullptr);
}

void ended(qemu_plugin_id_t, void *) {
  endSection();
  std::fclose(out);
}

} // namespace

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *, int count,
                        char **arguments) {
  for (int i = 0; i < count; ++i) {
    if (startsWith(arguments[i], "out="))
      out = std::fopen(arguments[i] + std::strlen("out="), "w");
    else if (startsWith(arguments[i], "mark="))
      mark = arguments[i] + std::strlen("mark=");
  }
  if (!out) {
    std::fprintf(stderr, "count_instructions: out=FILE: cannot be written\n");
    return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, ended, nullptr);
  return 0;
}
