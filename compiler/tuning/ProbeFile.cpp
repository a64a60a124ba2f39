//===- ProbeFile.cpp - Files that nnc target-probe writes -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tuning/ProbeFile.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nnc;

static constexpr llvm::StringLiteral kProbeMagic = "nnc-probe";
static constexpr int kProbeFormat = 1;

/// The largest figure that is accepted. Products of such figures with others
/// fit in 64 bits.
static constexpr int64_t kMostFigure = int64_t(1) << 40;
static constexpr size_t kMostCaches = 4;

std::string ProbeFile::print() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << kProbeMagic << ' ' << kProbeFormat << "\nnnc " << version
         << "\nchip " << chip << "\nisas " << llvm::join(isas, " ") << "\nmhz "
         << mhz << "\nmultiply_adds " << multiplyAdds << '\n';
  for (const Cache &cache : caches)
    stream << "cache " << cache.bytes << ' ' << cache.bytesPerCycle << '\n';
  stream << "memory_mb_s " << memoryMbS << '\n';
  for (const std::string &comment : comments)
    stream << "# " << comment << '\n';
  return text;
}

target::MachineAttr ProbeFile::apply(target::MachineAttr machine) const {
  SmallVector<int64_t> sizes, rates;
  for (const Cache &cache : caches) {
    sizes.push_back(cache.bytes);
    rates.push_back(cache.bytesPerCycle);
  }
  MLIRContext *context = machine.getContext();
  return target::MachineAttr::get(
      context, machine.getName(), machine.getTriple(), machine.getChip(),
      machine.getIsas(), machine.getFeatures(), machine.getVectorBytes(),
      machine.getVectorRegisters(), DenseI64ArrayAttr::get(context, sizes),
      DenseI64ArrayAttr::get(context, rates), memoryMbS, multiplyAdds, mhz,
      machine.getCompiler(), machine.getFlags(), machine.getEmulator(),
      machine.getExposed());
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// Parses positive numbers, as many as `values` has entries.
static bool parseFigures(StringRef text, ArrayRef<int64_t *> values) {
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  return words.size() == values.size() &&
         llvm::all_of(llvm::zip(words, values), [](auto pair) {
           auto [word, value] = pair;
           return !word.getAsInteger(10, *value) && *value > 0 &&
                  *value <= kMostFigure;
         });
}

/// Parses a line after the first one. Returns what is wrong with it, or an
/// empty string.
static std::string parseLine(StringRef line, ProbeFile &file) {
  auto [word, rest] = line.split(' ');
  rest = rest.trim();
  if (word == "nnc") {
    file.version = rest.str();
    return "";
  }
  if (word == "chip") {
    file.chip = rest.str();
    return "";
  }
  if (word == "isas") {
    file.isas.clear();
    for (StringRef isa : llvm::split(rest, ' '))
      file.isas.push_back(isa.str());
    return "";
  }
  if (word == "cache") {
    ProbeFile::Cache cache;
    if (!parseFigures(rest, {&cache.bytes, &cache.bytesPerCycle}))
      return ("expected 'cache BYTES BYTES_A_CYCLE', found '" + line + "'")
          .str();
    if (file.caches.size() == kMostCaches)
      return ("has more than " + Twine(kMostCaches) + " levels of caches")
          .str();
    if (!file.caches.empty() && cache.bytes < file.caches.back().bytes)
      return "lists a cache behind a larger one; they go from level 1 on";
    file.caches.push_back(cache);
    return "";
  }
  int64_t *figure = llvm::StringSwitch<int64_t *>(word)
                        .Case("mhz", &file.mhz)
                        .Case("multiply_adds", &file.multiplyAdds)
                        .Case("memory_mb_s", &file.memoryMbS)
                        .Default(nullptr);
  if (!figure)
    return ("begins with '" + word + "', which this nnc does not know").str();
  if (!parseFigures(rest, figure))
    return ("expected '" + word + "' and a number above 0, found '" + line +
            "'")
        .str();
  return "";
}

std::optional<ProbeFile>
nnc::parseProbeFile(StringRef text, std::string &problem, unsigned &number) {
  ProbeFile file;
  bool begun = false;
  number = 0;
  for (StringRef line : llvm::split(text, '\n')) {
    ++number;
    line = line.trim();
    if (line.empty() || line.starts_with("#"))
      continue;
    if (begun) {
      problem = parseLine(line, file);
    } else if (int format; !line.consume_front(kProbeMagic) ||
                           line.trim().getAsInteger(10, format)) {
      problem =
          ("is not a probe's file: it does not begin with '" + kProbeMagic +
           " " + Twine(kProbeFormat) + "', as those of nnc target-probe do")
              .str();
    } else if (format != kProbeFormat) {
      problem = ("is of format " + Twine(format) + ", this nnc reads " +
                 Twine(kProbeFormat) + "; write it anew with nnc target-probe")
                    .str();
    }
    if (!problem.empty())
      return std::nullopt;
    begun = true;
  }
  if (file.chip.empty() || file.isas.empty() || file.caches.empty() ||
      file.mhz < 1 || file.multiplyAdds < 1 || file.memoryMbS < 1) {
    problem =
        "lacks one of the lines chip, isas, mhz, multiply_adds, cache and "
        "memory_mb_s; write it anew with nnc target-probe";
    return std::nullopt;
  }
  return file;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Returns why the file does not apply to `machine`, or an empty string if it
/// does.
static std::string findMismatch(const ProbeFile &file,
                                target::MachineAttr machine) {
  SmallVector<StringRef> isas(machine.getIsas().getAsValueRange<StringAttr>());
  StringRef name = machine.getName();
  std::string own = llvm::join(isas, " "), probed = llvm::join(file.isas, " ");
  if (probed != own)
    return "was measured for " + probed + "; the target '" + name.str() +
           "' has " + own +
           ": measure for it with nnc target-probe --target=" + name.str();
  if (!machine.getChip().empty() && machine.getChip() != file.chip)
    return "was measured on a " + file.chip + ", this is a " +
           machine.getChip().str() + ": measure here with nnc target-probe";
  return "";
}

FailureOr<target::MachineAttr> nnc::readProbeFile(StringRef path,
                                                  target::MachineAttr machine) {
  auto at = [&](unsigned line) {
    return FileLineColLoc::get(machine.getContext(), path, line, line ? 1 : 0);
  };
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return emitError(at(0), "cannot be read: ") << buffer.getError().message();
  std::string problem;
  unsigned line;
  auto file = parseProbeFile((*buffer)->getBuffer(), problem, line);
  if (!file)
    return emitError(at(line), problem);
  if (problem = findMismatch(*file, machine); !problem.empty())
    return emitError(at(0), problem);
  return file->apply(machine);
}
