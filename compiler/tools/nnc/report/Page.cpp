//===- Page.cpp - The HTML page that shows reports ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/report/Page.h"

#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/nnc/report/Document.h"

#include "frontends/common/ParseJson.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace json = llvm::json;

namespace nnc::tools {
namespace {

struct Source {
  llvm::StringLiteral name, text;
};

/// The files of the page, with the scripts in the order in which they are
/// loaded.
constexpr Source kSources[] = {
#include "compiler/tools/nnc/report/page/Sources.inc"
};

/// The tags around the documents of a page. page.html has the same ones.
constexpr llvm::StringLiteral kDataStart =
    "<script id=\"documents\" type=\"application/json\">";
constexpr llvm::StringLiteral kDataEnd = "</script>";

/// Returns JSON in which no character has a meaning in HTML. Names of the model
/// may contain any text, even "</script>".
std::string escapeForHtml(llvm::StringRef text) {
  std::string escaped;
  for (char c : text)
    switch (c) {
    case '<':
      escaped += "\\u003c";
      break;
    case '>':
      escaped += "\\u003e";
      break;
    case '&':
      escaped += "\\u0026";
      break;
    default:
      escaped += c;
    }
  return escaped;
}

std::string makeTitle(const json::Array &documents) {
  std::string title = "nnc report: ", text;
  for (const json::Value &document : documents)
    title += (&document == &documents.front() ? "" : " and ") +
             document.getAsObject()->getString("name").value_or("").str();
  llvm::raw_string_ostream stream(text);
  llvm::printHTMLEscaped(title, stream);
  return text;
}

/// Returns the text that replaces a word between at signs in page.html.
std::string fill(llvm::StringRef word, const json::Array &documents) {
  if (word == "title")
    return makeTitle(documents);
  if (word == "documents") {
    std::string text;
    llvm::raw_string_ostream stream(text);
    // Each document is on its own line, so that pages can be compared as text.
    for (const json::Value &document : documents)
      stream << (&document == &documents.front() ? "[\n" : ",\n") << document;
    return escapeForHtml(text + "\n]");
  }
  llvm::StringRef ending = word == "style" ? ".css" : ".js";
  std::string text;
  for (const Source &source : kSources)
    if (source.name.ends_with(ending))
      text += source.text;
  return text;
}

} // namespace

std::string makePage(const json::Array &documents) {
  llvm::StringRef rest = kSources[0].text; // page.html
  std::string page;
  while (true) {
    auto [before, behind] = rest.split("@@");
    page += before;
    if (behind.empty())
      return page;
    auto [word, more] = behind.split("@@");
    page += fill(word, documents);
    rest = more;
  }
}

llvm::Expected<std::optional<json::Value>>
readDocument(const std::string &file) {
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    return std::nullopt; // The import says what is wrong with the file.
  llvm::StringRef text = (*buffer)->getBuffer().ltrim();
  std::string data;
  if (text.starts_with_insensitive("<!doctype html")) {
    size_t start = text.find(kDataStart);
    if (start == llvm::StringRef::npos)
      return makeError(file + " is a page, but holds no report of nnc");
    data = text.substr(start + kDataStart.size()).split(kDataEnd).first.str();
  } else if (text.starts_with("{")) {
    data = text.str();
  } else {
    return std::nullopt;
  }
  llvm::Expected<json::Value> read = frontends::parseJson(data);
  if (!read)
    return makeError(
        file + " is a damaged report: " + llvm::toString(read.takeError()));
  if (json::Object *printed = read->getAsObject())
    if (json::Value *reports = printed->get("reports")) {
      json::Value inner = std::move(*reports); // moved out of what it replaces
      *read = std::move(inner);
    }
  json::Array *list = read->getAsArray();
  json::Value document =
      list && !list->empty() ? std::move(list->front()) : std::move(*read);
  std::string problem = findDocumentProblem(document);
  if (!problem.empty())
    return makeError(file + " " + problem);
  return std::optional<json::Value>(std::move(document));
}

} // namespace nnc::tools
