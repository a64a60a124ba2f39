//===- Layer.h - A node as its converter sees it ----------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_MXNET_GRAPH_LAYER_H
#define NNC_FRONTENDS_MXNET_GRAPH_LAYER_H

#include "dialects/qnn/Qnn.h"
#include "frontends/common/LayerBuilder.h"
#include "frontends/mxnet/file/Attributes.h"
#include "frontends/mxnet/graph/Graph.h"

namespace nnc::mxnet {

/// The view of a node that its converter gets: its inputs, its attributes, and
/// the functions that build the ops that compute it.
class Layer : public LayerBuilder {
public:
  Layer(GraphImporter &importer, const SymbolNode &node,
        llvm::ArrayRef<mlir::Value> inputs, mlir::Location loc);

  // Inputs; null if absent.
  size_t getNumInputs() const { return inputs.size(); }
  mlir::Value getInput(size_t i) const {
    return i < inputs.size() ? inputs[i] : mlir::Value();
  }
  llvm::ArrayRef<mlir::Value> getInputs() const { return inputs; }
  /// Returns the parameter whose name is that of the node and `suffix`; null if
  /// there is none. MXNet 0.8 leaves out inputs that are auxiliary states.
  mlir::Value getOwnParameter(llvm::StringRef suffix);

  // Results. A converter returns the first result and sets further results.
  void setResult(size_t i, mlir::Value value);
  llvm::SmallVector<mlir::Value, 1> takeResults() { return std::move(results); }

  // Attributes. An attribute that is absent or "None" has the value
  // `otherwise`. One whose text has another form is reported, after which
  // hasFailed() is true.
  bool has(llvm::StringRef name) const { return find(name) != nullptr; }
  llvm::StringRef getText(llvm::StringRef name,
                          llvm::StringRef otherwise = "") const;
  int64_t getInt(llvm::StringRef name, int64_t otherwise);
  double getReal(llvm::StringRef name, double otherwise);
  bool getBool(llvm::StringRef name, bool otherwise);
  /// Returns a tuple of integers, without entries that are "None"; nullopt if
  /// it is absent.
  std::optional<llvm::SmallVector<int64_t>> getInts(llvm::StringRef name);
  OptionalInts getOptionalInts(llvm::StringRef name);
  llvm::SmallVector<double> getReals(llvm::StringRef name,
                                     llvm::ArrayRef<double> otherwise);
  /// Returns a tuple of `count` integers from `least` to INT32_MAX, all equal
  /// to `otherwise` if it is absent or empty.
  llvm::SmallVector<int64_t> getSizes(llvm::StringRef name, size_t count,
                                      int64_t otherwise, int64_t least);
  /// Returns the axis `name` of a tensor of `rank` axes; nullopt after an
  /// error.
  std::optional<int64_t> getAxis(llvm::StringRef name, int64_t otherwise,
                                 int64_t rank);
  /// Returns the element type that the attribute `name` states; `otherwise` if
  /// it is absent, and null after an error.
  mlir::Type getDtype(llvm::StringRef name, mlir::Type otherwise);
  /// Returns true if an attribute had another form than it should.
  bool hasFailed() const { return failed; }

  // Building.

  mlir::Value add(mlir::Value a, mlir::Value b) {
    return createElementwise("add", {a, b});
  }
  mlir::Value mul(mlir::Value a, mlir::Value b) {
    return createElementwise("mul", {a, b});
  }
  /// Returns a scalar of the element type of `x`.
  mlir::Value scalar(double value, mlir::Value x) {
    return x ? splat(value, getElement(x)) : mlir::Value();
  }
  /// Returns the elements [begin, begin + size) of an axis.
  mlir::Value slice(mlir::Value x, int64_t axis, int64_t begin, int64_t size,
                    int64_t step = 1);
  /// Returns `x` with axis `from` moved to `to`.
  mlir::Value moveAxis(mlir::Value x, int64_t from, int64_t to);
  mlir::Value reduce(nn::ReduceKind kind, mlir::Value x,
                     llvm::ArrayRef<int64_t> axes, bool keepdims);
  mlir::Type getF32() { return getBuilder().getF32Type(); }
  mlir::Type getI64() { return getBuilder().getI64Type(); }

  GraphImporter &getImporter() { return importer; }
  const SymbolNode &getNode() const { return node; }

private:
  const std::string *find(llvm::StringRef name) const;
  void failForm(llvm::StringRef name, llvm::StringRef form);

  GraphImporter &importer;
  const SymbolNode &node;
  llvm::SmallVector<mlir::Value> inputs;
  llvm::SmallVector<mlir::Value, 1> results;
  bool failed = false;
};

/// Imports a node that a C function of the user computes. Its result has the
/// shape and the type of the first operand.
void convertCustom(Layer &layer, Customs &customs,
                   const CustomFunction &function, llvm::StringRef op);

} // namespace nnc::mxnet

#endif // NNC_FRONTENDS_MXNET_GRAPH_LAYER_H
