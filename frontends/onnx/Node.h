//===- Node.h - What a converter sees of an ONNX node ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_NODE_H
#define NNC_FRONTENDS_ONNX_NODE_H

#include "dialects/nn/Nn.h"
#include "frontends/onnx/Evaluate.h"
#include "frontends/onnx/Graph.h"
#include "frontends/onnx/Schema.h"
#include "frontends/onnx/Types.h"

namespace nnc::onnx {

/// A node with its operands' values and its attributes, and the means to build
/// what computes it.
///
/// Problems are values too: whatever fails reports why and returns a null
/// Value, and building on a null operand quietly gives null again. So a
/// converter checks only what it must before it looks at a type.
class Node {
public:
  Node(GraphImporter &importer, ::onnx::NodeProto &proto, Scope &scope,
       llvm::ArrayRef<mlir::Value> operands, const ::onnx::OpSchema &schema);

  llvm::StringRef getOp() const { return proto.op_type(); }
  /// Version of the operator's definition: the opset that brought it.
  int getVersion() const { return getSince(schema); }
  mlir::Location getLoc() const { return loc; }
  mlir::Builder &getBuilder() { return importer.getBuilder(); }

  // Operands; null where absent.
  size_t getNumOperands() const { return operands.size(); }
  mlir::Value getOperand(size_t i) const {
    return i < operands.size() ? operands[i] : mlir::Value();
  }
  llvm::ArrayRef<mlir::Value> getOperands() const { return operands; }

  // Results. Converters return the first; further ones they set.
  size_t getNumResults() const { return proto.output_size(); }
  /// Whether the node gives it a name.
  bool namesResult(size_t i) const {
    return i < getNumResults() && !proto.output(i).empty();
  }
  /// Whether anything reads it.
  bool hasResult(size_t i) const {
    return i < getNumResults() && scope.needed->contains(proto.output(i));
  }
  void setResult(size_t i, mlir::Value value) { results[i] = value; }
  llvm::ArrayRef<mlir::Value> getResults() const { return results; }

  // Attributes. Where the node leaves one out it has the schema's default;
  // `otherwise` is for those that have none.
  /// False, and a report, where one is missing or of the wrong type; only then
  /// may others be read.
  bool checkAttributes();
  bool hasAttribute(llvm::StringRef name) const { return find(name); }
  int64_t getInt(llvm::StringRef name, int64_t otherwise = 0) const;
  bool getBool(llvm::StringRef name) const { return getInt(name) != 0; }
  double getFloat(llvm::StringRef name, double otherwise = 0) const;
  llvm::StringRef getString(llvm::StringRef name) const;
  std::optional<llvm::SmallVector<int64_t>> getInts(llvm::StringRef name) const;
  const ::onnx::AttributeProto *find(llvm::StringRef name) const;
  /// The elements of a tensor attribute.
  mlir::ElementsAttr getElements(llvm::StringRef name);

  // Values known while importing. Each reports where operand `i`, called `what`
  // in the message, is not one.
  std::optional<llvm::SmallVector<int64_t>>
  getConstantInts(size_t i, llvm::StringRef what);
  std::optional<llvm::SmallVector<double>>
  getConstantReals(size_t i, llvm::StringRef what);
  /// Axes from input `i` or else attribute `name`, made non-negative for `rank`
  /// and checked; an empty list is an absent one. Sets `axes` only if present.
  bool getAxes(size_t i, llvm::StringRef name, int64_t rank,
               std::optional<llvm::SmallVector<int64_t>> &axes);
  /// `axis` counted from the front, or nothing if not in [-rank, rank).
  std::optional<int64_t> normalizeAxis(int64_t axis, int64_t rank);

  // Building.
  /// An op whose result type follows from its operands and attributes.
  template <class Op, class... Args> mlir::Value create(Args... args) {
    if ((isNull(args) || ...))
      return {};
    mlir::OperationState state(loc, Op::getOperationName());
    Op::build(importer.getBuilder(), state,
              mlir::Type(getBuilder().getNoneType()), args...);
    return infer(state);
  }
  /// An op of the given result type, once that is of a size that nnc handles.
  template <class Op, class... Args>
  mlir::Value createAs(mlir::Type type, Args... args) {
    if ((isNull(args) || ...) || !checkSize(type))
      return {};
    mlir::OperationState state(loc, Op::getOperationName());
    Op::build(importer.getBuilder(), state, type, args...);
    return insert(state);
  }
  /// The elementwise op of that name.
  mlir::Value createElementwise(llvm::StringRef op,
                                llvm::ArrayRef<mlir::Value> operands,
                                llvm::ArrayRef<mlir::NamedAttribute> = {});
  mlir::Value constant(mlir::ElementsAttr value);
  mlir::Value constant(llvm::ArrayRef<int64_t> values); ///< a vector of i64
  /// A constant of `shape` whose elements are all `value`.
  mlir::Value splat(mlir::TypedAttr value, llvm::ArrayRef<int64_t> shape);
  mlir::Value splat(double value, mlir::Type element,
                    llvm::ArrayRef<int64_t> shape = {});
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> permutation);
  mlir::Value expand(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value castTo(mlir::Value x, mlir::Type element);

  /// Whether nnc handles a result of that type; reports where not.
  bool checkSize(mlir::Type type, int64_t maxBytes = kMaxBytes);
  /// Imports a graph attribute in place; false where that fails.
  bool inlineGraph(llvm::StringRef name, llvm::SmallVectorImpl<mlir::Value> &);

  // Failing. The text completes a sentence that starts with the operator.
  mlir::Value broken(const llvm::Twine &why) {
    return fail(ImportStatus::broken, why);
  }
  mlir::Value unsupported(const llvm::Twine &why) {
    return fail(ImportStatus::unsupported, why);
  }
  mlir::Value fail(ImportStatus status, const llvm::Twine &why);

private:
  static bool isNull(mlir::Value value) { return !value; }
  static bool isNull(mlir::ValueRange values) {
    return llvm::is_contained(values, mlir::Value());
  }
  template <class T> static bool isNull(const T &) { return false; }
  ::onnx::AttributeProto *findGiven(llvm::StringRef name) const;
  mlir::Value infer(mlir::OperationState &state);
  mlir::Value insert(mlir::OperationState &state);

  GraphImporter &importer;
  ::onnx::NodeProto &proto;
  Scope &scope;
  mlir::Location loc;
  const ::onnx::OpSchema &schema;
  llvm::SmallVector<mlir::Value> operands, results;
};

// What types of values say; for null values nothing.
inline llvm::ArrayRef<int64_t> getShape(mlir::Value value) {
  return value ? llvm::cast<mlir::RankedTensorType>(value.getType()).getShape()
               : llvm::ArrayRef<int64_t>();
}
inline int64_t getRank(mlir::Value value) { return getShape(value).size(); }
inline int64_t getNumElements(mlir::Value value) {
  return mlir::ShapedType::getNumElements(getShape(value));
}
inline mlir::Type getElement(mlir::Value value) {
  return value ? mlir::getElementTypeOrSelf(value.getType()) : mlir::Type();
}
/// 0, 1, ... count - 1.
llvm::SmallVector<int64_t> iota(int64_t count);
/// Product of sizes.
int64_t product(llvm::ArrayRef<int64_t> sizes);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_NODE_H
