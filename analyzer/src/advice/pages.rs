//! The page of `docs/advice` on each finding: what it means, an example, and when it is wrong.

use super::Cause;

pub(super) fn of(cause: Cause) -> &'static str {
    match cause {
        Cause::UnusedChoicepoints => include_str!("../../../docs/advice/unused-choicepoints.md"),
        Cause::Memory => include_str!("../../../docs/advice/memory.md"),
        Cause::Generator => include_str!("../../../docs/advice/generator.md"),
        Cause::SameSolutions => include_str!("../../../docs/advice/same-solutions.md"),
        Cause::FailingLate => include_str!("../../../docs/advice/failing-late.md"),
        Cause::RepeatedPrefix => include_str!("../../../docs/advice/repeated-prefix.md"),
        Cause::Waiting => include_str!("../../../docs/advice/waiting.md"),
        Cause::Exceptions => include_str!("../../../docs/advice/exceptions.md"),
        Cause::GrowingCalls => include_str!("../../../docs/advice/growing-calls.md"),
        Cause::RepeatedCalls => include_str!("../../../docs/advice/repeated-calls.md"),
        Cause::RepeatedSolutions => include_str!("../../../docs/advice/repeated-solutions.md"),
        Cause::AssertedAgain => include_str!("../../../docs/advice/asserted-again.md"),
        Cause::UselessArgument => include_str!("../../../docs/advice/useless-argument.md"),
        Cause::ToAndFro => include_str!("../../../docs/advice/to-and-fro.md"),
        Cause::ManyAnswers => include_str!("../../../docs/advice/many-answers.md"),
        Cause::ManyTables => include_str!("../../../docs/advice/many-tables.md"),
        Cause::FilledAgain => include_str!("../../../docs/advice/filled-again.md"),
        Cause::TableKeys => include_str!("../../../docs/advice/table-keys.md"),
        Cause::SumsInTables => include_str!("../../../docs/advice/sums-in-tables.md"),
        Cause::MayRepeat => include_str!("../../../docs/advice/may-repeat.md"),
        Cause::CollectedToTest => include_str!("../../../docs/advice/collected-to-test.md"),
        Cause::CollectedForFirst => include_str!("../../../docs/advice/collected-for-first.md"),
        Cause::Flushes => include_str!("../../../docs/advice/flushes.md"),
        Cause::ReadAgain => include_str!("../../../docs/advice/read-again.md"),
        Cause::OpenedAgain => include_str!("../../../docs/advice/opened-again.md"),
        Cause::WalkedAgain => include_str!("../../../docs/advice/walked-again.md"),
        Cause::BeginsAgain => include_str!("../../../docs/advice/begins-again.md"),
        Cause::CopiedData => include_str!("../../../docs/advice/copied-data.md"),
        Cause::ComputedInComparison => {
            include_str!("../../../docs/advice/computed-in-comparison.md")
        }
        Cause::TextKeys => include_str!("../../../docs/advice/text-keys.md"),
        Cause::UnprintedText => include_str!("../../../docs/advice/unprinted-text.md"),
        Cause::PowerModulo => include_str!("../../../docs/advice/power-modulo.md"),
        Cause::LongNumbers => include_str!("../../../docs/advice/long-numbers.md"),
        Cause::LabelledFirst => include_str!("../../../docs/advice/labelled-first.md"),
        Cause::VariableOrder => include_str!("../../../docs/advice/variable-order.md"),
        Cause::CreepingPropagation => include_str!("../../../docs/advice/creeping-propagation.md"),
        Cause::ChrScans => include_str!("../../../docs/advice/chr-scans.md"),
        Cause::Hottest => include_str!("../../../docs/advice/hottest.md"),
    }
}
