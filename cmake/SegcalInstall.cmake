# SPDX-License-Identifier: Apache-2.0

# Installs the library for find_package(segcal) and for pkg-config, and the program.
include(CMakePackageConfigHelpers)

set(segcal_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/segcal)
install(TARGETS segcal EXPORT segcal-targets
        LIBRARY COMPONENT Runtime NAMELINK_COMPONENT Development
        ARCHIVE COMPONENT Development
        FILE_SET HEADERS COMPONENT Development)
install(EXPORT segcal-targets NAMESPACE segcal:: DESTINATION ${segcal_cmake_dir}
        COMPONENT Development)
if(SEGCAL_BUILD_CLI)
  install(TARGETS segcal_cli COMPONENT Runtime)
endif()
install(FILES LICENSE TYPE DOC COMPONENT Runtime)

# What is written below describes the library that was built. A static one hands its private
# dependencies on to whoever links it; a shared one needs nothing of its user.
get_target_property(segcal_type segcal TYPE)
if(segcal_type STREQUAL "STATIC_LIBRARY")
  set(SEGCAL_IS_STATIC TRUE)
  set(SEGCAL_PC_REQUIRES "Requires: fmt libdeflate libhwy libjpeg libpng zlib")
  set(SEGCAL_PC_LIBS "-lsegcal -pthread")
else()
  set(SEGCAL_IS_STATIC FALSE)
  set(SEGCAL_PC_REQUIRES "")
  set(SEGCAL_PC_LIBS "-lsegcal")
endif()

set(segcal_generated ${PROJECT_BINARY_DIR}/package)
configure_package_config_file(cmake/segcal-config.cmake.in
                              ${segcal_generated}/segcal-config.cmake
                              INSTALL_DESTINATION ${segcal_cmake_dir})
write_basic_package_version_file(${segcal_generated}/segcal-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${segcal_generated}/segcal-config.cmake
              ${segcal_generated}/segcal-config-version.cmake
              cmake/Findlibdeflate.cmake
        DESTINATION ${segcal_cmake_dir} COMPONENT Development)

# Relative to the .pc file, so that an installed tree can be moved.
file(RELATIVE_PATH SEGCAL_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/segcal.pc.in ${segcal_generated}/segcal.pc @ONLY)
install(FILES ${segcal_generated}/segcal.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT Development)
