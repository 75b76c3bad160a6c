# How every C and C++ target of the project is compiled: warnings and sanitizers.
set(LOCKC_WARNINGS -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
if(LOCKC_WERROR)
  list(APPEND LOCKC_WARNINGS -Werror)
endif()
add_compile_options(${LOCKC_WARNINGS} $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)

# Debug information and assertion texts name files as seen from the root of the project, so that
# two builds in two places are the same.
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)

if(LOCKC_SANITIZE STREQUAL "address")
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(LOCKC_SANITIZE STREQUAL "thread")
  set(sanitizers -fsanitize=thread)
elseif(LOCKC_SANITIZE)
  message(FATAL_ERROR "LOCKC_SANITIZE is \"${LOCKC_SANITIZE}\": use address, thread or nothing")
endif()
add_compile_options(${sanitizers})
add_link_options(${sanitizers})
