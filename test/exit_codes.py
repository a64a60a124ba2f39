"""The exit codes of nnc, by the names that tests have for them, in the order of
compiler/tools/driver/console/ExitCode.h."""

CODES = range(9)
DONE, OWN_FAULT, USAGE, BROKEN, LACKING, DIFFERS, LIMIT, ENVIRONMENT, NO_GPU = CODES
