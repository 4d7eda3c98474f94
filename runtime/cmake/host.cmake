# The runtime as a static library for this machine, for programs that call Kiln themselves.
file(GLOB KILN_RUNTIME_SOURCES ${CMAKE_SOURCE_DIR}/runtime/*.c)
list(FILTER KILN_RUNTIME_SOURCES EXCLUDE REGEX "/(main|serve|freestanding)\\.c$")

add_library(kiln STATIC ${KILN_RUNTIME_SOURCES})
target_include_directories(kiln PUBLIC runtime targets)
target_compile_options(kiln PRIVATE -Wall -Wextra -pedantic -ffp-contract=off)
