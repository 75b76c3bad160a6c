# How every C and C++ target of the project is compiled: language, warnings, sanitizers.
set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "how to build" FORCE)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wconversion -Wshadow
                    $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
                    $<$<BOOL:${LOCKC_WERROR}>:-Werror>)

# Unique symbols would pin liblockc.so in a process that unloads it, and can't be made local in
# liblockc.a.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)

# Enough debug information for a readable back-trace; all of it triples the size of the libraries.
add_compile_options($<$<CONFIG:RelWithDebInfo>:-g1>)

# Debug information and assertion texts name files as seen from the root of the project, so that
# two builds in two places are the same.
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)

if(LOCKC_FUZZ)
  # fuzzer-no-link: the coverage that libFuzzer steers by; its main() comes with the targets alone.
  set(sanitizers -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all)
elseif(LOCKC_SANITIZE STREQUAL "address")
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(LOCKC_SANITIZE STREQUAL "thread")
  set(sanitizers -fsanitize=thread)
elseif(LOCKC_SANITIZE)
  message(FATAL_ERROR "LOCKC_SANITIZE is \"${LOCKC_SANITIZE}\": use address, thread or nothing")
endif()
if(sanitizers)
  # g++ 12 takes the value of an empty std::optional for read where a sanitizer watches it.
  add_compile_options(${sanitizers} -O1 -fno-omit-frame-pointer
                      $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
  add_link_options(${sanitizers})
endif()
