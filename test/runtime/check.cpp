//===- check.cpp - Runs the test cases of a program -----------------------===//
//
//   test-runtime-NAME-ISA                   all test cases
//   test-runtime-NAME-ISA TEXT              those whose names contain TEXT
//   test-runtime-NAME-ISA --until-failure   all up to the first that fails
//
//===----------------------------------------------------------------------===//
#include "test/runtime/check.h"

#include <cstdio>
#include <exception>
#include <string_view>
#include <vector>

namespace nnc_test {
namespace {

struct test_case {
  std::string name;
  std::function<void()> run;
};
std::vector<test_case> &test_cases() {
  static std::vector<test_case> all;
  return all;
}

const test_case *running;
int failures;

void say_failed(const std::string &what) {
  ++failures;
  std::printf("%s: %s\n", running->name.c_str(), what.c_str());
}

/// Runs a test case and returns true if all of its checks hold.
bool passes(const test_case &test) {
  running = &test;
  const int before = failures;
  try {
    test.run();
  } catch (const test_is_over &) {
  } catch (const std::exception &e) {
    say_failed(std::string("exception: ") + e.what());
  }
  return failures == before;
}

} // namespace

void text::add(long long value) { all += std::to_string(value); }
void text::add(double value) {
  char digits[40];
  std::snprintf(digits, sizeof(digits), "%.9g", value);
  all += digits;
}

void info::write_all(text &out) {
  for (const info *one = last; one; one = one->before) {
    out << "\n  with ";
    one->write(*one, out);
  }
}

void failed(const place &at, const text &values, bool ends_test) {
  text what;
  what << "\n" << at.file << ":" << at.line << ": " << at.check;
  what << "\n  is " << values.all;
  info::write_all(what);
  say_failed(what.all);
  if (ends_test)
    throw test_is_over();
}

void add_test(const std::string &name, std::function<void()> run) {
  test_cases().push_back({name, std::move(run)});
}

} // namespace nnc_test

int main(int count, char **arguments) {
  int run = 0, failed = 0;
  const std::string_view chosen = count > 1 ? arguments[1] : "";
  const bool until_failure = chosen == "--until-failure";
  for (const auto &test : nnc_test::test_cases()) {
    if (until_failure && failed > 0)
      break;
    if (!until_failure && test.name.find(chosen) == std::string::npos)
      continue;
    ++run;
    failed += !nnc_test::passes(test);
  }
  std::printf("%d of %d test cases failed\n", failed, run);
  return failed > 0 || run == 0;
}
