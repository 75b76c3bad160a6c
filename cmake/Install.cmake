# What `make install` puts where, and how other projects find it: lockc.pc and the CMake package.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY capi/include/lockc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h*")
install(TARGETS lockc lockc_static EXPORT lockcTargets
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(LOCKC_CLI)
  install(TARGETS lockc_cli)
  install(FILES cli/completions/lockc.bash RENAME lockc
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES cli/completions/_lockc DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()

# One template makes two files: one to be installed, found by its own place so that the tree may be
# moved; and one for use from the build folder, which also tells the loader where liblockc.so lies.
set(pc_private_libs "-lstdc++ -pthread")
if(NOT HIREDIS_LIBRARY MATCHES "\\.a$")
  string(APPEND pc_private_libs " -lhiredis")
endif()
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH up /${pc_dir} /)
string(REGEX REPLACE "/$" "" up "${up}")
set(pc_prefix "\${pcfiledir}/${up}")
set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
set(pc_rpath "")
configure_file(capi/lockc.pc.in generated/lockc.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/lockc.pc DESTINATION ${pc_dir})

set(pc_prefix ${PROJECT_SOURCE_DIR})
set(pc_libdir ${PROJECT_BINARY_DIR})
set(pc_includedir ${PROJECT_SOURCE_DIR}/capi/include)
set(pc_rpath " -Wl,-rpath,\${libdir}")
configure_file(capi/lockc.pc.in pkgconfig/lockc.pc @ONLY)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/lockc)
configure_package_config_file(cmake/lockcConfig.cmake.in generated/lockcConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(generated/lockcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/lockcConfig.cmake
              ${PROJECT_BINARY_DIR}/generated/lockcConfigVersion.cmake DESTINATION ${package_dir})
install(EXPORT lockcTargets NAMESPACE lockc:: DESTINATION ${package_dir})
