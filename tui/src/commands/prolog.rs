//! Texts as Prolog reads them.

use portmortem_analyzer::trace::names::quoted;

/// Quoted atoms, as the elements of a list.
pub(super) fn atoms(texts: &[String]) -> String {
    let atoms = texts.iter().map(|text| quoted(text));
    atoms.collect::<Vec<_>>().join(", ")
}
