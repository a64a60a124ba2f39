//===- support.cpp - Files, the clock, and the module's hook --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "device.h"
#include "runner.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

/// A module that is built with -DNNC_HOOKS=1 calls this function after each
/// layer.
extern "C" void nnc_layer_done(const char *model, int layer, const void *output,
                               size_t bytes);
void nnc_layer_done(const char *, int layer, const void *output, size_t bytes) {
  if (runner::watcher)
    runner::watcher->layerDone(layer, output, bytes);
}

namespace runner {

Watcher *watcher = nullptr;

void fail(const std::string &message, int code) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(code);
}

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

std::size_t peakResidentBytes() {
  // getrusage() is not used, because its figure may be that of the program that
  // started this one.
  std::FILE *file = std::fopen("/proc/self/status", "r");
  if (!file)
    return 0;
  char line[256];
  std::size_t kilobytes = 0;
  while (std::fgets(line, sizeof line, file))
    if (std::sscanf(line, "VmHWM: %zu", &kilobytes) == 1)
      break;
  std::fclose(file);
  return kilobytes * 1024;
}

std::vector<char> readFile(const std::string &path) {
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    fail("cannot read " + path);
  std::vector<char> bytes;
  char block[1 << 16];
  while (std::size_t got = std::fread(block, 1, sizeof block, file))
    bytes.insert(bytes.end(), block, block + got);
  std::fclose(file);
  return bytes;
}

void writeFile(const std::string &path, const void *data, std::size_t bytes) {
  std::FILE *file = std::fopen(path.c_str(), "wb");
  bool written = file && std::fwrite(data, 1, bytes, file) == bytes;
  if (!file || std::fclose(file) != 0 || !written)
    fail("cannot write " + path);
}

LayerDump::LayerDump(const std::string &path)
    : file(std::fopen(path.c_str(), "wb")) {
  if (!file)
    fail("cannot write " + path);
}

LayerDump::~LayerDump() {
  if (std::fclose(static_cast<std::FILE *>(file)) != 0)
    fail("cannot write the layers' outputs");
}

void LayerDump::layerDone(int layer, const void *output, std::size_t bytes) {
  std::FILE *to = static_cast<std::FILE *>(file);
  std::int64_t header[2] = {layer, std::int64_t(bytes)};
  std::vector<char> copied(bytes);
  device::download(copied.data(), output, bytes);
  if (std::fwrite(header, sizeof header, 1, to) != 1 ||
      std::fwrite(copied.data(), 1, bytes, to) != bytes)
    fail("cannot write the layers' outputs");
}

} // namespace runner
