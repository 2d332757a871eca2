"""Runs to be killed, in processes of their own, and those who kill them."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import forkserver, get_context
from pathlib import Path

from navaudit.errors import Unhealthy
from navaudit.labels.generate import Job, generate
from navaudit.labels.labelset import LabelSet
from navaudit.labels.work import Cluster, Processes
from navaudit.scene.crew import Finished, Lost

WORKERS = 2


def children(parent):
    """Processes that a process has begun, and what they call themselves."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text()
            name = (path.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
        except OSError:
            continue  # it has ended meanwhile
        if int(text.rpartition(")")[2].split()[1]) == parent:
            found[int(path.parent.name)] = name
    return found


def crew():
    """The workers of this process's crew."""
    server = forkserver._forkserver._forkserver_pid
    return list(children(server)) if server else []


def hands():
    """The workers of this process's Ray cluster that label."""
    daemons = [pid for pid, name in children(os.getpid()).items() if "raylet" in name.split(" ")[0]]
    return [pid for daemon in daemons for pid in hands_of(daemon)]


def hands_of(daemon):
    """Those of one node, by the process of its daemon."""
    return [pid for pid, name in children(daemon).items() if name.startswith("ray::_Hand")]


@contextmanager
def killing(victims, chance, pause_s, most):
    """Kill one of the victims now and then; gives the list of those killed."""
    killed, over = [], threading.Event()

    def kill():
        while len(killed) < most and not over.wait(chance.uniform(0.0, pause_s)):
            there = sorted(set(victims()) - set(killed))
            if there:
                killed.append(chance.choice(there))
                os.kill(killed[-1], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


def until_done(folder, job, executor):
    """Run again and again; return how often it had to be."""
    for runs in range(1, 100):
        try:
            generate(folder, job, executor=executor)
        except Unhealthy as error:
            # a log can have bad luck twice in a run; what is finished is kept
            if "twice" not in error.what:
                raise
        else:
            return runs
    raise AssertionError("it never ends")


def label(folder, job, workers):
    """What a driver does."""
    generate(Path(folder), job, executor=Processes(workers))


def kill_drivers(folders, job, kills, seconds):
    """Kill drivers at random moments until that often; give each set that was finished meanwhile.

    Drivers fork from a server that knows the code, so that they are at work at once; some work
    alone, some have workers.
    """
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__, "navaudit.labels.label_log"])
    chance, killed = random.Random(kills), 0
    for folder in folders:
        while True:
            workers = 1 if killed % 4 else WORKERS
            driver = context.Process(target=label, args=(folder, job, workers))
            driver.start()
            patience = chance.uniform(0.0, seconds) if killed < kills else None
            driver.join(patience)
            if driver.exitcode is None:
                os.kill(driver.pid, signal.SIGKILL)
                driver.join()
                killed += 1
            elif driver.exitcode == 0:
                break
        yield folder, killed
        if killed >= kills:
            return


def drill_ray(scenes, vocabulary, out, kills):
    """Kill Ray workers, one after the other, on one local cluster; return what was found."""
    import ray

    from navaudit.scene.store import SceneSet
    from navaudit.scene.vocabulary import read_vocabulary

    job = Job(SceneSet.open(scenes), read_vocabulary(vocabulary))
    ray.init(
        address="local", num_cpus=WORKERS, include_dashboard=False, log_to_driver=False,
        logging_level="ERROR",
    )  # fmt: skip
    chance, killed, made, runs = random.Random(kills), 0, [], 0
    while killed < kills:
        folder = out / f"ray{len(made)}"
        with killing(hands, chance, 0.5, kills - killed) as gone:
            runs += until_done(folder, job, Cluster("local", WORKERS))
        killed += len(gone)
        LabelSet.open(folder).require_whole()
        made.append(str(folder))
    ray.shutdown()
    return {"killed": killed, "made": made, "runs": runs}


def fell(node, chance, pause_s):
    """Kill all processes of a Ray node some time after it has begun to label."""
    daemon = node.all_processes["raylet"][0].process.pid
    while not hands_of(daemon):
        time.sleep(0.005)
    time.sleep(chance.uniform(0.0, pause_s))
    labelling = bool(hands_of(daemon))
    for pid in (daemon, *children(daemon)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return labelling


WATCHFUL = {
    "health_check_initial_delay_ms": 500,
    "health_check_period_ms": 200,
    "health_check_failure_threshold": 5,
}
"""Notice within a second that a node is dead; as Ray is set, it takes half a minute."""
HEAD = {"num_cpus": 1, "include_dashboard": False, "_system_config": WATCHFUL}


def sleeper():
    """Do what takes longer than to notice that a node is dead."""

    def work(task):
        time.sleep(5.0)
        yield f"{task}"

    return work


def drill_last(kills):
    """Kill one of two nodes while each is at its only task; return what became of the tasks."""
    import ray
    from ray.cluster_utils import Cluster as Nodes

    nodes = Nodes(initialize_head=True, head_node_args=HEAD)
    node = nodes.add_node(num_cpus=1)
    ray.init(address=nodes.address, log_to_driver=False, logging_level="ERROR")
    with ThreadPoolExecutor(1) as aside:
        labelling = aside.submit(fell, node, random.Random(kills), 1.0)
        events = list(Cluster(nodes.address, WORKERS).run(sleeper, range(WORKERS)))
    ray.shutdown()
    nodes.shutdown()
    return {
        "killed": labelling.result(),
        "finished": sorted(one.name for one in events if isinstance(one, Finished)),
        "lost": [one.again for one in events if isinstance(one, Lost)],
    }


def drill_nodes(scenes, vocabulary, out, kills):
    """Kill one of the two nodes of a Ray cluster, again and again; return what was found."""
    import ray
    from ray.cluster_utils import Cluster as Nodes

    from navaudit.scene.store import SceneSet
    from navaudit.scene.vocabulary import read_vocabulary

    job = Job(SceneSet.open(scenes), read_vocabulary(vocabulary))
    nodes = Nodes(initialize_head=True, head_node_args=HEAD)
    ray.init(address=nodes.address, log_to_driver=False, logging_level="ERROR")
    chance, killed, made, runs = random.Random(kills), 0, [], 0
    while killed < kills:
        node = nodes.add_node(num_cpus=1)
        folder = out / f"nodes{len(made)}"
        with ThreadPoolExecutor(1) as aside:
            labelling = aside.submit(fell, node, chance, 1.0)
            runs += until_done(folder, job, Cluster(nodes.address, WORKERS))
            killed += labelling.result()
        nodes.remove_node(node, allow_graceful=False)
        LabelSet.open(folder).require_whole()
        made.append(str(folder))
    ray.shutdown()
    nodes.shutdown()
    return {"killed": killed, "made": made, "runs": runs}


if __name__ == "__main__":
    begun = time.monotonic()
    if sys.argv[1:2] == ["last"]:
        told = drill_last(int(sys.argv[2]))
    else:
        drill = drill_nodes if sys.argv[5:] == ["nodes"] else drill_ray
        told = drill(*map(Path, sys.argv[1:4]), int(sys.argv[4]))
    print(json.dumps({**told, "seconds": time.monotonic() - begun}))
