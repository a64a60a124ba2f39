//===- MicrosoftNode.h - A node of onnxruntime's own operators ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_MICROSOFT_MICROSOFTNODE_H
#define NNC_FRONTENDS_ONNX_MICROSOFT_MICROSOFTNODE_H

#include "frontends/onnx/microsoft/Microsoft.h"

#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace nnc::onnx {

/// A node and its operands, for those who write its body.
class MicrosoftNode {
public:
  MicrosoftNode(const ::onnx::NodeProto &proto,
                llvm::ArrayRef<mlir::Value> operands)
      : proto(proto), operands(operands) {}

  llvm::StringRef getName() const { return proto.op_type(); }
  bool has(int i) const {
    return i < proto.input_size() && !proto.input(i).empty();
  }
  bool hasResult(int i) const {
    return i < proto.output_size() && !proto.output(i).empty();
  }
  /// Returns the number of inputs without absent ones at the end.
  int countInputs() const;
  /// Returns the shape of an operand, empty if it is absent.
  llvm::ArrayRef<int64_t> getShape(int i) const {
    return getType(i) ? getType(i).getShape() : std::nullopt;
  }
  int64_t getRank(int i) const { return getShape(i).size(); }
  /// Returns the one integer in an operand, if that is known.
  std::optional<int64_t> getKnown(int i) const;
  /// Returns ONNX's number of an operand's element type.
  int32_t getElementType(int i) const;

  bool hasAttribute(llvm::StringRef name) const { return find(name); }
  int64_t getInt(llvm::StringRef name, int64_t otherwise) const;
  double getFloat(llvm::StringRef name, double otherwise) const;
  std::string getString(llvm::StringRef name, llvm::StringRef otherwise) const;
  llvm::SmallVector<int64_t> getInts(llvm::StringRef name) const;
  llvm::SmallVector<double> getFloats(llvm::StringRef name) const;
  llvm::SmallVector<std::string> getStrings(llvm::StringRef name) const;

private:
  mlir::RankedTensorType getType(int i) const {
    return size_t(i) < operands.size() && operands[i]
               ? llvm::cast<mlir::RankedTensorType>(operands[i].getType())
               : mlir::RankedTensorType();
  }
  const ::onnx::AttributeProto *find(llvm::StringRef name) const;

  const ::onnx::NodeProto &proto;
  llvm::ArrayRef<mlir::Value> operands;
};

/// Returns a literal from which a parser reads the same float.
std::string print(double value);

/// Returns a list such as "[1, 2]".
std::string print(llvm::ArrayRef<int64_t> values);

/// Returns a statement that defines `name` as a constant list of i64.
std::string printInts(llvm::StringRef name, llvm::ArrayRef<int64_t> values);

/// Returns a statement that defines `name` as a constant float.
std::string printFloat(llvm::StringRef name, double value);

/// The operators that fuse a layer with what follows it, sorted by name; and
/// the ONNX text of the function that one of them is, or an empty text and the
/// reason `why`.
llvm::ArrayRef<llvm::StringLiteral> getFusedOps();
std::string printFused(const MicrosoftNode &node, std::string &why);

/// Attention and what belongs to it, sorted, and the body of an operator;
/// empty, and why, if there is none.
llvm::ArrayRef<llvm::StringLiteral> getAttentionOps();
std::string printAttentionOp(const MicrosoftNode &node, std::string &why);

/// Returns the body of DynamicQuantizeLSTM; empty, and why, if there is none.
std::string printQuantizedLstm(const MicrosoftNode &node, std::string &why);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_MICROSOFT_MICROSOFTNODE_H
