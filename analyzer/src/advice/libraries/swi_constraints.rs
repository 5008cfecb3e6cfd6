//! The libraries of constraints of SWI-Prolog: over finite domains, and those that rules handle.

use super::{ConstraintLibrary, RuleRuntime};

pub(super) static CONSTRAINTS: ConstraintLibrary = ConstraintLibrary {
    module: "clpfd",
    labelling: "clpfd:label/1 clpfd:labeling/2 clpfd:indomain/1",
    ordering: "clpfd:label/1 clpfd:labeling/2",
    asking: &["fd_*", "transpose"],
    operators: &[
        "#=", "#\\=", "#<", "#>", "#=<", "#>=", "#\\", "#<==>", "#==>", "#<==", "#\\/", "#/\\",
    ],
    runs_propagator: "clpfd:activate_propagator/1",
    makes_propagator: "clpfd:make_propagator/2",
    without_options: &["label"],
    orders: &["ff", "ffc", "min", "max"],
    // The smallest domain first, of several such the variable with the most constraints, domains
    // that are halved.
    tried: &["ff", "ffc", "bisect"],
    of_order: "try labeling([ff], Variables), which takes the variable with the smallest domain \
               next and so fails early; ffc, which asks for the most constraints, too, or bisect for \
               large domains may be better still. Variables that follow from others come last in the list. \
               Solutions come in another order. If all of them are asked for, or the time goes \
               into propagation, it helps less.",
    of_creeping: "give the variables small domains before (X in 1..100), or add a constraint that \
                  follows from the others and says at once what they find out step by step, such as \
                  a bound for a sum. Constraints that contradict each other, X #< Y and Y #< X, take \
                  a step for each number in between.",
    of_choice: ", as a domain (X in 1..9) and label/1",
    tests: "#=, #<, …",
};

pub(super) static RULES: RuleRuntime = RuleRuntime {
    library: "chr",
    declaration: "chr_constraint",
    no_debugger: ":- chr_option(debug, off).",
    gives_constraints: "lists:member/2",
    seeks_variable: "chr_runtime:'chr newvia",
    tells_debugger: "chr_runtime:'chr debug_event'",
};
