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

/// An operator with its operands' values and its options, and the means to
/// build what computes it. Values have TFLite's shapes and the integers that
/// the model stores; what these stand for is asked for apart.
class Layer : public LayerBuilder {
public:
  Layer(GraphImporter &importer, const fb::Operator &op, Scope &scope,
        mlir::Location loc, llvm::StringRef name);

  // Inputs; null where absent.
  size_t getNumInputs() const { return inputs.size(); }
  bool hasInput(size_t i) const { return i < inputs.size() && inputs[i] >= 0; }
  mlir::Value getInput(size_t i);
  /// The quantization of input `i`, empty for plain numbers. Unsound ones are
  /// reported, and are empty.
  Quantization getInputQuantization(size_t i);
  const fb::Tensor *getInputTensor(size_t i) const;
  /// The quantization of intermediate `i`, empty where there is none.
  Quantization getIntermediateQuantization(size_t i);
  /// Returns the axis, of `rank` axes, that input `i` names; nullopt, and a
  /// report, where it is not known, not one number or out of range.
  std::optional<int64_t> readAxis(size_t i, int64_t rank);

  // Results. Converters return the first; further ones they set.
  size_t getNumResults() const { return outputs.size(); }
  void setResult(size_t i, mlir::Value value);
  llvm::ArrayRef<mlir::Value> getResults() const { return results; }
  /// Says that the operator makes the shapes of its results, whatever shapes
  /// the model states.
  void ignoreStatedShapes() { hasOwnShapes = true; }
  bool ignoresStatedShapes() const { return hasOwnShapes; }
  Quantization getOutputQuantization(size_t i = 0);
  /// The element type that the model states for result `i`; null for one that
  /// nnc lacks.
  mlir::Type getOutputElement(size_t i = 0);
  const fb::Tensor *getOutputTensor(size_t i = 0) const;

  /// Returns the operator's options, which are of kind `kind`; null, and a
  /// report, if it has none.
  template <class T> const T *getOptions(fb::Options kind) {
    const void *options = findOptions(kind);
    return static_cast<const T *>(options);
  }

  /// The bytes of a custom operator's options.
  llvm::ArrayRef<uint8_t> getCustomOptions() const {
    return getList(op.custom_options());
  }

  /// Imports a subgraph on these values in place; false where that fails.
  bool inlineGraph(uint32_t subgraph, llvm::ArrayRef<Passed> given,
                   llvm::SmallVectorImpl<Passed> &subResults) {
    return importer.inlineGraph(subgraph, scope, *this, given, subResults);
  }
  /// Returns input `i` as subgraphs take it; its value is null, and there is a
  /// report, where it has none.
  Passed getPassed(size_t i);
  /// Makes what a subgraph gives result `i`.
  void setPassed(size_t i, const Passed &passed);

  /// Returns the elements of x from `starts` on, `sizes` of them, in steps of 1
  /// unless others are given.
  mlir::Value slice(mlir::Value x, llvm::ArrayRef<int64_t> starts,
                    llvm::ArrayRef<int64_t> sizes,
                    llvm::ArrayRef<int64_t> steps = {});

  // Variables keep their values between runs.

  /// The variable that input `i` is; null, and a report, where it is none. It
  /// has the type that the model states, or `type`.
  Variable *getVariable(size_t i, mlir::RankedTensorType type = {});
  /// Returns a variable that belongs to this operator and is no tensor of the
  /// model, such as the history of a filter. Each call of a subgraph uses the
  /// same variables.
  Variable *getOwnVariable(llvm::StringRef name, mlir::RankedTensorType type);
  /// The name of the variable that input `i` is a handle of; empty, and a
  /// report, where it is none.
  std::string readHandle(size_t i);
  /// Makes the first result a handle of a variable.
  void setHandle(llvm::StringRef name);
  GraphImporter &getImporter() { return importer; }
  /// Imports a subgraph that prepares the model's first run.
  void prepare(uint32_t subgraph) { importer.prepare(subgraph, scope, *this); }

  /// The object that creates calls of the user's functions.
  Customs &getCustoms() { return importer.getCustoms(); }

  /// How TFLite's fixed-point products round in this import.
  qnn::Rescale getRescale() const;
  /// Marks the operator as a fully connected layer, for which LiteRT rounds
  /// products once.
  void markDense() { isDense = true; }
  /// Whether the import follows TFLite Micro where its kernels differ from
  /// TFLite's in more than rounding.
  bool isMicro() const;
  /// Whether the import follows the reference kernels of LiteRT's Python
  /// package.
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
