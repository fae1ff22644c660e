#!/bin/sh
# list_kernels.sh FILE.cu FLAGS...: writes a C++ file that includes FILE.cu and registers each `extern "C" __global__`
# function in it. It looks at the preprocessed text, so kernels that macros define are found too.
set -e
source=$1
shift
echo "#include \"$source\""
"${CXX:-g++}" -x c++ -E -P -DTESTDOUBLE_LISTING "$@" "$source" |
    grep -oPz 'extern\s*"C"\s*__global__\s+void\s+\K\w+(?=\s*\()' | tr '\0' '\n' |
    sed 's/.*/TESTDOUBLE_KERNEL(&)/'
