//===- Terminal.cpp - Output on the terminal ------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/console/Terminal.h"

#include "compiler/tools/driver/console/Diagnostics.h"

#include "dialects/exec/Printable.h"

#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Unicode.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace nnc::tools {

static bool isTerminal(int descriptor) {
  const char *term = std::getenv("TERM");
  return ::isatty(descriptor) && term && llvm::StringRef(term) != "dumb";
}

static Manner manner;

void setManner(const Manner &wanted) { manner = wanted; }
bool isQuiet() { return manner.quiet; }
bool isVerbose() { return manner.verbose; }

bool showsProgress() {
  return !manner.quiet && !areProblemsForJson() && isTerminal(STDERR_FILENO);
}

size_t getColumns(int descriptor) {
  winsize size = {};
  ::ioctl(descriptor, TIOCGWINSZ, &size);
  return size.ws_col > 1 ? size.ws_col - 1 : 79;
}

std::optional<size_t> getColumnsOfStdout() {
  return ::isatty(STDOUT_FILENO) ? std::optional(getColumns(STDOUT_FILENO))
                                 : std::nullopt;
}

static bool hasColours(int descriptor) {
  if (manner.colours != Manner::automatic)
    return manner.colours == Manner::always;
  const char *refused = std::getenv("NO_COLOR");
  return isTerminal(descriptor) && !(refused && *refused);
}

static std::string coloured(int descriptor, Colour colour,
                            llvm::StringRef text) {
  static const char *const codes[] = {"", "31;1", "33;1", "32;1", "1", "2"};
  if (colour == Colour::none || !hasColours(descriptor))
    return text.str();
  return fmt::format("\x1b[{}m{}\x1b[0m", codes[int(colour)], text.str());
}

std::string colouredForStderr(Colour colour, llvm::StringRef text) {
  return coloured(STDERR_FILENO, colour, text);
}

std::string colouredForStdout(Colour colour, llvm::StringRef text) {
  return coloured(STDOUT_FILENO, colour, text);
}

std::string displayText(llvm::StringRef text) {
  return exec::escapeUnprintable(exec::shortenMiddle(text), /*control=*/' ');
}

/// Removes the first UTF-8 character from `text`. Returns its width in columns.
static size_t dropCharacter(llvm::StringRef &text) {
  llvm::StringRef character = text.take_front(
      llvm::getNumBytesForUTF8(static_cast<llvm::UTF8>(text.front())));
  text = text.drop_front(character.size());
  // The width is negative for bytes that are not a character, which are shown
  // as one sign.
  int columns = llvm::sys::unicode::columnWidthUTF8(character);
  return columns < 0 ? 1 : columns;
}

size_t countColumns(llvm::StringRef text) {
  size_t columns = 0;
  while (!text.empty())
    columns += dropCharacter(text);
  return columns;
}

llvm::StringRef fitColumns(llvm::StringRef text, size_t columns) {
  llvm::StringRef rest = text, fitting = rest;
  for (size_t used = 0; !rest.empty(); fitting = rest)
    if ((used += dropCharacter(rest)) > columns)
      return text.drop_back(fitting.size());
  return text;
}

static std::error_code writeFailure;

static void noteFailure() {
  if (!writeFailure)
    writeFailure = std::error_code(errno, std::generic_category());
}

void writeOut(llvm::StringRef text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    noteFailure();
}

void tellOut(llvm::StringRef text) {
  if (!manner.quiet || !manner.sumsUp)
    writeOut(text);
}

std::error_code flushOut() {
  errno = 0;
  if (std::fflush(stdout))
    noteFailure();
  return writeFailure;
}

void writeError(const std::string &text) {
  // Nobody could be told if this fails.
  std::fputs(text.c_str(), stderr);
}

Table::Table(std::vector<std::string> header) { rows.push_back(header); }

void Table::add(std::vector<std::string> row) {
  row.resize(rows.front().size());
  for (std::string &cell : row)
    cell = displayText(cell);
  rows.push_back(std::move(row));
}

static bool looksLikeNumber(const std::string &text) {
  return !text.empty() && (std::isdigit(static_cast<unsigned char>(text[0])) ||
                           text[0] == '-' || text[0] == '~');
}

void Table::print() const {
  size_t columns = rows.front().size();
  std::vector<size_t> widths(columns);
  std::vector<bool> numbers(columns, rows.size() > 1);
  for (size_t r = 0; r < rows.size(); ++r)
    for (size_t c = 0; c < columns; ++c) {
      widths[c] = std::max(widths[c], countColumns(rows[r][c]));
      if (r > 0 && !rows[r][c].empty() && !looksLikeNumber(rows[r][c]))
        numbers[c] = false;
    }
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t c = 0; c < columns; ++c) {
      std::string gap(widths[c] - countColumns(rows[r][c]), ' ');
      line += numbers[c] ? gap + rows[r][c] : rows[r][c] + gap;
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    printOut("{}\n", r == 0 ? colouredForStdout(Colour::bold, line) : line);
  }
}

static std::string scaled(double value, const char *const *units, int count,
                          double base) {
  int unit = 0;
  while (unit + 1 < count && value >= base) {
    value /= base;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value,
                     unit == 0 ? 0
                               : (value < 10    ? 2
                                  : value < 100 ? 1
                                                : 0),
                     units[unit]);
}

std::string formatBytes(double bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
  return scaled(bytes, units, 4, 1024);
}

std::string formatCount(double count) {
  static const char *const units[] = {"", "k", "M", "G", "T"};
  std::string text = scaled(count, units, 5, 1000);
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string formatSeconds(double seconds) {
  if (seconds >= 1)
    return fmt::format("{:.3f} s", seconds);
  if (seconds >= 1e-3)
    return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.2f} us", seconds * 1e6);
}

} // namespace nnc::tools
