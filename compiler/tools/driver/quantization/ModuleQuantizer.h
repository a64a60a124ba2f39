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

/// Quantizes a float module that comes from any frontend.
class ModuleQuantizer {
public:
  /// `file` is the path of the model, for messages. The module runs on the
  /// samples with `threads` threads, built by `compiler`, or by the default
  /// compiler if that is empty.
  ModuleQuantizer(mlir::ModuleOp imported, std::string file,
                  QuantizeChoice choice, std::string compiler = "",
                  int threads = 1);

  /// Equalization and bias correction, which change weights and biases so that
  /// quantization loses less. They are not MLIR passes.
  struct Methods {
    /// The channels between layers that equalization scales, if they are known.
    quantize::ValueChannels channels;
    /// Whether findChannelRanges() will be called to find these channels.
    bool observesChannels = false;
    bool correctsBiases = false;
  };
  /// Sets the methods. Must be called before open().
  void setMethods(Methods given) { methods = std::move(given); }

  /// Folds constants, plans what to quantize, and builds the module with the
  /// values that calibration observes as additional outputs.
  ExitCode open();
  /// Reads the samples, finds the ranges of the observed values, and quantizes
  /// the module with these ranges.
  ExitCode quantize();

  /// Sets which layers stay float, as a map from their names to the reasons,
  /// and quantizes the module without them.
  ExitCode keepFloats(std::map<std::string, std::string> names);

  /// Returns the quantized module that quantize() has made.
  mlir::ModuleOp getModule() { return *quantized; }
  mlir::OwningOpRef<mlir::ModuleOp> takeModule() {
    return std::move(quantized);
  }
  /// Returns the quantized module with those observed values that layers read
  /// or produce as additional, dequantized outputs. These outputs have their
  /// names in the float model.
  mlir::OwningOpRef<mlir::ModuleOp> makeCompared();
  /// Returns the names of the additional outputs of makeCompared().
  std::vector<std::string> listCompared() const;
  /// Returns the largest magnitude of each channel that equalization could
  /// scale.
  llvm::Expected<quantize::ValueChannels> findChannelRanges();
  /// Returns the number of pairs of layers that were equalized.
  int getNumEqualized() const { return equalized; }
  /// Returns the number of layers whose bias was corrected.
  int getNumCorrected() const { return int(corrected.size()); }

  /// Returns the passes that quantize the imported module, as nnc-opt takes
  /// them.
  const std::string &getPasses() const { return passes; }

  /// Returns the names of all ops in the model, each once.
  std::vector<std::string> getNames();
  const std::vector<Sample> &getSamples() const { return runs.getSamples(); }
  /// Runs the float module on a sample. Its own outputs come first.
  llvm::Expected<std::vector<Tensor>> runFloat(size_t sample) {
    return runs.run(sample);
  }
  /// Runs the float module, and returns only its own outputs.
  llvm::Expected<std::vector<Tensor>> runFloatOutputs(size_t sample) {
    return runs.runOutputs(sample);
  }
  size_t getNumOutputs() const { return runs.getNumOutputs(); }
  const Executable &getFloatModel() const { return runs.getProgram(); }
  /// Returns the quantization parameters of an observed value. `observed` is
  /// its name in the float model.
  quantize::Parameters getParameters(const std::string &observed) const {
    return parameters.at(observed);
  }

  /// A layer that was quantized, and the range of its result.
  struct Layer {
    std::string name, op;
    quantize::Range range;
    /// The observed values that the layer reads, and the observed value with
    /// the range of its result. The names are those in the float model.
    std::vector<std::string> inputs;
    std::string output;
    bool isMove; ///< whether it only moves elements, which keep their range
  };
  const std::vector<Layer> &getLayers() const { return layers; }
  /// An op of a kind that can be quantized, but which stays float.
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
  /// Subtracts from the biases the mean error that rounding the weights adds to
  /// sums.
  ExitCode correctBiases(const quantize::Plan &plan);
  /// Returns a copy of the float module in which the layers that stay float
  /// have their original biases.
  mlir::OwningOpRef<mlir::ModuleOp> cloneToQuantize();
  ExitCode requantize();
  void describe(const quantize::Plan &plan);
  ExitCode runPasses(mlir::ModuleOp on, std::string *spelled);
  mlir::func::FuncOp getMain();

  std::string file;
  QuantizeChoice choice;
  Methods methods;
  int equalized = 0;
  /// The layers whose bias was corrected, and their original biases.
  std::vector<std::pair<mlir::Operation *, mlir::ElementsAttr>> corrected;
  /// A value that findChannelRanges() observes: its number, its name in the
  /// built model and the axis of its channels.
  struct ObservedChannels {
    size_t number;
    std::string output;
    int64_t axis;
  };
  std::vector<ObservedChannels> channels;
  std::string compiler;
  int threads;
  /// The float module, with the ranges that are known, and the quantized
  /// module.
  mlir::OwningOpRef<mlir::ModuleOp> module, quantized;
  std::vector<std::string> ranges; ///< the ranges as nnc-calibrate takes them
  std::map<std::string, std::string> kept; ///< see keepFloats()
  /// The ops of the layers that are quantized when none is kept float.
  llvm::DenseSet<mlir::Operation *> all;
  std::map<std::string, quantize::Parameters> parameters; ///< by observed names
  /// The passes that made `module`, and the passes that made `quantized`.
  std::string observedPasses, passes;
  SampledRuns runs; ///< runs of the float module
  /// The numbers of the observed values (qnn::listValues), each with the name
  /// of its output in the built model.
  std::vector<std::pair<size_t, std::string>> observed;
  std::vector<Layer> layers;
  std::vector<Float> floats;
};

/// Returns the contents of a file of this name that holds `module` for nnc to
/// read: text if the name ends in .mlir, otherwise bytecode.
std::string printModuleFile(llvm::StringRef path, mlir::ModuleOp module);
/// Writes a module to a file in the format of printModuleFile().
llvm::Error writeModuleFile(const std::string &path, mlir::ModuleOp module);
/// Returns the module as bytecode.
std::string printBytecode(mlir::ModuleOp module);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_QUANTIZATION_MODULEQUANTIZER_H
