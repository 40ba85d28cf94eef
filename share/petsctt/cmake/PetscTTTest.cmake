# Helpers for tests/CMakeLists.txt and tests/system/CMakeLists.txt.
include(CMakeParseArguments)

# The environment of every test: Open MPI 4 and 5 as root, more processes than cores, no binding (two tests at a time would share a
# core); one thread per process; no options from outside.
set(PETSCTT_TEST_ENVIRONMENT
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
  OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_btl_vader_single_copy_mechanism=none
  PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_hwloc_default_binding_policy=none
  OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
  PETSC_OPTIONS=)

# add_mpi_test(NAME n NP np TARGET t | COMMAND path [ARGS ...] [TIMEOUT s] [ENV ...] [PASS_REGEX ..] [FAIL_REGEX ..] [WILL_FAIL] [LABELS ..])
function(add_mpi_test)
  cmake_parse_arguments(T "WILL_FAIL" "NAME;NP;TARGET;COMMAND;TIMEOUT;WORKING_DIRECTORY" "ARGS;ENV;PASS_REGEX;FAIL_REGEX;LABELS" ${ARGN})
  if(T_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "test ${T_NAME}: unknown arguments ${T_UNPARSED_ARGUMENTS}")
  endif()
  if(T_TARGET)
    set(T_COMMAND $<TARGET_FILE:${T_TARGET}>)
  endif()
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 300)
  endif()
  if(NOT T_WORKING_DIRECTORY)
    set(T_WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  endif()
  add_test(NAME ${T_NAME} WORKING_DIRECTORY ${T_WORKING_DIRECTORY}
    COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${T_NP} ${MPIEXEC_PREFLAGS} ${T_COMMAND} ${MPIEXEC_POSTFLAGS} ${T_ARGS})
  set_tests_properties(${T_NAME} PROPERTIES TIMEOUT ${T_TIMEOUT} PROCESSORS ${T_NP} ENVIRONMENT "${PETSCTT_TEST_ENVIRONMENT};${T_ENV}"
    PASS_REGULAR_EXPRESSION "${T_PASS_REGEX}" FAIL_REGULAR_EXPRESSION "${T_FAIL_REGEX}" WILL_FAIL ${T_WILL_FAIL} LABELS "${T_LABELS}")
endfunction()

function(petsctt_add_system_program source)
  cmake_path(GET source STEM name)
  add_executable(system_${name} ${source})
  target_link_libraries(system_${name} PRIVATE petsctt petsctt_flags)
  target_compile_definitions(system_${name} PRIVATE PETSCTT_DATA_DIR="${PROJECT_SOURCE_DIR}/share/petsctt/data")
  set_target_properties(system_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/system)
endfunction()

# petsctt_add_stock_program(ex10 src/ksp/ksp/tutorials/ex10.c): the target stock_ex10, one of PETSc's own example programs, unmodified and
# linked to PETSc only, for add_system_test(... PROGRAM stock_ex10). Debian has them in libpetscX.Y-dev-examples; where they are not found
# there is no target and the tests that name it show up as disabled.
function(petsctt_add_stock_program name path)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" minor ${PETSCTT_PETSC_VERSION})
  find_file(petsctt_stock_${name} ${path} NO_CACHE PATHS /usr/share/petsc/${minor}/share/petsc/examples ${PETSCTT_PETSC_DIR}/share/petsc/examples
    ${PETSCTT_PETSC_DIR} ${PETSCTT_PETSC_DIR}/.. NO_DEFAULT_PATH)
  if(NOT petsctt_stock_${name})
    message(WARNING "PETSc's example ${path} was not found; the tests that use it are disabled")
    return()
  endif()
  # Later versions of ex10 load the matrix before they look at -mat_type: they can read MATAIJ only, whoever asks.
  file(STRINGS ${petsctt_stock_${name}} order REGEX "(MatLoad|MatSetFromOptions)\\(A[,)]")
  if(order MATCHES "MatLoad.*MatSetFromOptions")
    message(STATUS "PETSc ${minor}'s ${path} chooses the matrix type after loading; the tests that use it are disabled")
    return()
  endif()
  add_executable(stock_${name} ${petsctt_stock_${name}})
  target_link_libraries(stock_${name} PRIVATE PETSc::petsc MPI::MPI_C m)
  target_compile_options(stock_${name} PRIVATE -w)
  set_target_properties(stock_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/stock)
endfunction()

# See tests/system/CMakeLists.txt.
function(add_system_test name)
  cmake_parse_arguments(S "WILL_FAIL" "PROGRAM;TIMEOUT" "NP;ARGS;ENV;VARIANTS;PASS_REGEX;FAIL_REGEX;LABELS" ${ARGN})
  if(S_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "add_system_test(${name}): unknown arguments ${S_UNPARSED_ARGUMENTS}")
  endif()
  if(S_VARIANTS AND NOT PETSCTT_VARIANT IN_LIST S_VARIANTS)
    return()
  endif()
  if(NOT S_PROGRAM)
    set(S_PROGRAM ${name})
  endif()
  if(NOT S_NP)
    set(S_NP 1 2 3 4)
  endif()
  if(TARGET system_${S_PROGRAM})
    set(target system_${S_PROGRAM})
  elseif(TARGET ${S_PROGRAM})
    set(target ${S_PROGRAM})
  elseif(S_PROGRAM MATCHES "^stock_")
    add_test(NAME system.${name} COMMAND ${S_PROGRAM})
    set_tests_properties(system.${name} PROPERTIES DISABLED TRUE)
    return()
  else()
    message(FATAL_ERROR "add_system_test(${name}): there is no tests/system/${S_PROGRAM}.cxx and no tutorials/${S_PROGRAM}.cxx")
  endif()
  set(will_fail)
  if(S_WILL_FAIL)
    set(will_fail WILL_FAIL)
  endif()
  foreach(np ${S_NP})
    set(test system.${name}.np${np})
    set(out ${PROJECT_BINARY_DIR}/tests/output/${test})
    file(MAKE_DIRECTORY ${out})
    string(REPLACE "@DATA@" "${PROJECT_SOURCE_DIR}/share/petsctt/data" args "${S_ARGS}")
    string(REPLACE "@OUT@" "${out}" args "${args}")
    string(REPLACE "@PLUGIN@" "$<TARGET_FILE:petsctt>" args "${args}")
    add_mpi_test(NAME ${test} NP ${np} TARGET ${target} ARGS ${args} TIMEOUT ${S_TIMEOUT} WORKING_DIRECTORY ${out}
      ENV ${S_ENV} PASS_REGEX ${S_PASS_REGEX} FAIL_REGEX ${S_FAIL_REGEX} LABELS ${S_LABELS} ${will_fail})
  endforeach()
endfunction()
