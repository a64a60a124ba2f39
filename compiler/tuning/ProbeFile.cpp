//===- ProbeFile.cpp - Files that nnc target-probe writes -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tuning/ProbeFile.h"

#include "compiler/routines/MeasuredFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nnc;

static constexpr MeasuredFileKind kProbeKind = {
    "nnc-probe", 1, "a probe's file", "nnc target-probe"};

/// The largest figure that is accepted. Products of such figures with others
/// fit in 64 bits.
static constexpr int64_t kMostFigure = int64_t(1) << 40;
static constexpr size_t kMostCaches = 4;

std::string ProbeFile::print() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << kProbeKind.magic << ' ' << kProbeKind.format << "\nnnc " << version
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
  target::DeviceAttr host = machine.getHost();
  target::CoreAttr core = host.getCore();
  return machine.withHost(host.withCost(target::CoreAttr::get(
      context, core.getVectorBytes(), core.getVectorRegisters(),
      DenseI64ArrayAttr::get(context, sizes),
      DenseI64ArrayAttr::get(context, rates), memoryMbS, multiplyAdds, mhz,
      core.getExposed())));
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
  number = forEachLine(text, [&](StringRef line, unsigned) {
    problem = begun ? parseLine(line, file) : kProbeKind.findHeadProblem(line);
    begun = true;
    return problem.empty();
  });
  if (!problem.empty())
    return std::nullopt;
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

FailureOr<target::MachineAttr> nnc::readProbeFile(StringRef path,
                                                  target::MachineAttr machine) {
  auto at = [&](unsigned line) {
    return getLineLoc(machine.getContext(), path, line);
  };
  auto buffer = readWithDiagnostic(path, machine.getContext());
  if (failed(buffer))
    return failure();
  std::string problem;
  unsigned line;
  auto file = parseProbeFile((*buffer)->getBuffer(), problem, line);
  if (!file)
    return emitError(at(line), problem);
  if (problem = kProbeKind.findMismatch(file->isas, file->chip, machine);
      !problem.empty())
    return emitError(at(0), problem);
  return file->apply(machine);
}
