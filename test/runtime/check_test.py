"""Tests that check.h reports which check fails, where and why: runs check_test.cpp, whose cases
fail."""

import subprocess
import sys

result = subprocess.run([sys.argv[1]], capture_output=True, text=True)
SAID = [
    'check_test.cpp:22: CHECK(got == 4)\n  is 3 == 4\n'
    '  with a second\n  with a first 1.5\n',
    'CHECK(false)\n  is 0\n',
    'CHECK_FALSE(true)\n  is 1\n',
    'is { 0.5 1 } == { 0.5 2 }\n',
    'REQUIRE(1 > 2)\n  is 1 > 2\n',
    'an exception fails: exception: thrown\n',
    'a type that is too small fails - 0: \n',
    '6 of 8 test cases failed\n',
]
NOT_SAID = ['not said', 'went on', 'fails - 1', 'what holds passes']
wrong = [f'missing: {text!r}' for text in SAID if text not in result.stdout]
wrong += [f'unwanted: {text!r}' for text in NOT_SAID if text in result.stdout]
if result.returncode != 1:
    wrong.append(f'exit status {result.returncode}, not 1')
one = subprocess.run([sys.argv[1], 'what holds'], capture_output=True, text=True)
if one.returncode != 0 or one.stdout != '0 of 1 test cases failed\n':
    wrong.append(f'one case alone: {one.stdout!r}')
first = subprocess.run([sys.argv[1], '--until-failure'], capture_output=True, text=True)
if first.returncode != 1 or not first.stdout.endswith('\n1 of 2 test cases failed\n'):
    wrong.append(f'until the first failure: {first.stdout!r}')
none = subprocess.run([sys.argv[1], 'no such case'], capture_output=True)
if none.returncode == 0:
    wrong.append('passes without a test case')
print('\n'.join(wrong) or 'as expected')
print(result.stdout if wrong else '')
sys.exit(bool(wrong))
