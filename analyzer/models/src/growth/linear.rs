//! Systems of linear equations over the rationals, solved exactly.

use num_rational::BigRational;
use num_traits::Zero;

/// The solution of `rows · x = right`, a square system; `None` if it has none or many.
pub(super) fn solve(
    mut rows: Vec<Vec<BigRational>>,
    mut right: Vec<BigRational>,
) -> Option<Vec<BigRational>> {
    let size = rows.len();
    for column in 0..size {
        let pivot = (column..size).find(|&row| !rows[row][column].is_zero())?;
        rows.swap(column, pivot);
        right.swap(column, pivot);
        for row in column + 1..size {
            let factor = &rows[row][column] / &rows[column][column];
            if factor.is_zero() {
                continue;
            }
            let (above, below) = rows.split_at_mut(row);
            for (value, pivot) in below[0].iter_mut().zip(&above[column]).skip(column) {
                *value -= &factor * pivot;
            }
            let part = &factor * &right[column];
            right[row] -= part;
        }
    }
    for column in (0..size).rev() {
        let known: BigRational = (column + 1..size)
            .map(|at| &rows[column][at] * &right[at])
            .sum();
        right[column] = (&right[column] - known) / &rows[column][column];
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rational(numerator: i64, denominator: i64) -> BigRational {
        BigRational::new(numerator.into(), denominator.into())
    }

    fn system(rows: &[&[i64]]) -> Vec<Vec<BigRational>> {
        let whole = |row: &&[i64]| row.iter().map(|&value| rational(value, 1)).collect();
        rows.iter().map(whole).collect()
    }

    #[test]
    fn a_system_is_solved_exactly() {
        // The first pivot is zero.
        let rows = system(&[&[0, 3], &[2, 1]]);
        let solution = solve(rows, vec![rational(1, 1), rational(1, 1)]);
        assert_eq!(solution, Some(vec![rational(1, 3), rational(1, 3)]));
    }

    #[test]
    fn a_singular_system_has_no_solution() {
        let rows = system(&[&[1, 2], &[2, 4]]);
        assert_eq!(solve(rows, vec![rational(1, 1), rational(2, 1)]), None);
    }
}
