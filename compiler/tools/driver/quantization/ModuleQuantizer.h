//===- ModuleQuantizer.h - Quantizes an imported module ---------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_QUANTIZATION_MODULEQUANTIZER_H
#define NNC_COMPILER_TOOLS_DRIVER_QUANTIZATION_MODULEQUANTIZER_H

#include "compiler/quantize/LinearLayers.h"
#include "compiler/quantize/Plan.h"
#include "compiler/tools/driver/execute/SampledRuns.h"
#include "compiler/tools/driver/samples/ObservedRanges.h"

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

  /// Equalization and bias correction, which change weights and biases so that
  /// integers lose less. They are none of the passes.
  struct Methods {
    /// The channels between layers that equalization scales, if any are known,
    /// and whether findChannelRanges() is to find them.
    quantize::ValueChannels channels;
    bool observesChannels = false;
    bool correctsBiases = false;
  };
  /// Sets these before open().
  void setMethods(Methods given) { methods = std::move(given); }

  /// Folds what is to be folded, plans what to quantize, and builds the module
  /// with the values that this needs as outputs.
  ExitCode open();
  /// Reads the samples, finds the ranges of these values, and quantizes the
  /// module by them.
  ExitCode quantize();

  /// Sets which layers stay float, by their names, and why, and quantizes the
  /// module without them.
  ExitCode keepFloats(std::map<std::string, std::string> names);

  /// The module, which quantize() has quantized.
  mlir::ModuleOp getModule() { return *quantized; }
  mlir::OwningOpRef<mlir::ModuleOp> takeModule() {
    return std::move(quantized);
  }
  /// Returns the quantized module with the observed values that layers read or
  /// make as further outputs, dequantized. They have the names that they have
  /// in the float model.
  mlir::OwningOpRef<mlir::ModuleOp> makeCompared();
  /// Returns the names of these outputs.
  std::vector<std::string> listCompared() const;
  /// Returns the largest magnitudes of channels that equalization could scale.
  llvm::Expected<quantize::ValueChannels> findChannelRanges();
  int getNumEqualized() const { return equalized; } ///< pairs of layers
  int getNumCorrected() const { return int(corrected.size()); } ///< layers

  /// The passes that do it to the imported module, as nnc-opt takes them.
  const std::string &getPasses() const { return passes; }

  /// The model's names of all ops, each once.
  std::vector<std::string> getNames();
  const std::vector<Sample> &getSamples() const { return runs.getSamples(); }
  /// Runs the float module on a sample. Its own outputs come first.
  llvm::Expected<std::vector<Tensor>> runFloat(size_t sample) {
    return runs.run(sample);
  }
  /// Runs it, and returns its own outputs alone.
  llvm::Expected<std::vector<Tensor>> runFloatOutputs(size_t sample) {
    return runs.runOutputs(sample);
  }
  size_t getNumOutputs() const { return runs.getNumOutputs(); }
  const Executable &getFloatModel() const { return runs.getProgram(); }
  /// Returns how the integers of an observed value represent it, by the name
  /// that it has in the float model.
  quantize::Parameters getParameters(const std::string &observed) const {
    return parameters.at(observed);
  }

  /// A layer that became one of integers, with the range of its result.
  struct Layer {
    std::string name, op;
    quantize::Range range;
    /// The observed values that it reads, and the one that has its result's
    /// range: names that they have in the float model.
    std::vector<std::string> inputs;
    std::string output;
    bool isMove; ///< moves elements, which keep their range
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
  quantize::PlanOptions getPlanOptions() const;
  quantize::Storage getStorage() const {
    return choice.passes.isUnsigned ? quantize::Storage::u8
                                    : quantize::Storage::s8;
  }
  /// Subtracts from the biases what the rounding of weights adds to sums.
  ExitCode correctBiases(const quantize::Plan &plan);
  /// Returns a copy of the float module, in which layers that are kept float
  /// have their own biases.
  mlir::OwningOpRef<mlir::ModuleOp> cloneToQuantize();
  ExitCode requantize();
  void describe(const quantize::Plan &plan);
  ExitCode runPasses(mlir::ModuleOp on, std::string *spelled);
  mlir::func::FuncOp getMain();

  std::string file;
  QuantizeChoice choice;
  Methods methods;
  int equalized = 0;
  /// The layers whose bias was corrected, with what it was.
  std::vector<std::pair<mlir::Operation *, mlir::ElementsAttr>> corrected;
  /// A value that findChannelRanges() looks at, its name in the built model and
  /// the axis of its channels.
  struct ObservedChannels {
    size_t number;
    std::string output;
    int64_t axis;
  };
  std::vector<ObservedChannels> channels;
  std::string compiler;
  int threads;
  /// The float module, with the ranges that are known, and the quantized one.
  mlir::OwningOpRef<mlir::ModuleOp> module, quantized;
  std::vector<std::string> ranges;         ///< as nnc-calibrate takes them
  std::map<std::string, std::string> kept; ///< see keepFloats()
  /// The ops of the layers that are quantized if none is kept float.
  llvm::DenseSet<mlir::Operation *> all;
  std::map<std::string, quantize::Parameters> parameters; ///< by observed names
  /// The passes that made `module`, and those that `quantized` comes from.
  std::string observedPasses, passes;
  SampledRuns runs; ///< of the float module
  /// The numbers of the observed values (qnn::listValues), with the name that
  /// the result has in the built model.
  std::vector<std::pair<size_t, std::string>> observed;
  std::vector<Layer> layers;
  std::vector<Float> floats;
};

/// Returns what a file of this name holds that nnc reads as a model: the module
/// as text if the name ends in .mlir, else as bytecode.
std::string printModuleFile(llvm::StringRef path, mlir::ModuleOp module);
/// Writes a module to such a file.
llvm::Error writeModuleFile(const std::string &path, mlir::ModuleOp module);
/// Returns the module as bytecode.
std::string printBytecode(mlir::ModuleOp module);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_QUANTIZATION_MODULEQUANTIZER_H
