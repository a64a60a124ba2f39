//===- Terminal.h - Output on the terminal --------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_CONSOLE_TERMINAL_H
#define NNC_COMPILER_TOOLS_DRIVER_CONSOLE_TERMINAL_H

#include "llvm/ADT/StringRef.h"

#include <fmt/format.h>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace nnc::tools {

/// Reports the error "nnc: error: <message>": on stderr, coloured if that is a
/// terminal, or with --json as a part of the JSON document.
void printError(const std::string &message);
void printWarning(const std::string &message);

/// The settings for what nnc prints in addition to the requested results, as
/// set by command-line options.
struct Manner {
  bool quiet = false;   ///< prints only errors
  bool verbose = false; ///< also prints steps with times and sizes
  /// Whether the output of the command only summarizes what it has done. It is
  /// then left out if `quiet` is set.
  bool sumsUp = false;
  enum Colours { automatic, always, never } colours = automatic;
};
void setManner(const Manner &manner);
bool isQuiet();
bool isVerbose();

/// Returns true if a line on stderr may show what nnc is doing.
bool showsProgress();

/// Returns the number of columns of the terminal at `descriptor`.
size_t getColumns(int descriptor);
/// Returns the number of columns of stdout if that is a terminal.
std::optional<size_t> getColumnsOfStdout();

/// Writes to stdout. The first error, for instance of a full disk, is stored,
/// and flushOut() returns it.
void writeOut(llvm::StringRef text);
std::error_code flushOut();

/// Writes output for people to stdout. It is left out with --quiet if the
/// output only summarizes what the command has done (Manner::sumsUp).
void tellOut(llvm::StringRef text);
template <class... Args>
void printOut(fmt::format_string<Args...> format, Args &&...args) {
  tellOut(fmt::format(format, std::forward<Args>(args)...));
}

/// Writes to stderr. Errors are ignored.
void writeError(const std::string &text);

/// Returns a name from the model in a printable form: shortened if it is very
/// long, and without control characters.
std::string displayText(llvm::StringRef text);

/// Returns the number of columns of a terminal that `text` takes. East Asian
/// characters take two columns, accents none.
size_t countColumns(llvm::StringRef text);
/// Returns the longest prefix of `text` that fits into `columns` columns.
llvm::StringRef fitColumns(llvm::StringRef text, size_t columns);

enum class Colour { none, red, yellow, green, bold, faint };

/// Return `text` in a colour if --color demands it. Without --color, it is
/// coloured if stderr or stdout, respectively, is a terminal with colours
/// (NO_COLOR is not set and TERM is not dumb).
std::string colouredForStderr(Colour, llvm::StringRef text);
std::string colouredForStdout(Colour, llvm::StringRef text);

/// A table that is printed to stdout with aligned columns. Numbers are aligned
/// to the right.
class Table {
public:
  explicit Table(std::vector<std::string> header);
  void add(std::vector<std::string> row);
  void print() const;

private:
  std::vector<std::vector<std::string>> rows;
};

/// Formats a size, for instance "2.3 MB" or "617 B".
std::string formatBytes(double bytes);
/// Formats a time, for instance "1.53 ms" or "12.1 us".
std::string formatSeconds(double seconds);
/// Formats a count, for instance "4.1 G" or "3.20 k".
std::string formatCount(double count);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_CONSOLE_TERMINAL_H
