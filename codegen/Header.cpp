//===- Header.cpp - <name>.h ----------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

/// One field of a struct of pointers: `const float *x; /* x.0: [1][4] */`.
static std::string printField(exec::PlaceOpInterface place,
                              std::optional<StringRef> modelName,
                              StringRef qualifier) {
  RankedTensorType type = place.getTensor();
  std::string text = "  " + qualifier.str() +
                     getCType(type.getElementType()).str() + " *" +
                     place.getName().str() + "; /* ";
  if (modelName && *modelName != place.getName())
    text += modelName->str() + ": ";
  return text + getDims(type.getShape()) + " */\n";
}

std::string codegen::printHeader(exec::ProgramOp program,
                                 const EmitOptions &options) {
  Values values;
  std::string name = program.getSymName().str();
  values["name"] = name;
  values["NAME"] = StringRef(name).upper();
  values["origin"] =
      program.getModel().empty() ? "" : " from " + program.getModel().str();
  values["target"] = program.getTarget().str();
  values["arena"] = std::to_string(program.getArena());
  values["align"] = std::to_string(program.getAlign());
  values["weights"] = std::to_string(program.getWeights());
  values["pad"] = std::string(name.size() + 9, ' ');
  std::string &inputs = values["inputs"], &outputs = values["outputs"];
  for (auto input : program.getBody().getOps<exec::InputOp>())
    inputs += printField(input, input.getModelName(), "const ");
  for (auto output : program.getBody().getOps<exec::OutputOp>())
    outputs += printField(output, output.getModelName(), "");
  if (options.weights == "file")
    inputs += "  const void *weights; /* " + name +
              "_weights.bin, aligned to the arena's alignment */\n";
  // C has no empty structs.
  if (inputs.empty())
    inputs = "  const void *none; /* the model reads nothing */\n";
  values["includes"] = options.threads ? "#include \"nnc_runtime.h\"\n" : "";
  values["parallel"] =
      options.threads
          ? "\n/* The same on a pool of threads; a null pool is one thread. "
            "*/\n"
            "int " +
                name + "_run_parallel(const struct " + name +
                "_inputs *inputs,\n" + std::string(name.size() + 18, ' ') +
                "const struct " + name + "_outputs *outputs, void *arena,\n" +
                std::string(name.size() + 18, ' ') +
                "const struct nnc_pool *pool);\n"
          : "";
  return fillTemplate("model.h.in", values);
}
