"""A Spark standalone cluster of real processes on loopback addresses, and nothing left of it afterwards."""

import ctypes, os, re, signal, subprocess, sys, time
from pathlib import Path

import pyspark

SPARK = Path(pyspark.__file__).parent
PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None)


def wait_until(what, condition, seconds=120):
    """Waits until `condition()` is true and returns what it returned."""
    deadline = time.monotonic() + seconds
    while not (result := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds} s")
        time.sleep(0.1)
    return result


def processes():
    """The live processes of this machine: number, session, working directory, command line."""
    for proc in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, session = (proc / "stat").read_text().rpartition(")")[2].split()[:4]
            if state != "Z":
                yield int(proc.name), int(session), os.readlink(proc / "cwd"), (proc / "cmdline").read_text().replace("\0", " ")
        except OSError:
            pass  # it has ended meanwhile, or is another user's


class Cluster:
    def __init__(self, work, portmortem):
        self.work, self.portmortem, self.started = work, portmortem, {}

    def __enter__(self):
        self.start("master", "127.0.0.1", "master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.url = self.logged("master", r"Starting Spark master at (spark://\S+)")
        return self

    def __exit__(self, *_):
        for name in reversed(list(self.started)):
            self.kill(name)

    def start(self, name, address, program, *arguments):
        spark_class = [SPARK / "bin/spark-class", f"org.apache.spark.deploy.{program}", *arguments]
        self.spawn(name, spark_class, {"SPARK_LOCAL_IP": address, "WORKER": name})

    def worker(self, name, address):
        """Workers have an address each, as on machines of their own: Spark runs a task twice at once only on two hosts."""
        options = ["--host", address, "--port", "0", "--webui-port", "0", "--cores", "1", "--memory", "1g"]
        self.start(name, address, "worker.Worker", *options, "--work-dir", self.work / name, self.url)
        self.logged(name, "Successfully registered with (master)")

    def submit(self, name, arguments, **settings):
        """Starts spark-submit; `settings` are for spark.NAME, dots written as underscores."""
        conf = {"executor.memory": "512m", "driver.memory": "512m", "ui.enabled": "false", "driver.host": "127.0.0.1"}
        conf |= {key.replace("_", "."): value for key, value in settings.items()}
        options = [word for key, value in conf.items() for word in ("--conf", f"spark.{key}={value}")]
        command = [SPARK / "bin/spark-submit", "--master", self.url, *options, *arguments]
        return self.spawn(name, command, {"SPARK_LOCAL_IP": "127.0.0.1"}, stdout=open(self.work / f"{name}.out", "w"))

    def spawn(self, name, command, environment, stdout=None):
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
        environment |= {"SPARK_HOME": str(SPARK), "PYSPARK_PYTHON": sys.executable, "PORTMORTEM": str(self.portmortem)}
        environment |= {"SPARK_LOCAL_DIRS": str(self.work / f"{name}.local"), "SPARK_CONF_DIR": str(self.work / "no-conf")}
        log = open(self.work / f"{name}.log", "w")
        self.started[name] = subprocess.Popen(
            [str(word) for word in command],
            env=inherited | environment,
            cwd=self.work,
            stdin=subprocess.DEVNULL,
            stdout=stdout or log,
            stderr=log,
            start_new_session=True,
            preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL),  # even if this test is killed
        )
        return self.started[name]

    def logged(self, name, pattern):
        log = self.work / f"{name}.log"
        found = lambda: self.started[name].poll() is None and re.search(pattern, log.read_text(errors="replace"))
        return wait_until(f"{name} says {pattern!r}", found)[1]

    def kill(self, name):
        """As if the machine had lost its power: all processes at once, without notice. Returns what was killed."""
        killed = self.processes(name)
        while left := self.processes(name):
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.started[name].poll()
            time.sleep(0.02)
        self.started[name].wait()
        return killed

    def processes(self, name):
        """The live processes of a member: each member opened a session, which holds what it started, however indirectly."""
        return {pid: command for pid, session, _, command in processes() if session == self.started[name].pid}

    def all_processes(self):
        """Those of all members, and whatever else runs in the working directory or has it in its command line."""
        ours, work = {member.pid for member in self.started.values()}, str(self.work)
        return {pid: command for pid, session, cwd, command in processes() if session in ours or work in f"{cwd} {command}"}
