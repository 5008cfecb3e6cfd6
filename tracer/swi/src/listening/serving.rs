//! What is said at the socket. There is one recording at a time; a second `attach` is told so.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use portmortem_tracer::attach::Message;

use super::{ATTACHED, LISTENER, calling, is_open};
use crate::recording;

/// How long a message may take that has begun, or is due.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often the recording is looked at: the program may end it, or its trace may be full.
const OFTEN_MS: i32 = 200;

/// After an error of the system, such as too many open files.
const PAUSE: Duration = Duration::from_secs(1);

/// One who has attached, while the recording goes on.
struct Attached {
    line: UnixStream,
    /// The number of the recording.
    epoch: u32,
}

/// Waits for those who attach, as long as the process is there.
pub(super) fn serve(listener: &UnixListener) {
    is_open(LISTENER, listener.as_raw_fd());
    let mut attached: Option<Attached> = None;
    loop {
        let line = attached.as_ref().map(|attached| attached.line.as_raw_fd());
        let (comes, speaks) = wait(listener.as_raw_fd(), line);
        if let Some(of) = attached.take() {
            if speaks || !of.goes_on() {
                of.end();
            } else {
                attached = Some(of);
            }
        }
        if !comes {
            continue;
        }
        match listener.accept() {
            Ok((line, _)) if is_of_this_user(&line) => {
                let began = welcome(line, attached.is_some());
                attached = attached.or(began);
            }
            // To anyone else nothing is said.
            Ok(_) => {}
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}

/// Waits until a process connects, or the attached one speaks or goes.
fn wait(listener: RawFd, line: Option<RawFd>) -> (bool, bool) {
    let poll = |fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    let mut both = [poll(listener), poll(line.unwrap_or(-1))];
    let timeout = if line.is_some() { OFTEN_MS } else { -1 };
    // SAFETY: two descriptors, of which a negative one is left out.
    let found = unsafe { libc::poll(both.as_mut_ptr(), 2, timeout) };
    let ready = |which: usize| found > 0 && both[which].revents != 0;
    (ready(0), ready(1))
}

/// Only the user of this process may attach to it.
fn is_of_this_user(line: &UnixStream) -> bool {
    let mut peer = libc::ucred {
        pid: 0,
        uid: u32::MAX,
        gid: 0,
    };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: a place for the answer, and its length.
    let answer = unsafe {
        libc::getsockopt(
            line.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut length,
        )
    };
    // SAFETY: a system call that cannot fail.
    answer == 0 && peer.uid == unsafe { libc::geteuid() }
}

/// Hears what a process wants that has connected.
fn welcome(line: UnixStream, is_attached: bool) -> Option<Attached> {
    let heard = with_patience(&line).and_then(|()| Message::receive(&line));
    let answer = match heard {
        Ok(Message::Start(_)) if is_attached => {
            Message::Refused("another `portmortem attach` records the program now".to_owned())
        }
        Ok(Message::Start(settings)) => match calling::start(&settings) {
            Ok(()) => Message::Started,
            Err(why) => Message::Refused(why),
        },
        Ok(_) => return None,
        // Who has gone again hears nothing.
        Err(error) => Message::Refused(error.to_string()),
    };
    let began = answer == Message::Started;
    let epoch = recording::last_epoch();
    let told = answer.send(&line);
    if !began {
        return None;
    }
    is_open(ATTACHED, line.as_raw_fd());
    let attached = Attached { line, epoch };
    if told.is_err() {
        attached.end();
        return None;
    }
    Some(attached)
}

fn with_patience(line: &UnixStream) -> io::Result<()> {
    line.set_read_timeout(Some(PATIENCE))?;
    line.set_write_timeout(Some(PATIENCE))
}

impl Attached {
    fn goes_on(&self) -> bool {
        recording::epoch() == Some(self.epoch)
    }

    /// Ends the recording, if the program has not begun another one, and says so.
    fn end(self) {
        let of_another = recording::epoch().is_some_and(|epoch| epoch != self.epoch);
        if !of_another {
            calling::stop();
        }
        let _ = Message::Stopped.send(&self.line);
        is_open(ATTACHED, -1);
    }
}
