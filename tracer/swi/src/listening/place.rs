//! Where the socket is: in a directory that only the user of the process can enter.

use std::fs::{self, DirBuilder, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use portmortem_tracer::attach;

use super::shown;

/// The longest path that a socket can have.
const LONGEST: usize = 107;

/// Opens the socket of this process. One that a process of the same number has left is replaced.
pub(super) fn open(process: u32) -> Result<(PathBuf, UnixListener), String> {
    // SAFETY: a system call that cannot fail.
    let user = unsafe { libc::geteuid() };
    let directories = attach::directories(user, |name| Some(std::env::var_os(name)?.into()));
    let mut why = String::new();
    for directory in directories {
        let socket = attach::socket(&directory, process);
        if socket.as_os_str().len() > LONGEST {
            why = format!("{} is too long for a socket", shown(&socket));
            continue;
        }
        match prepare(&directory, user).and_then(|()| bind(&socket)) {
            Ok(listener) => {
                sweep(&directory, process);
                return Ok((socket, listener));
            }
            Err(error) => why = error,
        }
    }
    Err(why)
}

/// Makes the directory. If there is one already, it must be the user's, and no one else's.
fn prepare(directory: &Path, user: u32) -> Result<(), String> {
    let made = DirBuilder::new().mode(0o700).create(directory);
    if let Err(error) = made
        && error.kind() != ErrorKind::AlreadyExists
    {
        return Err(format!("cannot make {}: {error}", shown(directory)));
    }
    let there = fs::symlink_metadata(directory);
    let there = there.map_err(|error| format!("cannot look at {}: {error}", shown(directory)))?;
    if !there.is_dir() || there.uid() != user || there.mode() & 0o077 != 0 {
        return Err(format!(
            "others can get into {}: remove it, or make it yours alone (chmod 700)",
            shown(directory)
        ));
    }
    Ok(())
}

fn bind(socket: &Path) -> Result<UnixListener, String> {
    let cannot = |error| format!("cannot listen at {}: {error}", shown(socket));
    // Left by a process of this number, which is gone.
    let _ = fs::remove_file(socket);
    let listener = UnixListener::bind(socket).map_err(cannot)?;
    fs::set_permissions(socket, Permissions::from_mode(0o600)).map_err(cannot)?;
    Ok(listener)
}

/// Removes the sockets of processes that are gone.
fn sweep(directory: &Path, process: u32) {
    let sockets = fs::read_dir(directory).into_iter().flatten().flatten();
    for path in sockets.map(|entry| entry.path()) {
        let left = attach::process_of(&path).filter(|&other| other != process);
        if left.is_some_and(|other| !is_there(other)) {
            let _ = fs::remove_file(path);
        }
    }
}

fn is_there(process: u32) -> bool {
    // A number that is none of a process.
    let Ok(process) = libc::pid_t::try_from(process) else {
        return false;
    };
    // SAFETY: signal 0 is not sent.
    let found = unsafe { libc::kill(process, 0) } == 0;
    found || std::io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}
