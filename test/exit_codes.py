"""The exit codes of nnc, by the names that tests have for them, in the order of
compiler/tools/driver/console/ExitCode.h."""

CODES = range(8)
DONE, OWN_FAULT, USAGE, BROKEN, LACKING, DIFFERS, LIMIT, ENVIRONMENT = CODES
