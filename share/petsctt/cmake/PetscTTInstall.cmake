# Installed tree, several variants side by side under one prefix:
#   include/petsctt/*.h
#   lib/petsctt/<variant>/libpetsctt.so             library and plugin in one
#   lib/petsctt/<variant>/libpetsctt_slepc.so       what works with SLEPc, where that was found; petsctt::petsctt_slepc
#   lib/cmake/petsctt/petscttConfig.cmake           find_package(petsctt [COMPONENTS <variant>])
#   lib/cmake/petsctt/<variant>/                    exported target petsctt::petsctt, the PETSc it was built for
#   lib/pkgconfig/petsctt-<variant>.pc, petsctt_slepc-<variant>.pc
#   share/petsctt/data/
include(CMakePackageConfigHelpers)
set(petsctt_libdir ${CMAKE_INSTALL_LIBDIR}/petsctt/${PETSCTT_VARIANT})
set(petsctt_cmakedir ${CMAKE_INSTALL_LIBDIR}/cmake/petsctt)

set_target_properties(petsctt PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS petsctt EXPORT petsctt LIBRARY DESTINATION ${petsctt_libdir})
if(TARGET petsctt_slepc)
  set_target_properties(petsctt_slepc PROPERTIES INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS petsctt_slepc EXPORT petsctt LIBRARY DESTINATION ${petsctt_libdir})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/petsctt FILES_MATCHING PATTERN *.h)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/share/petsctt/data DESTINATION ${CMAKE_INSTALL_DATADIR}/petsctt)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT petsctt NAMESPACE petsctt:: FILE petscttTargets.cmake DESTINATION ${petsctt_cmakedir}/${PETSCTT_VARIANT})
string(REGEX MATCH "^[0-9]+\\.[0-9]+" PETSCTT_PETSC_MINOR ${PETSCTT_PETSC_VERSION})
configure_file(${PROJECT_SOURCE_DIR}/share/petsctt/cmake/petscttVariant.cmake.in petscttVariant.cmake @ONLY)
write_basic_package_version_file(petscttConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/petscttVariant.cmake DESTINATION ${petsctt_cmakedir}/${PETSCTT_VARIANT})
install(FILES ${PROJECT_SOURCE_DIR}/share/petsctt/cmake/petscttConfig.cmake ${PROJECT_SOURCE_DIR}/share/petsctt/cmake/PetscTTFindPETSc.cmake
  ${PROJECT_BINARY_DIR}/petscttConfigVersion.cmake DESTINATION ${petsctt_cmakedir})

set(petsctt_pc_petsc_cflags)
foreach(dir ${PETSCTT_PETSC_INCLUDES})
  string(APPEND petsctt_pc_petsc_cflags " -I${dir}")
endforeach()
list(JOIN PETSCTT_PETSC_LIBRARIES " " petsctt_pc_petsc_libs)
file(RELATIVE_PATH petsctt_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/share/petsctt/cmake/petsctt.pc.in petsctt-${PETSCTT_VARIANT}.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/petsctt-${PETSCTT_VARIANT}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(TARGET petsctt_slepc)
  configure_file(${PROJECT_SOURCE_DIR}/share/petsctt/cmake/petsctt_slepc.pc.in petsctt_slepc-${PETSCTT_VARIANT}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/petsctt_slepc-${PETSCTT_VARIANT}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
