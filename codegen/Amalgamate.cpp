//===- Amalgamate.cpp - Just the runtime headers that a program needs -----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Joins the runtime headers that a program needs into one. Every header appears
// once, after the headers that it includes. Vector code of an instruction set
// appears only if the program names the set, or names a set that builds on it.
// Everything is in an unnamed namespace, so that models built for different
// machines can be linked into one program.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

/// The header that runs kernels on a CPU, whose module has nnc_emulation.h.
static constexpr StringLiteral kEmulation = "runtime/cuda/host_block.h";

namespace {
class Amalgamation {
public:
  explicit Amalgamation(ArrayRef<exec::ProgramOp> programs)
      : program(programs.front()), stream(text) {
    for (exec::ProgramOp each : programs)
      for (StringRef path : each.getHeaders().getAsValueRange<StringAttr>())
        if (!getVectorSet(path).empty())
          addVectors(path);
  }

  LogicalResult add(StringRef path) {
    StringRef set = getVectorSet(path);
    if (!set.empty() && !vectors.contains(set))
      return success();
    if (!added.insert(path).second)
      return success();
    std::optional<StringRef> header = getEmbedded(path);
    if (!header)
      return program.emitError()
             << "there is no '" << path
             << "' in nnc's runtime; does an exec.call name a wrong header?";
    std::string own = ("\n// " + path + "\n").str();
    bool wasBlank = false;
    for (StringRef line : llvm::split(header->rtrim(), '\n')) {
      StringRef include = line;
      if (line == "#include \"runtime/nnc_runtime.h\"") {
        // The header stays a separate file, because callers also include it.
        own += "#include \"nnc_runtime.h\"\n";
      } else if (line == ("#include \"" + kEmulation + "\"").str()) {
        // Only compilers for CPUs read it.
        own += "#include \"nnc_emulation.h\"\n";
      } else if (include.consume_front("#include \"")) {
        if (failed(add(include.rtrim('"'))))
          return failure();
      } else if (!isGuard(line) && !(line.empty() && wasBlank)) {
        own += printLine(line);
        wasBlank = line.empty();
      }
    }
    stream << StringRef(own).rtrim() << "\n";
    return success();
  }

  std::string take() { return std::move(text); }

  /// Treats `path` and the headers that it includes as added.
  void leaveOut(StringRef path) {
    if (!added.insert(path).second)
      return;
    for (StringRef line : llvm::split(getEmbedded(path).value_or(""), '\n'))
      if (line.consume_front("#include \""))
        leaveOut(line.rtrim('"'));
  }

private:
  /// Returns the instruction set for which `path` defines vectors of numbers or
  /// of bytes, or "" for other headers. vec.h and bytes.h include the headers
  /// of all instruction sets.
  static StringRef getVectorSet(StringRef path) {
    if ((!path.consume_front("runtime/simd/vec_") &&
         !path.consume_front("runtime/simd/bytes_")) ||
        path == "portable.h" || !path.consume_back(".h"))
      return "";
    return path;
  }
  /// Adds the instruction set of the vectors at `path`, and the sets on which
  /// it builds.
  void addVectors(StringRef path) {
    std::optional<StringRef> header = getEmbedded(path);
    if (!header || !vectors.insert(getVectorSet(path)).second)
      return;
    for (StringRef line : llvm::split(*header, '\n'))
      if (line.consume_front("#include \"") &&
          !getVectorSet(line.rtrim('"')).empty())
        addVectors(line.rtrim('"'));
  }
  /// Returns true if `line` is part of an include guard.
  static bool isGuard(StringRef line) {
    return line.ends_with("_H") && (line.starts_with("#ifndef NNC_") ||
                                    line.starts_with("#define NNC_") ||
                                    line.starts_with("#endif // NNC_"));
  }
  /// Returns a line of a header as it is in the module. A module for a CPU has
  /// no use for the word that marks functions of kernels.
  std::string printLine(StringRef line) const {
    if (line == "namespace nnc {")
      return "namespace {\nnamespace nnc {\n";
    if (line == "} // namespace nnc")
      return "} // namespace nnc\n} // namespace\n";
    std::string text = line.str() + "\n";
    constexpr StringLiteral mark = "NNC_FN ";
    if (!isCuda(program) && !line.starts_with("#"))
      for (size_t at; (at = text.find(mark)) != std::string::npos;)
        text.erase(at, mark.size());
    return text;
  }

  exec::ProgramOp program;
  llvm::StringSet<> added, vectors;
  std::string text;
  llvm::raw_string_ostream stream;
};
} // namespace

FailureOr<std::string>
codegen::amalgamateRuntime(ArrayRef<exec::ProgramOp> programs,
                           const EmitOptions &options) {
  Amalgamation amalgamation(programs);
  SmallVector<StringRef> headers = {
      "runtime/epilogue.h", isCuda(programs.front()) ? "runtime/cuda/launch.h"
                                                     : "runtime/parallel.h"};
  if (hasBlocks(programs))
    headers.push_back("runtime/cuda/kernels.h");
  for (exec::ProgramOp program : programs) {
    if (program.getWeights())
      headers.push_back("runtime/weights.h");
    llvm::append_range(headers,
                       program.getHeaders().getAsValueRange<StringAttr>());
    for (auto call : exec::getSteps<exec::CallOp>(program))
      headers.push_back(call.getHeader());
  }
  for (StringRef header : headers)
    if (failed(amalgamation.add(header)))
      return failure();
  Values values;
  exec::ProgramOp program = programs.front();
  bool hasShares = isCuda(program) || takesPool(program, options);
  values["threads"] = std::to_string(hasShares ? options.threads : 0);
  values["headers"] = amalgamation.take();
  return fillTemplate("runtime.h.in", values);
}

FailureOr<std::string>
codegen::amalgamateEmulation(ArrayRef<exec::ProgramOp> programs) {
  Amalgamation amalgamation(programs);
  // The module's runtime header has these before it includes this one.
  for (StringRef header : {"runtime/cuda/launch.h", "runtime/simd/bfloat.h",
                           "runtime/simd/half.h", "runtime/simd/unroll.h"})
    amalgamation.leaveOut(header);
  if (failed(amalgamation.add(kEmulation)))
    return failure();
  return fillTemplate("emulation.h.in", {{"headers", amalgamation.take()}});
}

std::string codegen::getRuntimeText(StringRef header) {
  SmallVector<StringRef> paths = {header};
  llvm::StringSet<> seen;
  std::string text;
  while (!paths.empty()) {
    StringRef path = paths.pop_back_val();
    std::optional<StringRef> own = getEmbedded(path);
    if (!own || !seen.insert(path).second)
      continue;
    text += *own;
    for (StringRef line : llvm::split(*own, '\n'))
      if (line.consume_front("#include \""))
        paths.push_back(line.take_until([](char c) { return c == '"'; }));
  }
  return text;
}
