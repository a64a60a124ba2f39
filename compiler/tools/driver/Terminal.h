//===- Terminal.h - What goes to the user's screen ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_DRIVER_TERMINAL_H
#define NNC_TOOLS_DRIVER_TERMINAL_H

#include "llvm/ADT/StringRef.h"

#include <fmt/format.h>
#include <string>
#include <system_error>
#include <vector>

namespace nnc::tools {

/// Reports "nnc: error: <message>": on stderr, coloured on a terminal, or with
/// --json as a part of the document.
void printError(const std::string &message);
void printWarning(const std::string &message);

/// Writes to stdout, which may be a file on a full disk: flushOut() has the
/// first error that there was.
void writeOut(llvm::StringRef text);
template <class... Args>
void printOut(fmt::format_string<Args...> format, Args &&...args) {
  writeOut(fmt::format(format, std::forward<Args>(args)...));
}
std::error_code flushOut();

/// Writes to stderr, as far as that is possible.
void writeError(const std::string &text);

/// A model's name for something as a line may show it: not too long, and
/// without characters that steer a terminal.
std::string displayText(llvm::StringRef text);

enum class Colour { none, red, yellow, green, bold, faint };

/// `text` in a colour, if stderr (or stdout) is a terminal that wants colours
/// (NO_COLOR is not set, TERM is not dumb).
std::string colouredForStderr(Colour, llvm::StringRef text);
std::string colouredForStdout(Colour, llvm::StringRef text);

/// Shows what is being done, on one line that each step overwrites, if stderr
/// is a terminal. Gone at the end of its scope.
class Progress {
public:
  explicit Progress(llvm::StringRef step);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
};

/// Wipes the progress line, if there is one, before something is printed.
void clearProgress();

/// A table on stdout, columns aligned; numbers stand to the right.
class Table {
public:
  explicit Table(std::vector<std::string> header);
  void add(std::vector<std::string> row);
  void print() const;

private:
  std::vector<std::vector<std::string>> rows;
};

/// "2.3 MB", "617 B"
std::string formatBytes(double bytes);
/// "1.53 ms", "12.1 us"
std::string formatSeconds(double seconds);
/// "4.1 G", "3.20 k"
std::string formatCount(double count);

} // namespace nnc::tools

#endif // NNC_TOOLS_DRIVER_TERMINAL_H
