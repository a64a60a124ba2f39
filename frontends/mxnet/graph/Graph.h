//===- Graph.h - Walks the graph of a symbol --------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_MXNET_GRAPH_GRAPH_H
#define NNC_FRONTENDS_MXNET_GRAPH_GRAPH_H

#include "frontends/common/Customs.h"
#include "frontends/common/Inputs.h"
#include "frontends/common/Missing.h"
#include "frontends/mxnet/file/Params.h"
#include "frontends/mxnet/file/Symbol.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace nnc::mxnet {
class Layer;

/// The importer of the nodes of a symbol into a function.
class GraphImporter {
public:
  GraphImporter(const Symbol &symbol, const Params &params,
                const ImportOptions &options, Problems &problems,
                mlir::func::FuncOp function);

  /// Returns the numbers of the nodes that are inputs of the network: of those
  /// variables that the outputs are computed from and that are no parameters.
  static std::vector<uint32_t> findInputs(const Symbol &symbol,
                                          const Params &params,
                                          llvm::ArrayRef<uint32_t> sorted);

  /// Imports the nodes `sorted` and reports problems. `inputs` are those with
  /// the numbers `inputNodes`.
  void run(llvm::ArrayRef<uint32_t> sorted, llvm::ArrayRef<uint32_t> inputNodes,
           llvm::ArrayRef<Input> inputs);

  /// Returns the parameter `name` as a constant; null, without an error, if
  /// there is none, or while a subgraph is imported.
  mlir::Value getParameter(llvm::StringRef name);

  /// The result of a node of a subgraph that is computed in another way.
  struct Computed {
    uint32_t node;
    mlir::Value value;
  };
  /// Imports a graph that the node `layer` runs. Its variables have the values
  /// `inputs`, in order, and the nodes `computed` are not imported. Appends the
  /// values of its outputs to `results`, or returns false after an error.
  bool importSubgraph(Layer &layer, const Symbol &graph,
                      llvm::ArrayRef<mlir::Value> inputs,
                      llvm::SmallVectorImpl<mlir::Value> &results,
                      llvm::ArrayRef<Computed> computed = {});

  /// Returns the version of MXNet that saved the symbol (Symbol::version).
  int64_t getVersion() const { return symbol.version; }
  Customs &getCustoms() { return customs; }
  Problems &getProblems() { return problems; }
  mlir::OpBuilder &getBuilder() { return builder; }

private:
  /// The results of each node of a graph. A result that could not be computed
  /// is null.
  using Values = std::vector<llvm::SmallVector<mlir::Value, 1>>;

  void importNode(const Symbol &graph, Values &values, uint32_t number);
  void importVariable(uint32_t number);
  void returnResults();

  const Symbol &symbol;
  const Params &params;
  Problems &problems;
  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  Customs customs;
  Values values;
  llvm::StringMap<mlir::Value> parameters;
  int64_t depth = 0;    ///< number of subgraphs that are being imported
  int64_t imported = 0; ///< number of nodes that were imported from subgraphs

  MissingOperators missing;
};

} // namespace nnc::mxnet

#endif // NNC_FRONTENDS_MXNET_GRAPH_GRAPH_H
