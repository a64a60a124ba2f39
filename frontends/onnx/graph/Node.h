//===- Node.h - What a converter sees of an ONNX node ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_GRAPH_NODE_H
#define NNC_FRONTENDS_ONNX_GRAPH_NODE_H

#include "frontends/common/LayerBuilder.h"
#include "frontends/onnx/graph/Graph.h"
#include "frontends/onnx/schema/Schema.h"
#include "frontends/onnx/schema/Types.h"

namespace nnc::onnx {

/// The rounding mode of conversions to floats of at most 8 bits: whether
/// numbers that are too large saturate to the largest float, and for float8e8m0
/// whether numbers are rounded down (0), up (1) or to the nearest (0.5).
struct SmallRounding {
  bool saturates = true;
  double e8m0 = 1;
};

/// The view of a node that its converter gets: its operands, its attributes,
/// and the functions that build the ops that compute it.
class Node : public LayerBuilder {
public:
  Node(GraphImporter &importer, ::onnx::NodeProto &proto, Scope &scope,
       llvm::ArrayRef<mlir::Value> operands, const ::onnx::OpSchema &schema);

  /// Returns the version of the operator's definition: the operator set that
  /// introduced it.
  int getVersion() const { return getSince(schema); }

  // Operands; null if absent. Operands of narrow types are represented by their
  // carriers (CarrierTypes.h).
  size_t getNumOperands() const { return operands.size(); }
  mlir::Value getOperand(size_t i) const {
    return i < operands.size() ? operands[i] : mlir::Value();
  }
  llvm::ArrayRef<mlir::Value> getOperands() const { return operands; }
  /// Returns the operands with the types of the model, not their carriers.
  llvm::ArrayRef<mlir::Value> getModelOperands() const { return given; }
  /// Returns the element type of operand `i` in the model; null if absent.
  mlir::Type getModelType(size_t i) const {
    return i < modelTypes.size() ? modelTypes[i] : mlir::Type();
  }

  // Results. A converter returns the first result and sets further results. If
  // the schema gives a result the type of an operand, a carrier that is
  // returned as this result becomes a value of that type.
  size_t getNumResults() const { return proto.output_size(); }
  /// Returns the name of result `i`, with the path of calls and subgraphs
  /// around the node.
  std::string getResultName(size_t i) const {
    return scope.prefix + proto.output(static_cast<int>(i));
  }
  /// Returns true if the node gives result `i` a name.
  bool namesResult(size_t i) const {
    return i < getNumResults() && !proto.output(i).empty();
  }
  /// Returns true if anything reads result `i`.
  bool hasResult(size_t i) const {
    return i < getNumResults() && scope.needed->contains(proto.output(i));
  }
  /// Returns the shape that the model declares for result `i`, if it states all
  /// sizes and the user did not change the sizes of the inputs; otherwise
  /// nullopt.
  std::optional<llvm::SmallVector<int64_t>> getDeclaredShape(size_t i) const;
  void setResult(size_t i, mlir::Value value);
  llvm::ArrayRef<mlir::Value> getResults() const { return results; }

  /// Returns the texts of operand `i` if it is a tensor of strings (Strings.h),
  /// otherwise null.
  mlir::ArrayAttr getTexts(size_t i) const {
    return i < texts.size() ? texts[i] : mlir::ArrayAttr();
  }
  /// Returns a tensor of strings, given by their indices in `list`.
  mlir::Value asStrings(mlir::Value indices, llvm::ArrayRef<std::string> list);
  mlir::Value asStrings(mlir::Value indices, mlir::ArrayAttr list);
  /// Records that the columns of result `i` belong to classes with these names.
  void setColumnNames(size_t i, llvm::ArrayRef<std::string> names);

  /// Returns `x` cast to any element type of ONNX, rounded to it. `rounding` is
  /// the rounding mode for floats of at most 8 bits.
  mlir::Value castToModelType(mlir::Value x, mlir::Type element,
                              SmallRounding rounding = {});
  /// Returns the numbers that `x` stands for, where `x` is the carrier
  /// (CarrierTypes.h) of a tensor of type `element`. Floats of at most 8 bits,
  /// whose carrier holds codes, are decoded to f32; other carriers are returned
  /// as they are.
  mlir::Value asNumbers(mlir::Value x, mlir::Type element);
  /// Returns `x`, whose elements already are values of the type `element`, as a
  /// value of that type.
  mlir::Value asModelType(mlir::Value x, mlir::Type element);

  // Attributes. An absent attribute has the schema's default value, or the
  // value `otherwise` if the schema has no default.
  /// Returns false after an error if an attribute is missing or has the wrong
  /// type. Must succeed before attributes are read.
  bool checkAttributes();
  bool hasAttribute(llvm::StringRef name) const { return find(name); }
  int64_t getInt(llvm::StringRef name, int64_t otherwise = 0) const;
  bool getBool(llvm::StringRef name) const { return getInt(name) != 0; }
  double getFloat(llvm::StringRef name, double otherwise = 0) const;
  /// Returns an attribute that is a list of floats; empty if it is absent.
  llvm::SmallVector<double> getReals(llvm::StringRef name) const;
  /// Returns an attribute that is a list of strings; empty if it is absent.
  llvm::SmallVector<std::string> getStrings(llvm::StringRef name) const;
  llvm::StringRef getString(llvm::StringRef name) const;
  std::optional<llvm::SmallVector<int64_t>> getInts(llvm::StringRef name) const;
  const ::onnx::AttributeProto *find(llvm::StringRef name) const;
  /// Returns the elements of a tensor attribute, or of its carrier
  /// (CarrierTypes.h) if the element type has one.
  mlir::ElementsAttr getElements(llvm::StringRef name);
  /// Returns the element type of a tensor attribute, which may be a narrow
  /// type.
  mlir::Type getElementsType(llvm::StringRef name);

  // Constant operands. Each function reports an error if operand `i`, which the
  // message calls `what`, is not such a constant.
  std::optional<llvm::SmallVector<int64_t>>
  getConstantInts(size_t i, llvm::StringRef what) {
    return readInts(getOperand(i), what);
  }
  std::optional<llvm::SmallVector<double>>
  getConstantReals(size_t i, llvm::StringRef what) {
    return readReals(getOperand(i), what);
  }
  /// Reads axes from operand `i`, or if that is absent from attribute `name`,
  /// checks them and makes them non-negative for `rank`. Sets `axes` only if
  /// the list is present and not empty. Returns false after an error.
  bool getAxes(size_t i, llvm::StringRef name, int64_t rank,
               std::optional<llvm::SmallVector<int64_t>> &axes);
  /// Returns the graph of an attribute.
  ::onnx::GraphProto &getGraph(llvm::StringRef name);
  /// Imports the graph of an attribute on the values `inputs`, in place or, if
  /// `body` is not null, into that function. Returns false after an error.
  bool inlineGraph(llvm::StringRef name, llvm::ArrayRef<mlir::Value> inputs,
                   Body *body, llvm::SmallVectorImpl<mlir::Value> &results);
  /// Adds a data-dependent size from 0 to `most` whose run-time value is
  /// `count`, and returns its number; nullopt after an error. The size gets the
  /// name of the first of `results` that is an output of the graph, or
  /// otherwise of the first that something reads. It is never larger than
  /// `limit`, unless that is null.
  std::optional<unsigned> addLength(int64_t most, mlir::Value count,
                                    llvm::ArrayRef<size_t> results = {0},
                                    const LengthExpression &limit = {});
  /// Returns element `element` of operand `i`, a scalar or a list of integers,
  /// as an expression of data-dependent sizes; null if an operator that
  /// computes it is not understood.
  LengthExpression readLength(size_t i, int64_t element = 0);
  /// Returns the data-dependent size that is always equal to `number`: an
  /// existing one or a new one, named after result `result`. Returns nullopt if
  /// the node cannot have such a size, for example inside of a loop body.
  std::optional<unsigned> makeLength(const LengthExpression &number,
                                     size_t result = 0);
  /// Reports an error and returns true if element `element` of operand `i`, a
  /// shape, is negative for some values of the data-dependent sizes. Returns
  /// false if it is never negative or if that is not known.
  bool mayBeNegative(size_t i, size_t element);
  /// Returns the number of rows that a tensor needs so that imports at every
  /// value of this data-dependent size can slice it (cut()).
  int64_t getRoom(unsigned length) const;
  /// Returns the vector 0, 1, 2, ... whose number of elements is a
  /// data-dependent size.
  mlir::Value countTo(unsigned length);
  /// Builds ops that compute an expression at run time, and returns its value,
  /// an i64 scalar.
  mlir::Value build(const LengthExpression &number) {
    return buildLength(number, *this, importer.getLengths().getCounts());
  }
  /// Returns the set of data-dependent sizes, a bit for each, from which
  /// operand `i`, a constant in this import, is computed.
  uint64_t findSources(size_t i) const {
    return importer.findSources(proto.input(int(i)), scope);
  }
  /// Returns whether the result of this node may have a data-dependent size,
  /// also where that size is 0 in this import (Lengths::mayBeNext).
  bool mayAddLength() const {
    return importer.getLengths().mayBeNext(getResultName(0));
  }
  /// Returns the first slices of `x` along axis 0, as many as the
  /// data-dependent size `size`; null if that is nullopt.
  mlir::Value cut(mlir::Value x, std::optional<unsigned> size) {
    return size ? importer.getLengths().cut(*this, x, *size) : mlir::Value();
  }
  /// Returns true if input `i` is an initializer of the graph that contains the
  /// node.
  bool isInitializer(int i) const {
    return i < proto.input_size() &&
           scope.initializers.contains(proto.input(i));
  }
  GraphImporter &getImporter() { return importer; }
  mlir::OpBuilder &getOpBuilder() { return importer.getBuilder(); }
  /// Returns the node's name with the names of the enclosing nodes in front.
  std::string getPath() const;

private:
  ::onnx::AttributeProto *findGiven(llvm::StringRef name) const;

  GraphImporter &importer;
  ::onnx::NodeProto &proto;
  Scope &scope;
  const ::onnx::OpSchema &schema;
  llvm::SmallVector<mlir::Value> given, operands, results;
  llvm::SmallVector<mlir::Type> modelTypes;
  llvm::SmallVector<mlir::ArrayAttr> texts;
};

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_GRAPH_NODE_H
