//===- Terminal.h - What goes to the user's screen ------------------------===//
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

/// Reports the error "nnc: error: <message>" on stderr, coloured if that is a
/// terminal, or with --json as a part of the document.
void printError(const std::string &message);
void printWarning(const std::string &message);

/// What nnc says beside the results that it is asked for, as options of the
/// command line want it.
struct Manner {
  bool quiet = false;   ///< errors alone
  bool verbose = false; ///< steps with times and sizes, too
  /// What the command prints only sums up what it has done, and is left out
  /// where it is to be quiet.
  bool sumsUp = false;
  enum Colours { automatic, always, never } colours = automatic;
};
void setManner(const Manner &manner);
bool isQuiet();
bool isVerbose();

/// Returns true if a line on stderr may show what nnc is doing.
bool showsProgress();

/// Returns how many columns a line of a terminal may take.
size_t getColumns(int descriptor);
/// Returns that of stdout if it is a terminal.
std::optional<size_t> getColumnsOfStdout();

/// Writes to stdout. The first error, for instance of a full disk, is kept for
/// flushOut(), which returns it.
void writeOut(llvm::StringRef text);
std::error_code flushOut();

/// Writes to stdout what is for people: not with --quiet, where it only sums up
/// what the command has done.
void tellOut(llvm::StringRef text);
template <class... Args>
void printOut(fmt::format_string<Args...> format, Args &&...args) {
  tellOut(fmt::format(format, std::forward<Args>(args)...));
}

/// Writes to stderr. Errors are ignored.
void writeError(const std::string &text);

/// Returns a name of the model in a form that can be printed: shortened if it
/// is very long, and without control characters.
std::string displayText(llvm::StringRef text);

/// Returns how many columns of a terminal `text` takes: characters of East Asia
/// take two, accents none.
size_t countColumns(llvm::StringRef text);
/// Returns as much of `text` as fits into so many columns.
llvm::StringRef fitColumns(llvm::StringRef text, size_t columns);

enum class Colour { none, red, yellow, green, bold, faint };

/// Return `text` in a colour as --color says; unless it does, if stderr, or
/// stdout, is a terminal with colours (NO_COLOR is not set and TERM is not
/// dumb).
std::string colouredForStderr(Colour, llvm::StringRef text);
std::string colouredForStdout(Colour, llvm::StringRef text);

/// A table that is printed to stdout with aligned columns; numbers are aligned
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
