//! Linear least squares by Householder's decomposition (Mera et al. 2006, section 5), with the standard error of the
//! model and intervals for what it predicts.

use nalgebra::{DMatrix, DVector};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A diagonal element of the triangular matrix this small, of the largest of its column before, means that the
/// column is a combination of the others.
const DEPENDENT: f64 = 1e-10;

/// Why a system has no solution.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LeastSquaresError {
    /// Fewer observations than unknowns, or as many: nothing is left to tell the error by.
    #[error("{rows} observations are too few for {columns} unknowns")]
    TooFew {
        /// Observations.
        rows: usize,
        /// Unknowns.
        columns: usize,
    },
    /// A column depends on those before it.
    #[error("unknown number {column} cannot be told from those before it")]
    Dependent {
        /// Which, from 0.
        column: usize,
    },
    /// Rows of different lengths, or numbers that are none.
    #[error("the observations are not a matrix of finite numbers")]
    Malformed,
}

/// The solution of an overdetermined system `C · K = T`.
#[derive(Debug, Clone)]
pub struct Solution {
    /// K.
    pub coefficients: Vec<f64>,
    /// The standard error of the model: `S = √(R·R / (m − n))`, R the residual `T − C·K`.
    pub standard_error: f64,
    /// m − n.
    pub degrees_of_freedom: usize,
    /// (CᵀC)⁻¹
    covariance: DMatrix<f64>,
}

impl Solution {
    /// The prediction for a row: `row · K`.
    #[must_use]
    pub fn at(&self, row: &[f64]) -> f64 {
        row.iter().zip(&self.coefficients).map(|(c, k)| c * k).sum()
    }

    /// Half the width of the interval that a new observation of weight 1 at `row` lies in with probability `confidence`,
    /// if errors are normal: `t · S · √(1 + row (CᵀC)⁻¹ rowᵀ)`.
    #[must_use]
    pub fn half_width(&self, row: &[f64], confidence: f64) -> f64 {
        let row = DVector::from_row_slice(row);
        let leverage = row.dot(&(&self.covariance * &row)).max(0.0);
        let t = StudentsT::new(0.0, 1.0, self.degrees_of_freedom as f64)
            .map_or(f64::INFINITY, |t| {
                t.inverse_cdf(f64::midpoint(1.0, confidence))
            });
        t * self.standard_error * (1.0 + leverage).sqrt()
    }
}

/// Solves `rows · K = right`.
///
/// # Errors
/// [`LeastSquaresError`]
pub fn solve(rows: &[Vec<f64>], right: &[f64]) -> Result<Solution, LeastSquaresError> {
    let columns = rows.first().map_or(0, Vec::len);
    let finite = rows
        .iter()
        .flatten()
        .chain(right)
        .all(|value| value.is_finite());
    if !finite || right.len() != rows.len() || rows.iter().any(|row| row.len() != columns) {
        return Err(LeastSquaresError::Malformed);
    }
    if rows.len() <= columns || columns == 0 {
        let rows = rows.len();
        return Err(LeastSquaresError::TooFew { rows, columns });
    }
    let c = DMatrix::from_row_iterator(rows.len(), columns, rows.iter().flatten().copied());
    let t = DVector::from_column_slice(right);
    let lengths: Vec<f64> = c.column_iter().map(|column| column.norm()).collect();
    let decomposition = c.clone().qr();
    let u = decomposition.r();
    for (column, length) in lengths.iter().enumerate() {
        if u[(column, column)].abs() <= DEPENDENT * length {
            return Err(LeastSquaresError::Dependent { column });
        }
    }
    let b = decomposition.q().transpose() * &t;
    let dependent = LeastSquaresError::Dependent {
        column: columns - 1,
    };
    let k = u
        .solve_upper_triangular(&b)
        .ok_or_else(|| dependent.clone())?;
    let inverse = u
        .solve_upper_triangular(&DMatrix::identity(columns, columns))
        .ok_or(dependent)?;
    let residual = &t - &c * &k;
    let degrees_of_freedom = rows.len() - columns;
    Ok(Solution {
        coefficients: k.iter().copied().collect(),
        standard_error: (residual.norm_squared() / degrees_of_freedom as f64).sqrt(),
        degrees_of_freedom,
        covariance: &inverse * inverse.transpose(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * (1.0 + b.abs())
    }

    #[test]
    fn a_line_through_four_points_by_hand() {
        // y = a + b x through (0,1) (1,3) (2,4) (3,4): normal equations 4a+6b=12, 6a+14b=23 give a=1.5, b=1;
        // residuals -0.5, 0.5, 0.5, -0.5, so S = √(1/2).
        let rows: Vec<Vec<f64>> = (0..4).map(|x| vec![1.0, f64::from(x)]).collect();
        let solution = solve(&rows, &[1.0, 3.0, 4.0, 4.0]).unwrap();
        assert!(near(solution.coefficients[0], 1.5));
        assert!(near(solution.coefficients[1], 1.0));
        assert!(near(solution.standard_error, 0.5f64.sqrt()));
        assert!(near(solution.at(&[1.0, 10.0]), 11.5));
        // (CᵀC)⁻¹ = [14 -6; -6 4]/20; at x=10: (14 - 120 + 400)/20 = 14.7; t(0.975, 2) = 4.302652729911275
        let expected = 4.302_652_729_911_275 * 0.5f64.sqrt() * 15.7f64.sqrt();
        assert!((solution.half_width(&[1.0, 10.0], 0.95) - expected).abs() < 1e-4);
    }

    #[test]
    fn an_exact_system_has_no_error() {
        let rows = vec![vec![2.0, 1.0], vec![1.0, 3.0], vec![4.0, 5.0]];
        let solution = solve(&rows, &[4.0, 7.0, 14.0]).unwrap();
        assert!(near(solution.coefficients[0], 1.0) && near(solution.coefficients[1], 2.0));
        assert!(solution.standard_error < 1e-12);
    }

    #[test]
    fn columns_that_depend_on_others_are_named() {
        let rows: Vec<Vec<f64>> = (1..6)
            .map(|x| vec![f64::from(x), 1.0, f64::from(2 * x + 3)])
            .collect();
        let error = solve(&rows, &[1.0; 5]).unwrap_err();
        assert_eq!(error, LeastSquaresError::Dependent { column: 2 });
        let zero: Vec<Vec<f64>> = (1..6).map(|x| vec![f64::from(x), 0.0]).collect();
        let error = solve(&zero, &[1.0; 5]).unwrap_err();
        assert_eq!(error, LeastSquaresError::Dependent { column: 1 });
    }

    #[test]
    fn what_is_no_system_is_refused() {
        assert!(matches!(
            solve(&[], &[]),
            Err(LeastSquaresError::TooFew { .. })
        ));
        assert!(matches!(
            solve(&[vec![1.0]], &[1.0]),
            Err(LeastSquaresError::TooFew { .. })
        ));
        let uneven = [vec![1.0], vec![1.0, 2.0]];
        assert_eq!(
            solve(&uneven, &[1.0, 2.0]).unwrap_err(),
            LeastSquaresError::Malformed
        );
        let nan = [vec![f64::NAN], vec![1.0]];
        assert_eq!(
            solve(&nan, &[1.0, 2.0]).unwrap_err(),
            LeastSquaresError::Malformed
        );
    }
}
