//===- costs.h - The tables of cost constants as structs ------------------===//
//
// The formulas of this folder hold the structure of the cost model. The
// constants in them are fitted to measurements. They are in the tables of
// runtime/routines/costs/, one for each instruction set.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CATALOGUE_COSTS_H
#define NNC_ROUTINES_CATALOGUE_COSTS_H

namespace nnc {

/// The constants that fields.inc lists.
struct routine_costs {
#define NNC_COST_FIELD(name, unit, meaning) double name;
#include "runtime/routines/costs/fields.inc"
};

/// The tables, one for each instruction set that has one.
struct cost_tables {
#define NNC_COST_TABLE(isa) routine_costs isa;
#include "runtime/routines/costs/tables.inc"
};

/// The value of a constant that no line of a table sets.
constexpr double unset_cost = 1e300;

constexpr routine_costs make_unset_costs() {
  routine_costs costs{};
#define NNC_COST_FIELD(name, unit, meaning) costs.name = unset_cost;
#include "runtime/routines/costs/fields.inc"
  return costs;
}

constexpr bool is_complete(const routine_costs &costs) {
  bool complete = true;
#define NNC_COST_FIELD(name, unit, meaning)                                    \
  complete = complete && costs.name != unset_cost;
#include "runtime/routines/costs/fields.inc"
  return complete;
}

constexpr cost_tables make_cost_tables() {
  cost_tables tables{};
#define NNC_COST_TABLE(isa) tables.isa = make_unset_costs();
#define NNC_COST(isa, name, value) tables.isa.name = value;
#include "runtime/routines/costs/tables.inc"
  return tables;
}

inline constexpr cost_tables all_costs = make_cost_tables();

#define NNC_COST_TABLE(isa)                                                    \
  static_assert(is_complete(all_costs.isa),                                    \
                "runtime/routines/costs/" #isa                                 \
                ".inc needs a line for every constant of fields.inc");
#include "runtime/routines/costs/tables.inc"

} // namespace nnc

#endif // NNC_ROUTINES_CATALOGUE_COSTS_H
