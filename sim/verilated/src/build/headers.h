// What every file of every model includes first: g++ reads it once for all models with the same options (see model.mk).
#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include "verilated.h"
#if VM_COVERAGE
#include "verilated_cov.h"
#endif
#if VM_TRACE
#include "verilated_fst_c.h"
#endif
