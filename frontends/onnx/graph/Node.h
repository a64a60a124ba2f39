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

/// How a number becomes a float of at most 8 bits: whether one that is too
/// large becomes the largest, and for float8e8m0 whether it is rounded down
/// (0), up (1) or to the nearest (0.5).
struct SmallRounding {
  bool saturates = true;
  double e8m0 = 1;
};

/// A node with its operands' values and its attributes, and the means to build
/// what computes it.
class Node : public LayerBuilder {
public:
  Node(GraphImporter &importer, ::onnx::NodeProto &proto, Scope &scope,
       llvm::ArrayRef<mlir::Value> operands, const ::onnx::OpSchema &schema);

  /// Version of the operator's definition: the opset that brought it.
  int getVersion() const { return getSince(schema); }

  // Operands; null where absent. Those of narrow types are carriers.
  size_t getNumOperands() const { return operands.size(); }
  mlir::Value getOperand(size_t i) const {
    return i < operands.size() ? operands[i] : mlir::Value();
  }
  llvm::ArrayRef<mlir::Value> getOperands() const { return operands; }
  /// The operands as the model sees them, without carriers.
  llvm::ArrayRef<mlir::Value> getModelOperands() const { return given; }
  /// The element type that operand `i` has in the model; null where absent.
  mlir::Type getModelType(size_t i) const {
    return i < modelTypes.size() ? modelTypes[i] : mlir::Type();
  }

  // Results. Converters return the first; further ones they set. Carriers of
  // the type that the schema says to be that of an operand become values of
  // that type.
  size_t getNumResults() const { return proto.output_size(); }
  /// The name of result `i`, with the path of calls and subgraphs around the
  /// node.
  std::string getResultName(size_t i) const {
    return scope.prefix + proto.output(static_cast<int>(i));
  }
  /// Whether the node gives it a name.
  bool namesResult(size_t i) const {
    return i < getNumResults() && !proto.output(i).empty();
  }
  /// Whether anything reads it.
  bool hasResult(size_t i) const {
    return i < getNumResults() && scope.needed->contains(proto.output(i));
  }
  /// The shape that the model declares for result `i`, if it states all sizes
  /// and the user gives the inputs no others than the model.
  std::optional<llvm::SmallVector<int64_t>> getDeclaredShape(size_t i) const;
  void setResult(size_t i, mlir::Value value);
  llvm::ArrayRef<mlir::Value> getResults() const { return results; }

  /// The texts of operand `i`, if that is of strings (Strings.h), else null.
  mlir::ArrayAttr getTexts(size_t i) const {
    return i < texts.size() ? texts[i] : mlir::ArrayAttr();
  }
  /// Returns a tensor of strings, given by their indices in `list`.
  mlir::Value asStrings(mlir::Value indices, llvm::ArrayRef<std::string> list);
  mlir::Value asStrings(mlir::Value indices, mlir::ArrayAttr list);
  /// Says that the columns of result `i` are those of classes with these names.
  void setColumnNames(size_t i, llvm::ArrayRef<std::string> names);

  /// Casts to any element type of ONNX's, and rounds to it. `rounding` says how
  /// that is done for floats of at most 8 bits.
  mlir::Value castToModelType(mlir::Value x, mlir::Type element,
                              SmallRounding rounding = {});
  /// Returns the numbers that `x` stands for, where `x` is the carrier
  /// (CarrierTypes.h) of a tensor of type `element`. Floats of at most 8 bits,
  /// whose carrier holds codes, are decoded to f32; other carriers are returned
  /// as they are.
  mlir::Value asNumbers(mlir::Value x, mlir::Type element);
  /// `x` as a value of type `element`, whose values it has already.
  mlir::Value asModelType(mlir::Value x, mlir::Type element);

  // Attributes. Where the node leaves one out it has the schema's default;
  // `otherwise` is for those that have none.
  /// False, and a report, where one is missing or of the wrong type; only then
  /// may others be read.
  bool checkAttributes();
  bool hasAttribute(llvm::StringRef name) const { return find(name); }
  int64_t getInt(llvm::StringRef name, int64_t otherwise = 0) const;
  bool getBool(llvm::StringRef name) const { return getInt(name) != 0; }
  double getFloat(llvm::StringRef name, double otherwise = 0) const;
  /// The numbers of a list of floats; none where it is absent.
  llvm::SmallVector<double> getReals(llvm::StringRef name) const;
  /// The texts of a list of strings; none where it is absent.
  llvm::SmallVector<std::string> getStrings(llvm::StringRef name) const;
  llvm::StringRef getString(llvm::StringRef name) const;
  std::optional<llvm::SmallVector<int64_t>> getInts(llvm::StringRef name) const;
  const ::onnx::AttributeProto *find(llvm::StringRef name) const;
  /// Returns the elements of a tensor attribute; those of its carrier
  /// (CarrierTypes.h) if the element type has one.
  mlir::ElementsAttr getElements(llvm::StringRef name);
  /// The element type of a tensor attribute, which may be a narrow one.
  mlir::Type getElementsType(llvm::StringRef name);

  // Values known while importing. Each reports where operand `i`, called `what`
  // in the message, is not one.
  std::optional<llvm::SmallVector<int64_t>>
  getConstantInts(size_t i, llvm::StringRef what) {
    return readInts(getOperand(i), what);
  }
  std::optional<llvm::SmallVector<double>>
  getConstantReals(size_t i, llvm::StringRef what) {
    return readReals(getOperand(i), what);
  }
  /// Axes from input `i` or else attribute `name`, made non-negative for `rank`
  /// and checked; an empty list is an absent one. Sets `axes` only if present.
  bool getAxes(size_t i, llvm::StringRef name, int64_t rank,
               std::optional<llvm::SmallVector<int64_t>> &axes);
  /// The graph of an attribute.
  ::onnx::GraphProto &getGraph(llvm::StringRef name);
  /// Imports the graph of an attribute, in place or into a body, with the
  /// values of its inputs; false where that fails.
  bool inlineGraph(llvm::StringRef name, llvm::ArrayRef<mlir::Value> inputs,
                   Body *body, llvm::SmallVectorImpl<mlir::Value> &results);
  /// Adds a size from 0 to `most` that a run finds in `count`, and returns its
  /// number; nullopt after a report. It is named as the first of those results
  /// of that length that the graph has as an output, or else something reads.
  /// It is never larger than `limit`, if that is known.
  std::optional<unsigned> addLength(int64_t most, mlir::Value count,
                                    llvm::ArrayRef<size_t> results = {0},
                                    const LengthExpression &limit = {});
  /// Returns the expression by which a run computes element `element` of
  /// operand `i`, a scalar or a list of whole numbers, from lengths that data
  /// decide; null if an operator on the way to it is not understood.
  LengthExpression readLength(size_t i, int64_t element = 0);
  /// Returns a length that always is `number`: one that there is, or a new one
  /// that is named after a result; nullopt where that cannot have one here.
  std::optional<unsigned> makeLength(const LengthExpression &number,
                                     size_t result = 0);
  /// Reports a model that fails where an element of operand `i`, a shape, is
  /// negative at some lengths that data may decide; false where that cannot be
  /// told.
  bool mayBeNegative(size_t i, size_t element);
  /// Returns how many rows a tensor needs from which imports for all values of
  /// the length cut.
  int64_t getRoom(unsigned length) const;
  /// Returns the first elements of 0, 1, 2, ..., as many as a length says.
  mlir::Value countTo(unsigned length);
  /// Returns a number as a scalar of i64 that a run computes.
  mlir::Value build(const LengthExpression &number) {
    return buildLength(number, *this, importer.getLengths().getCounts());
  }
  /// Returns the lengths that data decide from which operand `i`, known
  /// numbers, is computed.
  uint64_t findSources(size_t i) const {
    return importer.findSources(proto.input(int(i)), scope);
  }
  /// Returns whether the result of this node may have a data-dependent size,
  /// also where that size is 0 in this import (Lengths::mayBeNext).
  bool mayAddLength() const {
    return importer.getLengths().mayBeNext(getResultName(0));
  }
  /// Returns as many slices of axis 0 of `x` as that size says.
  mlir::Value cut(mlir::Value x, std::optional<unsigned> size) {
    return size ? importer.getLengths().cut(*this, x, *size) : mlir::Value();
  }
  /// Whether an input is an initializer of the graph that the node is in.
  bool isInitializer(int i) const {
    return i < proto.input_size() &&
           scope.initializers.contains(proto.input(i));
  }
  GraphImporter &getImporter() { return importer; }
  mlir::OpBuilder &getOpBuilder() { return importer.getBuilder(); }
  /// The node's name behind those of the nodes around it.
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
