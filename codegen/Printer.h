//===- Printer.h - The pieces that make up a written folder ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_CODEGEN_PRINTER_H
#define NNC_CODEGEN_PRINTER_H

#include "codegen/Codegen.h"

#include "llvm/ADT/StringMap.h"

namespace nnc::codegen {

/// Text for each @key@ of a template.
using Values = llvm::StringMap<std::string>;

/// A file of runtime/ or codegen/templates/ as it was when nnc was built, by
/// its path from the top; null if there is none.
std::optional<llvm::StringRef> getEmbedded(llvm::StringRef path);

/// templates/<name> with each @key@ replaced.
std::string fillTemplate(llvm::StringRef name, const Values &values);

/// Lines of written code are no longer, but for names that do not fit.
constexpr size_t kColumns = 80;

/// A name of the model's as a comment may hold it: not too long, and without
/// what would end the comment, join two lines of it, or be shown as something
/// else than what a compiler reads.
std::string printModelName(llvm::StringRef name);

/// A comment in lines, each behind `head`.
std::string printComment(llvm::StringRef text, llvm::StringRef head = "//");

/// `head`, the items with separators between them, and `tail`, in lines.
std::string printList(llvm::StringRef head, llvm::ArrayRef<std::string> items,
                      llvm::StringRef tail, llvm::StringRef separator = ",");

/// The C type of an element, as the printed code (C++) or the header (C) has
/// it.
llvm::StringRef getCppType(mlir::Type element);
llvm::StringRef getCType(mlir::Type element);

/// The element's name in manifest.json: f32, i8, u8, bool, ...
std::string getTypeName(mlir::Type element);

/// A literal of a float or integer attribute; floats as C++ `float`.
std::string getLiteral(mlir::TypedAttr value);

/// "[1][64][56][56]".
std::string getDims(llvm::ArrayRef<int64_t> shape);

/// The same with the layout's name behind it, if any.
std::string describe(mlir::RankedTensorType type);

/// The functor of a call's expression: `struct <name> { ... };`.
std::string printExpression(exec::CallOp call, llvm::StringRef name,
                            llvm::ArrayRef<std::string> arguments);

/// What a layer computes, on which shapes, and its share of the `total` work.
std::string printLayerComment(exec::CallOp call, int number, int64_t total,
                              llvm::StringRef indent = "");

/// A layer's comment, shape, expression and function.
std::string printLayer(exec::CallOp call, int number, int64_t total);

/// `<head>int <name>_run(...<tail>`, or _run_parallel.
std::string printPrototype(llvm::StringRef name, bool parallel,
                           llvm::StringRef head, llvm::StringRef tail);

/// What the code knows of its weights. All is 0 for a model that has none.
struct WeightsStamp {
  uint64_t headerBytes = 0; ///< in front of the first weight
  uint64_t bytes = 0;       ///< of the header and all weights
  uint64_t hash = 0;        ///< nnc::hash_words() of what follows the header
};

/// Bytes of nnc::weights_header and of the padding behind it, which keeps the
/// weights aligned; 0 where there are no weights.
uint64_t getWeightsHeaderBytes(exec::ProgramOp program);

/// Bytes of the header and all weights: of <name>_weights.bin.
uint64_t getWeightsBytes(exec::ProgramOp program);

/// Whether the caller passes the weights. A model without weights has no file.
bool takesWeights(exec::ProgramOp program, const EmitOptions &options);

/// <name>.h, <name>.cpp and manifest.json.
std::string printHeader(exec::ProgramOp program, const EmitOptions &options);
std::string printProgram(exec::ProgramOp program, const EmitOptions &options,
                         const WeightsStamp &stamp);
std::string printManifest(exec::ProgramOp program, const EmitOptions &options,
                          llvm::ArrayRef<std::string> files);

/// The number of each operation that runs, in the order of running.
using LayerNumbers = llvm::DenseMap<mlir::Operation *, int>;
LayerNumbers numberLayers(exec::ProgramOp program);

/// `namespace place`: where buffers lie in the arena, and weights among the
/// weights, as constants with comments.
std::string printPlaces(exec::ProgramOp program, const LayerNumbers &layers);

/// The runtime headers that the program's calls need, each once, in one text,
/// found by following #include lines.
mlir::FailureOr<std::string> amalgamateRuntime(exec::ProgramOp program,
                                               const EmitOptions &options);

/// The flags that every file of the folder is to be compiled with.
llvm::SmallVector<std::string> getFlags(exec::ProgramOp program);

/// Writes the header and the weights, which are encoded, to `stream`, which is
/// empty.
mlir::FailureOr<WeightsStamp> writeWeights(exec::ProgramOp program,
                                           llvm::raw_pwrite_stream &stream);

/// Puts files into a new folder that takes the place of `target` when all is
/// written.
class OutputFolder {
public:
  /// Fails, with a diagnostic at `location`, if `target` is not ours to replace
  /// or cannot be written.
  /// What the system says against writing goes into `systemError`, now and
  /// later.
  static mlir::FailureOr<OutputFolder> create(mlir::Location location,
                                              llvm::StringRef target,
                                              std::error_code &systemError);
  OutputFolder(OutputFolder &&other);
  ~OutputFolder();

  /// Writes one file by way of `write`.
  mlir::LogicalResult
  add(llvm::StringRef name,
      llvm::function_ref<mlir::LogicalResult(llvm::raw_pwrite_stream &)> write);
  mlir::LogicalResult add(llvm::StringRef name, llvm::StringRef text);

  /// Makes the folder appear.
  mlir::LogicalResult commit();

private:
  OutputFolder(mlir::Location location, std::error_code &systemError,
               std::string target, std::string temporary)
      : location(location), systemError(systemError), target(std::move(target)),
        temporary(std::move(temporary)) {}
  mlir::LogicalResult fail(llvm::StringRef what, std::error_code error);
  mlir::Location location;
  std::error_code &systemError;
  std::string target, temporary;
};

} // namespace nnc::codegen

#endif // NNC_CODEGEN_PRINTER_H
