//===- Signature.h - Inputs and outputs of an exported program ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TORCH_GRAPH_SIGNATURE_H
#define NNC_FRONTENDS_TORCH_GRAPH_SIGNATURE_H

#include "frontends/common/Import.h"
#include "frontends/common/TensorInfo.h"
#include "frontends/torch/file/Program.h"
#include "frontends/torch/graph/Symbols.h"

namespace nnc::torch {

/// An argument of the program's graph.
struct GraphInput {
  enum class Kind { user, stored, token, constant };
  Kind kind;
  std::string name;        ///< name in the graph
  std::string target = {}; ///< name of the parameter, buffer or constant
  /// True for a tensor that the program changes, which keeps its value between
  /// runs.
  bool isState = false;
};

/// A result of the program's graph.
struct GraphOutput {
  std::string name;        ///< name in the graph; empty for a number or None
  std::string port;        ///< name for users
  std::string target = {}; ///< name of the buffer whose next value it is
};

/// The inputs and outputs of a program.
struct Signature {
  std::vector<GraphInput> inputs;
  std::vector<GraphOutput> outputs;
};

/// Reads the signature. Reports inputs and outputs that nnc does not handle,
/// and returns nullopt if there are any.
std::optional<Signature> readSignature(const Program &program,
                                       Problems &problems);

/// Returns what the program states of its tensor `name` as an input. Open
/// dimensions have the expressions of their sizes as names. Reports damaged
/// sizes.
TensorInfo describeInput(const Program &program, llvm::StringRef name,
                         mlir::MLIRContext &context, Problems &problems);

/// Returns the expression of a size in the metadata of a tensor, or an empty
/// string if it is a known number or damaged.
llvm::StringRef getSizeExpression(const json::Value &size);

/// Returns shapes for inputs that have none in `given` and whose open sizes are
/// symbols with bounds: the largest sizes. `bounds` gets the bounds of all
/// sizes of these inputs. Returns no shapes if other sizes are open, too.
GivenShapes takeLargest(const Program &program,
                        llvm::ArrayRef<TensorInfo> inputs,
                        const GivenShapes &given, SizeBounds &bounds);

/// Finds the values of the program's symbols, given the shapes of its inputs,
/// and checks that they are in the ranges that the program states unless
/// `passesBounds` is set. Returns false after an error.
bool bindSymbols(const Program &program, llvm::StringRef input,
                 llvm::ArrayRef<int64_t> shape, Symbols &symbols,
                 bool passesBounds, Problems &problems);

/// Returns true if all sizes of an input have values once the symbols are
/// bound; else reports the sizes that have none.
bool checkSizes(const Program &program, llvm::StringRef input,
                llvm::ArrayRef<int64_t> shape, const Symbols &symbols,
                Problems &problems);

} // namespace nnc::torch

#endif // NNC_FRONTENDS_TORCH_GRAPH_SIGNATURE_H
