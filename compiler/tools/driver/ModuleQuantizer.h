//===- ModuleQuantizer.h - Quantizes an imported module ---------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_DRIVER_MODULEQUANTIZER_H
#define NNC_TOOLS_DRIVER_MODULEQUANTIZER_H

#include "compiler/quantize/Plan.h"
#include "compiler/tools/driver/Driver.h"
#include "compiler/tools/driver/Executable.h"
#include "compiler/tools/driver/ObservedRanges.h"

namespace nnc::tools {

/// A float module, of any frontend, while it is being quantized.
class ModuleQuantizer {
public:
  /// `file` is the path of the model, for messages. The samples run on
  /// `threads` threads, built by `compiler`, or by the usual one if that is
  /// empty.
  ModuleQuantizer(mlir::ModuleOp imported, std::string file,
                  QuantizeChoice choice, std::string compiler = "",
                  int threads = 1);

  /// Folds what is to be folded, plans what to quantize, and builds the module
  /// with the values that this needs as outputs.
  ExitCode open();
  /// Reads the samples, finds the ranges of these values, and quantizes the
  /// module by them.
  ExitCode quantize();

  /// The module, which quantize() has quantized.
  mlir::ModuleOp getModule() { return *module; }
  mlir::OwningOpRef<mlir::ModuleOp> takeModule() { return std::move(module); }
  /// The passes that do it to the imported module, as nnc-opt takes them.
  const std::string &getPasses() const { return passes; }

  /// The model's names of all ops, each once.
  std::vector<std::string> getNames();
  const std::vector<Sample> &getSamples() const { return samples; }
  /// Runs the float module on a sample. Its own outputs come first.
  llvm::Expected<std::vector<Tensor>> runFloat(size_t sample);
  size_t getNumOutputs() const { return numOutputs; }
  const Executable &getFloatModel() const { return floatModel; }

  /// A layer that became one of integers, with the range of its result.
  struct Layer {
    std::string name, op;
    quantize::Range range;
  };
  const std::vector<Layer> &getLayers() const { return layers; }
  /// An op of a kind that could be quantized, but is not.
  struct Float {
    std::string name, op, reason;
    bool isImportant;
  };
  const std::vector<Float> &getFloats() const { return floats; }

private:
  ExitCode checkIsFloat();
  ExitCode checkPlan(const quantize::Plan &plan);
  mlir::OwningOpRef<mlir::ModuleOp> makeObserved(const quantize::Plan &plan);
  void describe(const quantize::Plan &plan);
  mlir::func::FuncOp getMain();

  std::string file;
  QuantizeChoice choice;
  std::string compiler;
  int threads;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string passes;
  Executable floatModel;
  size_t numOutputs = 0;
  std::vector<Sample> samples;
  std::vector<std::vector<Tensor>> cache; ///< results for the first samples
  /// The numbers of the observed values (qnn::listValues), with the name that
  /// the result has in the built model.
  std::vector<std::pair<size_t, std::string>> observed;
  std::vector<Layer> layers;
  std::vector<Float> floats;
};

/// Writes a module to a file that nnc reads as a model, as text if its name
/// ends in .mlir, else as bytecode.
llvm::Error writeModuleFile(const std::string &path, mlir::ModuleOp module);
/// Returns the module as bytecode.
std::string printBytecode(mlir::ModuleOp module);

} // namespace nnc::tools

#endif // NNC_TOOLS_DRIVER_MODULEQUANTIZER_H
