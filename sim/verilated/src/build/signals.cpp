
// Lists the signals of a model from the tables that Verilator keeps for its own VPI. This file is appended to shim.cpp for models that are built with
// public signals.
#include "verilated_sym_props.h"
#include "verilated_syms.h"

// Receives one signal: the scope as TOP.<top>.<instance>; the C storage; the kind (VerilatedVarType); the flags (VerilatedVarFlags, and bit 16 for a
// parameter); the packed range if it has one; and the ranges of its unpacked dimensions, outermost first, as two numbers each.
using Visit = void (*)(void* context, const char* scope, const char* name, void* data, uint32_t kind, uint32_t flags, bool packed, int32_t left,
                       int32_t right, uint32_t unpacked, const int32_t* ranges);

EXPORT void stellar_signals(void* handle, void* context, Visit visit) {
    for (const auto& entry : *at(handle).context.scopeNameMap()) {
        const VerilatedScope& scope = *entry.second;
        if (!scope.varsp()) {
            visit(context, scope.name(), nullptr, nullptr, 0, 0, false, 0, 0, 0, nullptr);
            continue;
        }
        for (const auto& named : *scope.varsp()) {
            const VerilatedVar& var = named.second;
            std::vector<int32_t> ranges;
            for (int dimension = 1; dimension <= var.udims(); ++dimension) {
                ranges.push_back(var.left(dimension));
                ranges.push_back(var.right(dimension));
            }
            const uint32_t flags = static_cast<uint32_t>(var.vldir()) | (var.isParam() ? 1u << 16 : 0u);
            visit(context, scope.name(), var.name(), var.datap(), static_cast<uint32_t>(var.vltype()), flags, var.dims() > var.udims(),
                  var.packed().left(), var.packed().right(), static_cast<uint32_t>(var.udims()), ranges.data());
        }
    }
}
