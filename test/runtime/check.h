//===- check.h - Test cases and checks, quick to compile ------------------===//
//
// What the tests of the runtime use of Catch2, under Catch2's names: TEST_CASE,
// TEMPLATE_TEST_CASE, CHECK, REQUIRE, INFO, Approx. Each test is compiled for
// each instruction set: Catch2's header of 18000 lines would be read again for
// each, and its macros expand to much more code. Tags are not used.
//
// INFO's arguments are evaluated where a check below it fails, not before.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_TEST_CHECK_H
#define NNC_TEST_CHECK_H

#include <functional>
#include <string>
#include <type_traits>

namespace nnc_test {

/// A text to which values are appended.
class text {
public:
  std::string all;

  template <class T> text &operator<<(const T &value) {
    if constexpr (std::is_convertible<const T &, std::string>::value)
      all += value;
    else if constexpr (std::is_integral<T>::value || std::is_enum<T>::value)
      add(static_cast<long long>(value));
    else if constexpr (std::is_convertible<const T &, double>::value)
      add(static_cast<double>(value));
    else if constexpr (is_range<T>(0))
      add_range(value);
    else
      all += "?";
    return *this;
  }

private:
  void add(long long value);
  void add(double value);
  template <class T>
  static constexpr auto is_range(int) -> decltype(T().begin(), true) {
    return true;
  }
  template <class T> static constexpr bool is_range(long) { return false; }
  template <class T> void add_range(const T &range) {
    int left = 16;
    all += "{";
    for (const auto &value : range) {
      if (left-- == 0) {
        all += " ...";
        break;
      }
      *this << " " << value;
    }
    all += " }";
  }
};

/// A text that is printed with each check that fails while the object exists.
/// All existing objects form a list, the last one first.
class info {
public:
  info(const info &) = delete;
  ~info() { last = before; }
  static void write_all(text &out);

protected:
  using writer = void (*)(const info &, text &);
  explicit info(writer write) : write(write), before(last) { last = this; }

private:
  static inline const info *last = nullptr;
  writer write;
  const info *before;
};
template <class F> class info_by : public info {
public:
  explicit info_by(F f)
      : info([](const info &self, text &out) {
          static_cast<const info_by &>(self).f(out);
        }),
        f(f) {}

private:
  F f;
};

/// The exception that REQUIRE throws to end the test case.
struct test_is_over {};

/// The position of a check in the source, and its expression.
struct place {
  const char *file;
  int line;
  const char *check;
};
void failed(const place &at, const text &values, bool ends_test);

void add_test(const std::string &name, std::function<void()> run);
inline bool add_test_once(const char *name, void (*run)()) {
  add_test(name, run);
  return true;
}
template <class T> struct type_is {
  using type = T;
};
/// Adds one test case for each type.
template <class... T, class F> bool add_test_for(const char *name, F run) {
  int number = 0;
  (add_test(std::string(name) + " - " + std::to_string(number++),
            [run] { run(type_is<T>()); }),
   ...);
  return true;
}

/// A number that compares equal to numbers within an error of it: a relative
/// error (epsilon()), or an absolute one (margin()).
class Approx {
public:
  explicit Approx(double value) : value(value) {}
  Approx epsilon(double error) const { return {value, error, absolute}; }
  Approx margin(double error) const { return {value, relative, error}; }
  friend bool operator==(double x, const Approx &about) {
    return about.is_near(x);
  }
  explicit operator double() const { return value; }
  friend text &operator<<(text &out, const Approx &about) {
    return out << "about " << about.value;
  }

private:
  Approx(double value, double relative, double absolute)
      : value(value), relative(relative), absolute(absolute) {}
  bool is_near(double x) const {
    const double off = x < value ? value - x : x - value;
    return off <= absolute || off <= relative * (value < 0 ? -value : value);
  }
  double value, relative = 1e-5, absolute = 0;
};

// `operand_of() <= a == b` is (operand_of() <= a) == b, which has both values.
// Whether their signs differ is for the test to know.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
template <class L, class R> struct comparison {
  bool holds;
  const L &left;
  const char *sign;
  const R &right;
  void write(text &out) const { out << left << sign << right; }
};
template <class L> struct operand {
  const L &left;
  bool holds = false;
  void write(text &out) const { out << left; }
#define NNC_COMPARISON(SIGN)                                                   \
  template <class R> comparison<L, R> operator SIGN(const R & right) const {   \
    return {left SIGN right, left, " " #SIGN " ", right};                      \
  }
  NNC_COMPARISON(==)
  NNC_COMPARISON(!=)
  NNC_COMPARISON(<)
  NNC_COMPARISON(<=)
  NNC_COMPARISON(>)
  NNC_COMPARISON(>=)
#undef NNC_COMPARISON
};
#pragma GCC diagnostic pop
struct operand_of {
  template <class L> operand<L> operator<=(const L &left) const {
    if constexpr (std::is_constructible<bool, const L &>::value)
      return {left, static_cast<bool>(left)};
    else
      return {left};
  }
};

/// Reports a failure if `checked`, an operand or a comparison, does not have
/// the value `wanted`.
template <class C>
void check(const C &checked, bool wanted, const place &at, bool ends_test) {
  if (checked.holds == wanted)
    return;
  text values;
  checked.write(values);
  failed(at, values, ends_test);
}

} // namespace nnc_test

using nnc_test::Approx;

#define NNC_PASTE_NOW(A, B) A##B
#define NNC_PASTE(A, B) NNC_PASTE_NOW(A, B)

#define TEST_CASE(...)                                                         \
  NNC_TEST_CASE(NNC_PASTE(nnc_test_case_, __COUNTER__), __VA_ARGS__, )
#define NNC_TEST_CASE(FUNCTION, NAME, ...)                                     \
  static void FUNCTION();                                                      \
  static const bool NNC_PASTE(FUNCTION, _is_added) =                           \
      nnc_test::add_test_once(NAME, FUNCTION);                                 \
  static void FUNCTION()

/// Defines a test case for each of the types, which is called TestType in it.
#define TEMPLATE_TEST_CASE(NAME, TAGS, ...)                                    \
  NNC_TEMPLATE_TEST_CASE(NNC_PASTE(nnc_test_case_, __COUNTER__), NAME,         \
                         __VA_ARGS__)
#define NNC_TEMPLATE_TEST_CASE(FUNCTION, NAME, ...)                            \
  template <class TestType> static void FUNCTION();                            \
  static const bool NNC_PASTE(FUNCTION, _is_added) =                           \
      nnc_test::add_test_for<__VA_ARGS__>(                                     \
          NAME, [](auto t) { FUNCTION<typename decltype(t)::type>(); });       \
  template <class TestType> static void FUNCTION()

#define INFO(...)                                                              \
  const nnc_test::info_by NNC_PASTE(nnc_info_, __COUNTER__)(                   \
      [&](nnc_test::text &nnc_out) { nnc_out << __VA_ARGS__; })

#define NNC_CHECK(CHECK, WANTED, ENDS_TEST, ...)                               \
  do {                                                                         \
    _Pragma("GCC diagnostic push");                                            \
    _Pragma("GCC diagnostic ignored \"-Wparentheses\"");                       \
    nnc_test::check(nnc_test::operand_of() <= __VA_ARGS__, WANTED,             \
                    {__FILE__, __LINE__, CHECK "(" #__VA_ARGS__ ")"},          \
                    ENDS_TEST);                                                \
    _Pragma("GCC diagnostic pop");                                             \
  } while (false)
#define CHECK(...) NNC_CHECK("CHECK", true, false, __VA_ARGS__)
#define CHECK_FALSE(...) NNC_CHECK("CHECK_FALSE", false, false, __VA_ARGS__)
#define REQUIRE(...) NNC_CHECK("REQUIRE", true, true, __VA_ARGS__)
#define REQUIRE_FALSE(...) NNC_CHECK("REQUIRE_FALSE", false, true, __VA_ARGS__)

#endif // NNC_TEST_CHECK_H
