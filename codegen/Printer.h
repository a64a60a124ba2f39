//===- Printer.h - The pieces that make up a written folder ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_CODEGEN_PRINTER_H
#define NNC_CODEGEN_PRINTER_H

#include "codegen/Codegen.h"
#include "dialects/exec/ModuleName.h"
#include "dialects/qnn/Port.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

#include <optional>

namespace nnc::codegen {

/// The text that replaces each @key@ of a template.
using Values = llvm::StringMap<std::string>;

/// Returns the text of a file of runtime/ or codegen/templates/ that is
/// embedded in nnc, or nullopt if there is no such file. `path` is relative to
/// the top folder.
std::optional<llvm::StringRef> getEmbedded(llvm::StringRef path);

/// Returns the text of templates/<name> with each @key@ replaced by its value.
std::string fillTemplate(llvm::StringRef name, const Values &values);

/// The largest length of a line of emitted code. Only names that are longer
/// exceed it.
constexpr size_t kColumns = 80;

/// Returns a name from the model in a form that a comment can contain:
/// shortened if it is very long, and without characters that would end the
/// comment, join two of its lines, or look different from what a compiler
/// reads.
std::string printModelName(llvm::StringRef name);

/// Returns a comment broken into lines, each of which begins with `head`.
std::string printComment(llvm::StringRef text, llvm::StringRef head = "//");

/// Returns `head`, the items joined by `separator`, and `tail`, broken into
/// lines.
std::string printList(llvm::StringRef head, llvm::ArrayRef<std::string> items,
                      llvm::StringRef tail, llvm::StringRef separator = ",");

/// Return the type of an element in the emitted C++ code and in the C header,
/// respectively.
llvm::StringRef getCppType(mlir::Type element);
llvm::StringRef getCType(mlir::Type element);

/// Returns the name of an element type in manifest.json: f32, i8, u8, bool, ...
std::string getTypeName(mlir::Type element);

/// Returns the C++ literal of a float or integer attribute; floats have the
/// type `float`.
std::string getLiteral(mlir::TypedAttr value);

/// Returns a shape as array dimensions, for instance "[1][64][56][56]".
std::string getDims(llvm::ArrayRef<int64_t> shape);

/// Returns the dimensions of a type in the order of its layout, followed by the
/// name of the layout, if it has one.
std::string describe(mlir::RankedTensorType type);

/// Returns a number of multiply-adds as text: "2.66 million multiply-adds".
std::string printMultiplyAdds(int64_t count);

/// The number of times that the loops around a step run it.
struct Trips {
  int64_t count = 1;   ///< product of the trip counts known at compile time
  bool isOpen = false; ///< whether the trip count of some loop depends on data

  /// Returns a phrase such as " in each of 12 trips", or an empty string
  /// outside of loops.
  std::string describe() const;
};
Trips getTrips(mlir::Operation *step);

/// Returns the multiply-adds of a run. A loop whose trip count depends on data
/// counts as one trip.
int64_t countMultiplyAdds(exec::ProgramOp program);

/// The number of launches of a run on a GPU: kernels, copies and memsets.
struct LaunchCount {
  int64_t least = 0;
  std::optional<int64_t> most = 0; ///< nothing if data decide without a bound

  /// Returns a phrase such as "57 launches" or "at least 3 launches".
  std::string describe() const;
};
LaunchCount countLaunches(exec::ProgramOp program);

/// Returns the call whose launch sets the counters of a GPU's blocks to zero:
/// the first launch of a run, if it is made at all sizes and does not count its
/// blocks itself. Returns null if a memset has to do it, or if the program has
/// no counters.
exec::CallOp findClearingCall(exec::ProgramOp program);

/// Returns a comment that explains exactly the layouts that values of the
/// programs have.
std::string printLayouts(llvm::ArrayRef<exec::ProgramOp> programs);

/// Returns the functor of a call's expression: `struct <name> { ... };`.
std::string printExpression(exec::CallOp call, llvm::StringRef name,
                            llvm::ArrayRef<std::string> arguments);

/// Return true if the program, or the program around `op`, is printed as CUDA
/// (Cuda.cpp).
bool isCuda(exec::ProgramOp program);
bool isCuda(mlir::Operation *op);

/// Return the name and the declaration of the parameter that tells the function
/// of a layer where to run: the thread pool, or in a CUDA program the stream.
llvm::StringRef getQueueName(mlir::Operation *op);
std::string getQueueParameter(mlir::Operation *op);

/// Returns the expression with which run() reads the value at the place called
/// `place`. In a CUDA program it waits for the stream.
std::string printRead(mlir::Operation *op, const std::string &place);

/// Returns the names of the loops, branches and sizes of a CUDA program for
/// which run() waits, because it reads a value from the GPU's memory.
llvm::SmallVector<llvm::StringRef> listDecisions(exec::ProgramOp program);

/// Returns the extension of the source with the layers: ".cpp" or ".cu".
llvm::StringRef getSourceExtension(exec::ProgramOp program);

/// Returns a comment with the operation of a layer, its shapes, and its share
/// of the `total` multiply-adds.
std::string printLayerComment(exec::CallOp call, int number, int64_t total,
                              llvm::StringRef indent = "");

/// Returns the C expression for a dimension. `names` are the names of the sizes
/// on which it depends.
std::string printSize(mlir::AffineExpr size,
                      llvm::ArrayRef<llvm::StringRef> names);

/// Returns the names of the sizes that the caller chooses.
llvm::SmallVector<llvm::StringRef> getCallersSizes(exec::ProgramOp program);

/// Returns the names of all sizes.
llvm::SmallVector<llvm::StringRef> getSizeNames(exec::ProgramOp program);

/// Returns the C expression for the number of elements of a tensor in memory,
/// padding included. It may depend on the sizes.
std::string printElements(exec::PlaceOpInterface place);

/// Returns the C expression for the number of bytes of a tensor in memory. It
/// may depend on the sizes.
std::string printBytes(exec::PlaceOpInterface place);

/// Returns the definitions of those fields of a call's shape that depend on
/// sizes.
std::string printVaryingSizes(exec::CallOp call,
                              llvm::ArrayRef<llvm::StringRef> sizes,
                              llvm::StringRef indent);

/// Returns the code of a layer: its comment, shape, expression and function.
std::string printLayer(exec::CallOp call, int number, int64_t total);

/// Returns the text of <name>_custom.c, which calls the custom functions. A
/// program without custom operators has no such file.
std::string printCustomFile(exec::ProgramOp program);

/// Return the parts of <name>.cpp or <name>.cu for custom operators: the lines
/// that include the functions' headers (in CUDA), the declarations of the
/// functions that <name>_custom.c defines (in C++), the comment and the
/// function of one operator, and the line in run() that calls it.
std::string printCustomIncludes(exec::ProgramOp program);
std::string printCustomDeclarations(exec::ProgramOp program);
std::string printCustomLayer(exec::CustomOp custom, int number);
std::string printCustomCall(exec::CustomOp custom, llvm::StringRef indent);

/// Returns a prototype such as `int <name>_run(...)`, or that of
/// <name>_run_parallel if `parallel`.
std::string printPrototype(exec::ProgramOp program, bool parallel,
                           llvm::StringRef head, llvm::StringRef tail);

/// Returns the lines of the enum with the return values of the program's
/// functions (status_codes.inc).
std::string printStatusCodes(exec::ProgramOp program);
/// Returns true if <name>_run_parallel is emitted, which takes a thread pool.
bool takesPool(exec::ProgramOp program, const EmitOptions &options);

/// Returns true if the program keeps values between runs.
bool hasState(exec::ProgramOp program);

/// Returns the quantization parameters of an input or output, or nullopt if it
/// is not quantized.
std::optional<qnn::Port> getQuantization(exec::PlaceOpInterface port);

/// Returns the name of the element type that the model declares for an input,
/// output or state, such as "f32" or "i4".
std::string getModelType(exec::PlaceOpInterface place);

/// Adds the element type of an input or output to the JSON object that
/// describes it. The keys are "dtype", and "storage" if elements have another
/// type in memory. Quantized integers also have "scale" and "zero_point", which
/// are numbers or lists with one number for each index of "axis", and
/// "rounding".
void addElements(exec::PlaceOpInterface place, llvm::json::Object &port);

/// Returns the constants of each quantized input and output, and functions that
/// quantize and dequantize a number.
std::string printQuantizedPorts(exec::ProgramOp program);

/// Returns true if the arena holds the program's inputs and outputs, and the
/// caller accesses them there. With `host_ports`, the caller has the originals
/// and the copies of its outputs.
bool hasPortsInArena(exec::ProgramOp program);

/// Returns true if the arena is divided among several memories.
bool hasMemories(exec::ProgramOp program);

/// Return the name and the declaration of the parameter through which
/// <name>_run receives the arena: `void *arena`, or the struct of its parts.
llvm::StringRef getArenaName(exec::ProgramOp program);
std::string getArenaParameter(exec::ProgramOp program);

/// Returns the parameters of <name>_place, which makes the structs of inputs
/// and outputs point to their places in the arena.
llvm::SmallVector<std::string> getPlaceParameters(exec::ProgramOp program);

/// Returns the definition of <name>_reset, which sets a state to its values
/// before the first run.
std::string printReset(exec::ProgramOp program);

/// A piece of the weights, which begins with a header. It holds all weights, or
/// those in one of several memories.
struct WeightsPiece {
  std::string memory; ///< name of the memory; empty for the only piece
  std::string symbol; ///< name of the array, and stem of its file names
  std::string macro;  ///< name of the constant for `bytes` in the header
  uint64_t bytes;     ///< size of the piece, header included
  uint64_t hash = 0;  ///< nnc::hash_words() of all bytes after the header
};

/// Returns the pieces of the weights. The list is empty for a model without
/// weights.
llvm::SmallVector<WeightsPiece> listWeights(exec::ProgramOp program);

/// Returns the bytes of nnc::weights_header and of the padding after it that
/// keeps the weights aligned.
uint64_t getWeightsHeaderBytes(exec::ProgramOp program);

/// Returns true if the caller passes the weights: where they are a file, and in
/// CUDA programs, whose caller has loaded them into the GPU's memory. A model
/// without weights has no such argument.
bool takesWeights(exec::ProgramOp program, const EmitOptions &options);

/// Returns true if the module's object files contain the weights.
bool embedsWeights(exec::ProgramOp program, const EmitOptions &options);

/// Returns the prototype of <name>_load_weights, which copies the weights of a
/// CUDA program into the GPU's memory. It takes the number of bytes that the
/// caller has if the weights are a file.
std::string printLoadPrototype(exec::ProgramOp program,
                               const EmitOptions &options, llvm::StringRef head,
                               llvm::StringRef tail);

/// Return the texts of <name>.h, <name>.cpp and manifest.json for the programs
/// of a module.
std::string printHeader(llvm::ArrayRef<exec::ProgramOp> programs,
                        const EmitOptions &options);
std::string printPrograms(llvm::ArrayRef<exec::ProgramOp> programs,
                          const EmitOptions &options,
                          llvm::ArrayRef<WeightsPiece> weights);
std::string printManifest(llvm::ArrayRef<exec::ProgramOp> programs,
                          const EmitOptions &options,
                          llvm::ArrayRef<std::string> files);

/// The index of each op that runs, in the order in which they are printed.
using LayerNumbers = llvm::DenseMap<mlir::Operation *, int>;
LayerNumbers numberLayers(exec::ProgramOp program);

/// A place in the arena, and the indices of the first and the last layer that
/// use it. Inputs are in use from the first layer of the program, and outputs
/// up to the last one.
struct ArenaSpan {
  exec::PlaceOpInterface place;
  int64_t offset; ///< in bytes
  int first, last;
  bool isScratch; ///< whether it is working memory of a layer rather than a
                  ///< value
};

/// Returns the places in the arena, in the order in which they are declared.
llvm::SmallVector<ArenaSpan> listArena(exec::ProgramOp program,
                                       const LayerNumbers &layers);

/// Returns `namespace place`. It holds constants with comments for the offsets
/// of buffers in the arena and of weights in the file of weights.
std::string printPlaces(exec::ProgramOp program, const LayerNumbers &layers);

/// Returns one text with all runtime headers that the programs' calls need,
/// each header once. They are found by following #include lines.
mlir::FailureOr<std::string>
amalgamateRuntime(llvm::ArrayRef<exec::ProgramOp> programs,
                  const EmitOptions &options);

/// Returns true if a layer runs on blocks of a GPU's threads
/// (runtime/cuda/kernels.h).
bool hasBlocks(llvm::ArrayRef<exec::ProgramOp> programs);

/// Returns the text of nnc_emulation.h, with which the CPU runs such layers.
mlir::FailureOr<std::string>
amalgamateEmulation(llvm::ArrayRef<exec::ProgramOp> programs);

/// Returns the compiler flags that select the target's processor.
llvm::SmallVector<std::string> getMachineFlags(exec::ProgramOp program);

/// Returns the compiler flags that the module's C++ or CUDA code needs on every
/// target.
llvm::ArrayRef<llvm::StringRef> getLanguageFlags(exec::ProgramOp program);

/// Returns the flags of getMachineFlags() and getLanguageFlags().
llvm::SmallVector<std::string> getFlags(exec::ProgramOp program);

/// Returns the path and the text of each file of the build system. `files` are
/// the headers, sources and weights written so far.
std::vector<std::pair<std::string, std::string>>
printPackage(exec::ProgramOp program, const EmitOptions &options,
             llvm::ArrayRef<std::string> files);

/// Writes the header and the encoded weights of a piece to `stream`, which must
/// be empty, and sets the piece's hash.
mlir::LogicalResult writeWeights(exec::ProgramOp program, WeightsPiece &piece,
                                 llvm::raw_pwrite_stream &stream);

/// A temporary folder for the emitted files, which replaces `target` when all
/// files are written.
class OutputFolder {
public:
  /// Creates the folder. Fails, with a diagnostic at `location`, if `target`
  /// may not be replaced or cannot be written. This and later calls store
  /// errors of the system in `systemError`.
  static mlir::FailureOr<OutputFolder> create(mlir::Location location,
                                              llvm::StringRef target,
                                              std::error_code &systemError);
  OutputFolder(OutputFolder &&other);
  ~OutputFolder();

  /// Writes one file, whose name may contain folders. `write` prints its
  /// contents to a stream.
  mlir::LogicalResult
  add(llvm::StringRef name,
      llvm::function_ref<mlir::LogicalResult(llvm::raw_pwrite_stream &)> write);
  mlir::LogicalResult add(llvm::StringRef name, llvm::StringRef text);

  /// Moves the folder to its final place.
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
