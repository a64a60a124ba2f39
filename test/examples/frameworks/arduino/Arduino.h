// Stands in for Arduino's core in a test: provides a console, and a clock that
// advances whenever it is read.
#ifndef ARDUINO_H
#define ARDUINO_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#define constrain(x, low, high)                                                \
  ((x) < (low) ? (low) : ((x) > (high) ? (high) : (x)))

inline unsigned long millis() {
  static unsigned long now;
  return ++now;
}

struct Console {
  void begin(unsigned long) {}
  void print(const char *text) { fputs(text, stdout); }
  void println(const char *text) { puts(text); }
  void println(int number) { printf("%d\n", number); }
};
static Console Serial;

#endif
