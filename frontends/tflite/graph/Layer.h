//===- Layer.h - What a converter sees of a TFLite operator ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TFLITE_GRAPH_LAYER_H
#define NNC_FRONTENDS_TFLITE_GRAPH_LAYER_H

#include "dialects/qnn/Qnn.h"
#include "frontends/common/LayerBuilder.h"
#include "frontends/tflite/graph/Graph.h"
#include "frontends/tflite/graph/Types.h"

namespace nnc::tflite {

/// The view of an operator that its converter gets: its operands, its options,
/// and the functions that build the ops that compute it. Values have TFLite's
/// shapes and hold the integers that the model stores; their quantization
/// parameters are separate (getInputQuantization).
class Layer : public LayerBuilder {
public:
  Layer(GraphImporter &importer, const fb::Operator &op, Scope &scope,
        mlir::Location loc, llvm::StringRef name);

  // Inputs; null if absent.
  size_t getNumInputs() const { return inputs.size(); }
  bool hasInput(size_t i) const { return i < inputs.size() && inputs[i] >= 0; }
  mlir::Value getInput(size_t i);
  /// Returns the quantization of input `i`; empty for plain numbers, and after
  /// an error if the quantization is not valid.
  Quantization getInputQuantization(size_t i);
  const fb::Tensor *getInputTensor(size_t i) const;
  /// Returns the quantization of the operator's intermediate tensor `i`; empty
  /// if there is none.
  Quantization getIntermediateQuantization(size_t i);
  /// Returns the axis, of `rank` axes, in input `i`. Returns nullopt after an
  /// error if the input is not a constant with one number in range.
  std::optional<int64_t> readAxis(size_t i, int64_t rank);

  // Results. A converter returns the first result and sets further results.
  size_t getNumResults() const { return outputs.size(); }
  void setResult(size_t i, mlir::Value value);
  llvm::ArrayRef<mlir::Value> getResults() const { return results; }
  /// Declares that the operator infers the shapes of its results and that the
  /// shapes in the model do not matter.
  void ignoreStatedShapes() { hasOwnShapes = true; }
  bool ignoresStatedShapes() const { return hasOwnShapes; }
  Quantization getOutputQuantization(size_t i = 0);
  /// Returns the element type that the model states for result `i`; null for a
  /// type that nnc does not support.
  mlir::Type getOutputElement(size_t i = 0);
  const fb::Tensor *getOutputTensor(size_t i = 0) const;

  /// Returns the operator's options of the kind `kind`, or null after an error
  /// if it has none.
  template <class T> const T *getOptions(fb::Options kind) {
    const void *options = findOptions(kind);
    return static_cast<const T *>(options);
  }

  /// Returns the bytes of a custom operator's options.
  llvm::ArrayRef<uint8_t> getCustomOptions() const {
    return getList(op.custom_options());
  }

  /// Imports a subgraph in place on the values `given`. Returns false after an
  /// error.
  bool inlineGraph(uint32_t subgraph, llvm::ArrayRef<Passed> given,
                   llvm::SmallVectorImpl<Passed> &subResults) {
    return importer.inlineGraph(subgraph, scope, *this, given, subResults);
  }
  /// Returns input `i` in the form in which it is passed to subgraphs. Its
  /// value is null after an error.
  Passed getPassed(size_t i);
  /// Sets result `i` to a result of a subgraph.
  void setPassed(size_t i, const Passed &passed);

  /// Returns the slice of `x` that begins at `starts` and has the sizes
  /// `sizes`, with steps of 1 unless others are given.
  mlir::Value slice(mlir::Value x, llvm::ArrayRef<int64_t> starts,
                    llvm::ArrayRef<int64_t> sizes,
                    llvm::ArrayRef<int64_t> steps = {});

  // Variables, which keep their values between runs.

  /// Returns the variable that is input `i`, or null after an error if that is
  /// not a variable. Its type is `type`, or if that is null the type that the
  /// model states.
  Variable *getVariable(size_t i, mlir::RankedTensorType type = {});
  /// Returns a variable that belongs to this operator and is no tensor of the
  /// model, such as the history of a filter. Each call of a subgraph uses the
  /// same variables.
  Variable *getOwnVariable(llvm::StringRef name, mlir::RankedTensorType type);
  /// Returns the name of the variable whose handle is input `i`; empty after an
  /// error if that is not a handle.
  std::string readHandle(size_t i);
  /// Sets the first result to the handle of a variable.
  void setHandle(llvm::StringRef name);
  GraphImporter &getImporter() { return importer; }
  /// Imports a subgraph that runs only once, before the model's first run.
  void prepare(uint32_t subgraph) { importer.prepare(subgraph, scope, *this); }

  /// Returns the object that creates calls of the user's C functions.
  Customs &getCustoms() { return importer.getCustoms(); }

  /// Returns how TFLite's fixed-point products are rounded in this import.
  qnn::Rescale getRescale() const;
  /// Marks the operator as a fully connected layer, for which LiteRT rounds
  /// products once.
  void markDense() { isDense = true; }
  /// Returns true if the import follows TFLite Micro where its kernels differ
  /// from TFLite's in more than rounding.
  bool isMicro() const;
  /// Returns true if the import follows the reference kernels of LiteRT's
  /// Python package.
  bool isLiteRt() const;

private:
  const void *findOptions(fb::Options kind);
  Quantization getQuantization(const fb::Tensor *tensor);

  GraphImporter &importer;
  const fb::Operator &op;
  Scope &scope;
  llvm::ArrayRef<int32_t> inputs, outputs;
  llvm::SmallVector<mlir::Value> results;
  bool hasOwnShapes = false, isDense = false;
};

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_GRAPH_LAYER_H
