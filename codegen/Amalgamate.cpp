//===- Amalgamate.cpp - Just the runtime headers that a program needs -----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Every header goes in where it is first included. All of it lands in an
// unnamed namespace, so that models built for different machines can be linked
// into one program.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

namespace {
class Amalgamation {
public:
  explicit Amalgamation(Location location) : location(location), stream(text) {}

  LogicalResult add(StringRef path) {
    // A header of its own: callers see it too.
    if (path == "runtime/nnc_runtime.h") {
      stream << "#include \"nnc_runtime.h\"\n";
      return success();
    }
    if (!added.insert(path).second)
      return success();
    std::optional<StringRef> header = getEmbedded(path);
    if (!header)
      return emitError(location)
             << "there is no '" << path
             << "' in nnc's runtime; does an exec.call name a wrong header?";
    stream << "\n// " << path << "\n";
    StringRef rest = *header;
    while (!rest.empty()) {
      auto [line, next] = rest.split('\n');
      rest = next;
      if (failed(addLine(line)))
        return failure();
    }
    return success();
  }

  std::string take() { return std::move(text); }

private:
  LogicalResult addLine(StringRef line) {
    StringRef word = line;
    if (word.consume_front("#include \"")) {
      return add(word.take_until([](char c) { return c == '"'; }));
    }
    if (line == "namespace nnc {")
      stream << "namespace {\nnamespace nnc {\n";
    else if (line == "} // namespace nnc")
      stream << "} // namespace nnc\n} // namespace\n";
    else
      stream << line << "\n";
    return success();
  }

  Location location;
  llvm::StringSet<> added;
  std::string text;
  llvm::raw_string_ostream stream;
};
} // namespace

FailureOr<std::string> codegen::amalgamateRuntime(exec::ProgramOp program,
                                                  const EmitOptions &options) {
  Amalgamation amalgamation(program.getLoc());
  for (StringRef header : {"runtime/epilogue.h", "runtime/parallel.h",
                           "runtime/simd/elementwise.h"})
    if (failed(amalgamation.add(header)))
      return failure();
  for (auto call : program.getBody().getOps<exec::CallOp>())
    if (failed(amalgamation.add(call.getHeader())))
      return failure();
  Values values;
  values["threads"] = options.threads ? "1" : "0";
  values["headers"] = amalgamation.take();
  return fillTemplate("runtime.h.in", values);
}
