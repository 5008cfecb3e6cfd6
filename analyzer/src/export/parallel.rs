//! Rows of a large table, encoded on all threads and written in their order.

use std::collections::BTreeMap;
use std::io;
use std::slice::ChunksExact;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::{Encoded, ExportError, TableWriter};
use crate::on_panic::OnPanic;
use crate::tables::Cell;

/// Rows of one table.
#[derive(Debug)]
pub struct Rows<'t> {
    cells: Vec<Cell<'t>>,
    /// Cells of a row.
    width: usize,
}

impl<'t> Rows<'t> {
    /// The cells of each row.
    pub fn iter(&self) -> ChunksExact<'_, Cell<'t>> {
        self.cells.chunks_exact(self.width)
    }
}

/// Writes the rows that `make` hands on. It runs on one thread, and the others encode what it has
/// made. Batches end after as many rows whatever the number of threads, and no more than one for
/// each thread, and another, are in memory.
///
/// # Errors
/// The first one of `writer`, or else that of `make`.
pub fn write_in_parallel<'t>(
    writer: &dyn TableWriter,
    make: impl FnOnce(&mut dyn FnMut(&[Cell<'t>]) -> Result<(), ExportError>) -> Result<(), ExportError>
    + Send,
) -> Result<(), ExportError> {
    let queue = BatchQueue {
        writer,
        most: rayon::current_num_threads() + 1,
        state: Mutex::default(),
        spare: Mutex::default(),
        fewer: Condvar::new(),
    };
    let made = rayon::scope(|scope| {
        let queue = &queue;
        let batch = writer.batch().max(1);
        let mut number = 0;
        let mut rows: Option<Rows<'t>> = None;
        let mut hand_on = |rows: Rows<'t>| {
            let at = number;
            number += 1;
            queue.begin()?;
            scope.spawn(move |_| queue.encode(at, rows));
            Ok(())
        };
        make(&mut |cells| {
            let current = rows.get_or_insert_with(|| Rows {
                cells: queue.room(),
                width: cells.len().max(1),
            });
            current.cells.extend_from_slice(cells);
            if current.cells.len() < batch * current.width {
                return Ok(());
            }
            rows.take().map_or(Ok(()), &mut hand_on)
        })?;
        rows.map_or(Ok(()), hand_on)
    });
    let state = queue.state.into_inner();
    match state.unwrap_or_else(PoisonError::into_inner).failure {
        Some(error) => Err(error),
        None => made,
    }
}

struct BatchQueue<'w, 't> {
    writer: &'w dyn TableWriter,
    /// Batches that may be in memory at a time.
    most: usize,
    state: Mutex<QueueState>,
    /// Memory of batches that were encoded: the system takes long to give such large pieces.
    spare: Mutex<Vec<Vec<Cell<'t>>>>,
    /// There are fewer batches than before.
    fewer: Condvar,
}

#[derive(Default)]
struct QueueState {
    /// Batches in memory.
    batches: usize,
    /// The batch to be written next.
    next: usize,
    ready: BTreeMap<usize, Encoded>,
    /// A thread is writing.
    writes: bool,
    failure: Option<ExportError>,
    /// Nothing more is written.
    failed: bool,
}

impl<'t> BatchQueue<'_, 't> {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Memory for the cells of a batch.
    fn room(&self) -> Vec<Cell<'t>> {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        spare.pop().unwrap_or_default()
    }

    /// Waits until there is room for another batch, and encodes others meanwhile.
    fn begin(&self) -> Result<(), ExportError> {
        loop {
            let mut state = self.lock();
            if state.failed {
                let panicked = || io::Error::other("a thread panicked").into();
                return Err(state.failure.take().unwrap_or_else(panicked));
            }
            if state.batches < self.most {
                state.batches += 1;
                return Ok(());
            }
            drop(state);
            if rayon::yield_now() == Some(rayon::Yield::Executed) {
                continue;
            }
            // Others are at all of them.
            let state = self.lock();
            let is_full = |state: &mut QueueState| state.batches >= self.most && !state.failed;
            drop(self.fewer.wait_while(state, is_full));
        }
    }

    fn encode(&self, at: usize, mut rows: Rows<'t>) {
        // If this one panics, the thread that makes rows would wait for its batch for ever. The
        // panic goes on when all have ended.
        let _stop = OnPanic(|| self.fail(&mut self.lock(), None));
        if self.lock().failed {
            return;
        }
        let encoded = self.writer.encode(&rows);
        rows.cells.clear();
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        spare.push(rows.cells);
        drop(spare);
        let mut state = self.lock();
        match encoded {
            Ok(encoded) => drop(state.ready.insert(at, encoded)),
            Err(error) => self.fail(&mut state, Some(error)),
        }
        // One thread writes what is ready, and the others go on.
        if state.writes {
            return;
        }
        state.writes = true;
        loop {
            let next = state.next;
            let Some(encoded) = state.ready.remove(&next).filter(|_| !state.failed) else {
                break;
            };
            drop(state);
            let added = self.writer.add(encoded);
            state = self.lock();
            state.next += 1;
            state.batches -= 1;
            if let Err(error) = added {
                self.fail(&mut state, Some(error));
            }
            self.fewer.notify_all();
        }
        state.writes = false;
    }

    fn fail(&self, state: &mut QueueState, error: Option<ExportError>) {
        if !state.failed {
            state.failed = true;
            state.failure = error;
        }
        self.fewer.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::super::{Csv, Exporter, Json, Prolog};
    use super::*;
    use crate::tables::Table;

    /// Writes so many rows of two cells; as `row` does, or in parallel.
    fn written(format: &dyn Exporter, rows: i64, threads: Option<usize>) -> Vec<u8> {
        let mut out = Vec::new();
        let columns = &Table::Edges.columns()[..2];
        let mut writer = format.begin("edges", columns, Box::new(&mut out)).unwrap();
        let numbers = (0..rows).map(|row| [Cell::Text("a, \"b\""), Cell::Integer(row * row)]);
        match threads {
            None => numbers.for_each(|row| writer.row(&row).unwrap()),
            Some(threads) => {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                let write = || {
                    write_in_parallel(writer.as_ref(), |take| {
                        numbers.into_iter().try_for_each(|row| take(&row))
                    })
                };
                pool.build().unwrap().install(write).unwrap();
            }
        }
        writer.finish().unwrap();
        out
    }

    #[test]
    fn the_bytes_are_those_of_one_row_after_another() {
        for format in [&Csv as &dyn Exporter, &Json, &Prolog] {
            for rows in [0, 1, 4095, 4096, 4097, 100_000] {
                let expected = written(format, rows, None);
                for threads in [1, 2, 5] {
                    assert!(
                        written(format, rows, Some(threads)) == expected,
                        "{rows} rows"
                    );
                }
            }
        }
    }

    /// Takes so many bytes.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            match taken {
                0 => Err(io::ErrorKind::StorageFull.into()),
                _ => Ok(taken),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_output_that_fails_ends_it() {
        for room in [100, 1_000_000] {
            let columns = &Table::Edges.columns()[..1];
            let writer = Csv.begin("edges", columns, Box::new(Full(room))).unwrap();
            let mut made = 0;
            let result = write_in_parallel(writer.as_ref(), |take| {
                loop {
                    made += 1;
                    take(&[Cell::Integer(i64::MIN)])?;
                }
            });
            match result.unwrap_err() {
                ExportError::Io(error) => assert_eq!(error.kind(), io::ErrorKind::StorageFull),
                error => panic!("{error}"),
            }
            assert!(made > room / 21);
        }
    }

    /// Panics when it encodes.
    struct Broken;

    impl TableWriter for Broken {
        fn row(&mut self, _: &[Cell<'_>]) -> Result<(), ExportError> {
            Ok(())
        }

        fn batch(&self) -> usize {
            1
        }

        fn encode(&self, _: &Rows<'_>) -> Result<Encoded, ExportError> {
            panic!("on purpose")
        }

        fn add(&self, _: Encoded) -> Result<(), ExportError> {
            Ok(())
        }

        fn finish(self: Box<Self>) -> Result<(), ExportError> {
            Ok(())
        }
    }

    #[test]
    fn a_panic_ends_it() {
        let write = || {
            write_in_parallel(&Broken, |take| {
                (0..1000).try_for_each(|row| take(&[Cell::Integer(row)]))
            })
        };
        assert!(catch_unwind(AssertUnwindSafe(write)).is_err());
    }
}
