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

/// A node of the domain com.microsoft and its operands, from which the
/// functions below print its body.
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
  /// Returns the number of inputs, not counting absent ones at the end.
  int countInputs() const;
  /// Returns the shape of an operand; empty if it is absent.
  llvm::ArrayRef<int64_t> getShape(int i) const {
    return getType(i) ? getType(i).getShape() : std::nullopt;
  }
  int64_t getRank(int i) const { return getShape(i).size(); }
  /// Returns the value of an operand that is a constant with one integer,
  /// otherwise nullopt.
  std::optional<int64_t> getKnown(int i) const;
  /// Returns an operand's element type as a value of ONNX's
  /// TensorProto::DataType.
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

/// Returns a literal in ONNX's text syntax that a parser reads as the same
/// float.
std::string print(double value);

/// Returns the text of a list, such as "[1, 2]".
std::string print(llvm::ArrayRef<int64_t> values);

/// Returns a statement that defines `name` as a constant list of i64.
std::string printInts(llvm::StringRef name, llvm::ArrayRef<int64_t> values);

/// Returns a statement that defines `name` as a constant float.
std::string printFloat(llvm::StringRef name, double value);

/// Returns the operators that fuse a layer with the operators behind it, sorted
/// by name. The next function returns the body of such an operator as ONNX
/// text, or an empty text after setting `why` to the reason.
llvm::ArrayRef<llvm::StringLiteral> getFusedOps();
std::string printFused(const MicrosoftNode &node, std::string &why);

/// Returns the operators of attention, sorted by name. The next function
/// returns the body of such an operator, or an empty text after setting `why`
/// to the reason.
llvm::ArrayRef<llvm::StringLiteral> getAttentionOps();
std::string printAttentionOp(const MicrosoftNode &node, std::string &why);

/// Returns the body of a DynamicQuantizeLSTM, or an empty text after setting
/// `why` to the reason.
std::string printQuantizedLstm(const MicrosoftNode &node, std::string &why);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_MICROSOFT_MICROSOFTNODE_H
