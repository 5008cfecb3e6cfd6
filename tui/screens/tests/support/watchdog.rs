//! A key that does not come back ends the test, and is told with the keys that led there.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};
use std::{env, process, thread};

/// Names the variable with another limit, in seconds.
pub(crate) const LIMIT: &str = "PORTMORTEM_KEY_LIMIT";

/// What takes longer hangs, however busy the machine is.
const USUAL_LIMIT: u64 = 600;

/// What was done with an app, and since when the last of it has been under way.
#[derive(Default)]
struct Doings {
    done: Vec<String>,
    since: Option<Instant>,
}

thread_local! {
    /// Those of this test.
    static DOINGS: RefCell<Arc<Mutex<Doings>>> = RefCell::new(watched());
}

/// Doings that a thread of their own watches.
fn watched() -> Arc<Mutex<Doings>> {
    let doings = Arc::default();
    let watched = Arc::downgrade(&doings);
    thread::spawn(move || watch(&watched));
    doings
}

fn watch(doings: &Weak<Mutex<Doings>>) {
    let limit = env::var(LIMIT).ok().and_then(|limit| limit.parse().ok());
    let limit = Duration::from_secs(limit.unwrap_or(USUAL_LIMIT));
    while let Some(doings) = doings.upgrade() {
        let doings = doings.lock().unwrap();
        if doings.since.is_some_and(|since| since.elapsed() > limit) {
            // The thread that hangs cannot be ended by itself.
            eprintln!("never came back: {}", doings.done.join(" "));
            process::exit(101);
        }
        drop(doings);
        thread::sleep(Duration::from_millis(100));
    }
}

/// From here on another app is used.
pub(crate) fn begin(what: &str) {
    DOINGS.with_borrow(|doings| doings.lock().unwrap().done = vec![what.to_owned()]);
}

/// What was done with the app so far.
pub(crate) fn done() -> String {
    DOINGS.with_borrow(|doings| doings.lock().unwrap().done.join(" "))
}

/// Does what must come back.
pub(crate) fn watching<T>(what: &str, run: impl FnOnce() -> T) -> T {
    DOINGS.with_borrow(|doings| {
        let mut doings = doings.lock().unwrap();
        doings.done.push(what.to_owned());
        doings.since = Some(Instant::now());
    });
    let result = run();
    DOINGS.with_borrow(|doings| doings.lock().unwrap().since = None);
    result
}
